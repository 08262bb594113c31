"""Security properties of a Kafka cluster, in the words of each client that a source is read with.

Spark reads records by Java's client; topics, bounds and dead letters go through librdkafka. The
two name the same things differently, so properties are taken in either's names and given to each
in its own. What only one of them can do is refused, before anything starts.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CERTIFICATE_CHECK = "enable.ssl.certificate.verification"
#: What both clients can do, without tickets and callbacks; mechanism -> Java's login module.
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_JAAS = re.compile(r"\s*[\w.]*\b(?:Plain|Scram)LoginModule\s+\w+\s+(?P<options>.*);\s*", re.DOTALL)
_JAAS_OPTION = re.compile(
    r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))"""
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_PKCS8 = re.compile(r"-BEGIN (?P<encrypted>ENCRYPTED )?PRIVATE KEY-+\s(?P<body>[^-]*)")
#: PBES2, an encryption of keys that Java's Kafka client lacks, as it is named in such a key.
_PBES2 = bytes.fromhex("2a864886f70d01050d")


def for_java(properties: Mapping[str, str]) -> dict[str, str]:
    """All `properties`, those of security in Java's names. Reads the files of a client's
    certificate; raises ValueError as `Security.of` and `Security.java` do."""
    others = {name: value for name, value in properties.items() if not _concerns(name)}
    return {**others, **Security.of(properties).java()}


def for_librdkafka(properties: Mapping[str, str]) -> dict[str, str]:
    """What any librdkafka client of the cluster needs of a source's `properties`."""
    shared = {name: properties[name] for name in ("client.id",) if name in properties}
    return {**shared, **Security.of(properties).librdkafka()}


def _concerns(name: str) -> bool:
    return name.startswith(("security.", "sasl.", "ssl.")) or name == CERTIFICATE_CHECK


@dataclass(frozen=True, repr=False)
class Pem:
    """Certificates or a key: a file of them, or their text."""

    path: str | None = None
    text: str | None = None

    def read(self) -> str:
        """Raises ValueError when the file cannot be read."""
        if self.path is None:
            return self.text or ""
        try:
            return Path(self.path).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path} is no readable PEM file: {error}") from error


@dataclass(frozen=True, repr=False)
class Security:
    """Who a client is, and whom it trusts. None: the client's default."""

    protocol: str | None = None
    mechanism: str | None = None
    username: str | None = None
    password: str | None = None
    authorities: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    key_password: str | None = None
    #: A PKCS#12 file in place of certificate and key.
    keystore: str | None = None
    keystore_password: str | None = None
    check_host: bool | None = None

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> Security:
        """From properties in either client's names; others are passed over. Raises ValueError
        for what one of the clients does not understand."""
        given = {name: value for name, value in properties.items() if _concerns(name)}
        security = _read(given)
        if given:
            raise ValueError(
                f"{', '.join(sorted(given))}: Spark's Kafka client and librdkafka do not both "
                "understand this; use the properties that both have"
            )
        security._check()
        return security

    def _check(self) -> None:
        signs_in = self.username is not None or (self.protocol or "").startswith("SASL")
        if signs_in and self.mechanism not in _LOGIN_MODULES:
            raise ValueError(
                f"sasl.mechanism is {self.mechanism or 'not set'}; "
                f"it can be {', '.join(_LOGIN_MODULES)}"
            )
        if signs_in and (self.username is None or self.password is None):
            raise ValueError(
                "SASL needs sasl.username and sasl.password, or a sasl.jaas.config of "
                "PlainLoginModule or ScramLoginModule with both"
            )
        if (self.certificate is None) != (self.key is None):
            raise ValueError("a client's certificate and its key are given together")

    def librdkafka(self) -> dict[str, str]:
        return _without_none(
            {
                "security.protocol": self.protocol,
                "sasl.mechanism": self.mechanism,
                "sasl.username": self.username,
                "sasl.password": self.password,
                **_named(self.authorities, "ssl.ca.location", "ssl.ca.pem"),
                **_named(self.certificate, "ssl.certificate.location", "ssl.certificate.pem"),
                **_named(self.key, "ssl.key.location", "ssl.key.pem"),
                "ssl.key.password": self.key_password,
                "ssl.keystore.location": self.keystore,
                "ssl.keystore.password": self.keystore_password,
                "ssl.endpoint.identification.algorithm": _choice(self.check_host, "https", "none"),
            }
        )

    def java(self) -> dict[str, str]:
        """Raises ValueError when the client's certificate or key is in no form Java reads."""
        return _without_none(
            {
                "security.protocol": self.protocol,
                "sasl.mechanism": self.mechanism,
                "sasl.jaas.config": self._jaas(),
                "ssl.truststore.type": None if self.authorities is None else "PEM",
                **_named(
                    self.authorities, "ssl.truststore.location", "ssl.truststore.certificates"
                ),
                **self._java_keystore(),
                "ssl.key.password": self.key_password,
                "ssl.endpoint.identification.algorithm": _choice(self.check_host, "https", ""),
            }
        )

    def _jaas(self) -> str | None:
        if self.mechanism is None or self.username is None or self.password is None:
            return None
        username, password = _quoted(self.username), _quoted(self.password)
        module = _LOGIN_MODULES[self.mechanism]
        return f"{module} required username={username} password={password};"

    def _java_keystore(self) -> dict[str, str | None]:
        if self.keystore is not None:
            return {
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.location": self.keystore,
                "ssl.keystore.password": self.keystore_password,
            }
        if self.certificate is None or self.key is None:
            return {}
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": self.certificate.read(),
            "ssl.keystore.key": _checked_key(self.key.read()),
        }


def _checked_key(text: str) -> str:
    found = _PKCS8.search(text)
    if found is None:
        raise ValueError(
            "Spark's Kafka client reads private keys in PKCS#8 only; convert the key with "
            "`openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES -in old.key -out new.key`"
        )
    begin = "".join(found["body"].split())[:64]
    if found["encrypted"] and _PBES2 in base64.b64decode(begin):
        raise ValueError(
            "Spark's Kafka client cannot decrypt private keys of the kind PBES2, which is what "
            "openssl makes unless told otherwise; convert the key with "
            "`openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES -in old.key -out new.key`"
        )
    return text


def _read(given: dict[str, str]) -> Security:
    """Takes what it understands out of `given`."""

    def take(*names: str) -> str | None:
        found = [given.pop(name) for name in names if name in given]
        return found[0] if found else None

    def pem(location: str, *texts: str) -> Pem | None:
        path, text = take(location), take(*texts)
        return None if path is None and text is None else Pem(path, None if path else text)

    if given.get(CERTIFICATE_CHECK, "").lower() == "true":
        take(CERTIFICATE_CHECK)
    protocol = take("security.protocol")
    username, password = _login(take("sasl.jaas.config"))
    verify = take("ssl.endpoint.identification.algorithm")
    authorities = pem("ssl.ca.location", "ssl.ca.pem", "ssl.truststore.certificates")
    stored_authorities = _truststore(take("ssl.truststore.location"), take("ssl.truststore.type"))
    take("ssl.truststore.password")  # PEM has none
    certificate = pem(
        "ssl.certificate.location", "ssl.certificate.pem", "ssl.keystore.certificate.chain"
    )
    key = pem("ssl.key.location", "ssl.key.pem", "ssl.keystore.key")
    keystore, both = _keystore(take("ssl.keystore.location"), take("ssl.keystore.type"))
    return Security(
        protocol=protocol and protocol.upper(),
        mechanism=take("sasl.mechanism", "sasl.mechanisms"),
        username=take("sasl.username") or username,
        password=take("sasl.password") or password,
        authorities=authorities or stored_authorities,
        certificate=certificate or both,
        key=key or both,
        key_password=take("ssl.key.password"),
        keystore=keystore,
        keystore_password=take("ssl.keystore.password"),
        check_host=None if verify is None else verify.lower() not in ("", "none"),
    )


def _login(jaas: str | None) -> tuple[str | None, str | None]:
    """User name and password in a `sasl.jaas.config`."""
    if jaas is None:
        return None, None
    found = _JAAS.fullmatch(jaas)
    if found is None:
        raise ValueError(
            "sasl.jaas.config: librdkafka can sign in as PlainLoginModule and ScramLoginModule "
            'do, written `...PlainLoginModule required username="..." password="...";`'
        )
    options = {
        name: _unescaped(double or single) or bare
        for name, double, single, bare in _JAAS_OPTION.findall(found["options"])
    }
    return options.get("username"), options.get("password")


def _truststore(location: str | None, kind: str | None) -> Pem | None:
    if location is None:
        return None
    if (kind or "JKS").upper() != "PEM":
        raise ValueError(
            f"ssl.truststore.location {location} is of type {kind or 'JKS'}, which librdkafka "
            "does not read; export the certificates as PEM and set ssl.ca.location"
        )
    return Pem(path=location)


def _keystore(location: str | None, kind: str | None) -> tuple[str | None, Pem | None]:
    """(a PKCS#12 file, None) or (None, certificate and key in one PEM file)."""
    if location is None:
        return None, None
    if kind is None and location.endswith((".p12", ".pfx")):
        kind = "PKCS12"
    if (kind or "").upper() == "PKCS12":
        return location, None
    if (kind or "").upper() == "PEM":
        return None, Pem(path=location)
    raise ValueError(
        f"ssl.keystore.location {location} is of type {kind or 'JKS'}, which librdkafka does not "
        "read; convert it to PKCS12 and set ssl.keystore.type, or to PEM"
    )


def _named(pem: Pem | None, location: str, text: str) -> dict[str, str | None]:
    return {} if pem is None else {location: pem.path, text: pem.text}


def _choice(flag: bool | None, yes: str, no: str) -> str | None:
    return None if flag is None else yes if flag else no


def _without_none(options: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)
