"""A broker that clients have to sign in to: SASL over TLS, and client certificates."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from workers.embedded import kafka, ports

USER = "anna"
#: With what a JAAS configuration and a shell would stumble over.
PASSWORD = f"s3cr3t-{uuid.uuid4().hex[:8]}\"'\\ ;"
KEY_PASSWORD = f"k3y-{uuid.uuid4().hex[:8]}"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


@dataclass(frozen=True)
class SecureKafka:
    """Addresses by how one signs in; `plain` needs nothing."""

    plain: str
    sasl_ssl: str
    mutual_tls: str
    certificates: Path

    def sasl(self, mechanism: str, password: str = PASSWORD) -> dict[str, str]:
        """librdkafka's options."""
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": mechanism,
            "sasl.username": USER,
            "sasl.password": password,
            "ssl.ca.location": str(self.certificates / "ca.pem"),
        }

    def mutual(self) -> dict[str, str]:
        return {
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.certificates / "ca.pem"),
            "ssl.certificate.location": str(self.certificates / "client.pem"),
            "ssl.key.location": str(self.certificates / "client.key"),
            "ssl.key.password": KEY_PASSWORD,
        }

    def mutual_text(self) -> dict[str, str]:
        """As `mutual`, without files."""
        found = self.mutual()
        for name in ("ssl.ca", "ssl.certificate", "ssl.key"):
            found[f"{name}.pem"] = Path(found.pop(f"{name}.location")).read_text()
        return found


@contextmanager
def started(home: Path, jar_folder: Path) -> Iterator[SecureKafka]:
    certificates = home / "certificates"
    _make_certificates(certificates)
    plain, secure, mutual, controller = (ports.free() for _ in range(4))
    broker = kafka.start(
        home, plain, jar_folder, _settings(certificates, plain, secure, mutual, controller)
    )
    try:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers(plain)})
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        user = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
        admin.alter_user_scram_credentials([user])[USER].result(120)
        yield SecureKafka(*map(kafka.bootstrap_servers, (plain, secure, mutual)), certificates)
    finally:
        kafka.stop(broker)


def _settings(
    certificates: Path, plain: int, secure: int, mutual: int, controller: int
) -> dict[str, str]:
    outside = f"BROKER://127.0.0.1:{plain},SECURE://127.0.0.1:{secure},MUTUAL://127.0.0.1:{mutual}"
    password = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    jaas = f'{_PLAIN} user_{USER}="{password}";'
    return {
        "listeners": f"{outside},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": outside,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listener.security.protocol.map": (
            "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MUTUAL:SSL"
        ),
        "listener.name.secure.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        # In a properties file a backslash is written twice.
        "listener.name.secure.plain.sasl.jaas.config": jaas.replace("\\", "\\\\"),
        "listener.name.secure.scram-sha-512.sasl.jaas.config": f"{_SCRAM};",
        "listener.name.mutual.ssl.client.auth": "required",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates / "broker.both"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates / "ca.pem"),
    }


def _make_certificates(folder: Path) -> None:
    """An authority, a broker at 127.0.0.1 and a client whose key has a password."""
    folder.mkdir(parents=True)
    _openssl(
        folder,
        *["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=authority"],
        *["-keyout", "ca.key", "-out", "ca.pem"],
    )
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for who, key in (("broker", ["-nodes"]), ("client", ["-passout", "env:KEY_PASSWORD"])):
        request = f"req -newkey rsa:2048 -subj /CN={who} -keyout {who}.key -out {who}.csr"
        _openssl(folder, *request.split(), *key)
        sign = f"x509 -req -in {who}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"
        _openssl(folder, *sign.split(), "-extfile", "names", "-out", f"{who}.pem")
    # encrypted as Java reads it, too
    old = (folder / "client.key").rename(folder / "client.old")
    convert = f"pkcs8 -topk8 -v1 PBE-SHA1-3DES -in {old.name} -out client.key"
    passwords = ["-passin", "env:KEY_PASSWORD", "-passout", "env:KEY_PASSWORD"]
    _openssl(folder, *convert.split(), *passwords)
    both = (folder / "broker.key").read_text() + (folder / "broker.pem").read_text()
    (folder / "broker.both").write_text(both)


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["openssl", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "KEY_PASSWORD": KEY_PASSWORD},
    )
