"""How a driver signs in to the cluster of its sink: librdkafka's options for kafka-python."""

from __future__ import annotations

import re
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.connectors.kafka import errors

#: librdkafka's name of an option to kafka-python's.
_SASL = {
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.kerberos.service.name": "sasl_kerberos_service_name",
}
_MECHANISMS = {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI"}
_UNSUPPORTED = re.compile(r"ssl\.(keystore|engine|providers)\b.*|sasl\.oauthbearer\..*")


def client_settings(options: Mapping[str, str]) -> dict[str, Any]:
    """Reads the files of certificates and keys. Raises `InvalidSettings` for what kafka-python
    lacks, and for files that are none."""
    lacking = sorted(name for name in options if _UNSUPPORTED.fullmatch(name))
    if lacking:
        raise errors.InvalidSettings(
            f"exactly-once cannot use {', '.join(lacking)}: the driver signs in by certificates "
            f"and keys in PEM and by {', '.join(sorted(_MECHANISMS))}"
        )
    found: dict[str, Any] = {
        theirs: options[ours] for ours, theirs in _SASL.items() if ours in options
    }
    mechanism = found.get("sasl_mechanism")
    if mechanism is not None and mechanism not in _MECHANISMS:
        raise errors.InvalidSettings(f"exactly-once cannot use sasl.mechanism {mechanism}")
    if "security.protocol" in options:
        found["security_protocol"] = options["security.protocol"].upper()
    if found.get("security_protocol", "").endswith("SSL"):
        found["ssl_context"] = _context(options)
    return found


def _context(options: Mapping[str, str]) -> ssl.SSLContext:
    """Trusts and shows what librdkafka would."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = options.get("ssl.endpoint.identification.algorithm") != "none"
    if options.get("enable.ssl.certificate.verification", "true").lower() == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        _trust(context, options)
        _show(context, options)
    except (OSError, ValueError) as error:  # ssl.SSLError is one
        named = ", ".join(sorted(n for n in options if n.startswith("ssl.") and "pass" not in n))
        raise errors.InvalidSettings(f"{named}: {error}") from None
    return context


def _trust(context: ssl.SSLContext, options: Mapping[str, str]) -> None:
    location, text = options.get("ssl.ca.location"), options.get("ssl.ca.pem")
    if text is not None:
        context.load_verify_locations(cadata=text)
    elif location is None or location == "probe":
        context.load_default_certs()
    elif Path(location).is_dir():
        context.load_verify_locations(capath=location)
    else:
        context.load_verify_locations(cafile=location)
    if "ssl.crl.location" in options:
        context.load_verify_locations(cafile=options["ssl.crl.location"])
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _show(context: ssl.SSLContext, options: Mapping[str, str]) -> None:
    """The client's own certificate. Python's TLS reads files only."""
    password = options.get("ssl.key.password", "")
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        certificate = _file(options, "ssl.certificate", Path(folder) / "certificate")
        key = _file(options, "ssl.key", Path(folder) / "key")
        if certificate is not None:
            # Without a password it would ask the terminal.
            context.load_cert_chain(certificate, key, lambda: password)


def _file(options: Mapping[str, str], name: str, place: Path) -> str | None:
    text = options.get(f"{name}.pem")
    if text is None:
        return options.get(f"{name}.location")
    place.touch(mode=0o600)
    place.write_text(text)
    return str(place)
