"""Settings are shown; what is secret among them is not."""

from __future__ import annotations

import time

import pytest

from jobs import masking


@pytest.mark.parametrize(
    "key",
    [
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.s3a.access.key",
        "AWS_ACCESS_KEY_ID",
        "kafka.sasl.jaas.config",
        "ssl.keystore.Password",
        "spark.auth.token",
        "my.credentials",
        "some.api_key",
        "fs.azure.account.key.data.blob.core.windows.net",
        "basic.auth.user.info",
        "security.ssl.service-key",
        "DB_PWD",
    ],
)
def test_value_of_a_secret_is_masked(key: str) -> None:
    assert masking.masked({key: "hidden", "a.b": "shown"}) == {key: masking.MASK, "a.b": "shown"}


def test_a_login_in_an_address_is_masked() -> None:
    told = {"url": "jdbc:postgresql://app:hush@db:5432/x?a=b@c", "plain": "http://host:80/a@b"}
    shown = {"url": f"jdbc:postgresql://{masking.MASK}@db:5432/x?a=b@c", "plain": told["plain"]}
    assert masking.masked(told) == shown


def test_secrets_in_arguments_are_masked() -> None:
    told = ["--password", "hush", "--db.token=hush", "-x", "1", "--secret", "--y", "jdbc://u:p@h"]
    shown = ["--password", masking.MASK, f"--db.token={masking.MASK}", *told[3:7]]
    assert masking.in_arguments(told) == [*shown, f"jdbc://{masking.MASK}@h"]


def test_other_settings_are_shown() -> None:
    shown = {"restart-strategy.type": "none", "spark.executor.memory": "2g", "keyed": "1"}
    assert masking.masked(shown) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"password=hush and more", b"password=**** and more"),
        (b'{"s3.secret-key": "hu sh", "a": 1}', b'{"s3.secret-key": *******, "a": 1}'),
        (b"Authorization token: Bearer hush", b"Authorization token: Bearer ****"),
        (b'jaas.config=x required username="u" password="hush";', None),
        (b"the password is wrong, nothing = secret", b"the password is wrong, nothing = secret"),
    ],
)
def test_secrets_in_text_are_starred_out_at_the_same_length(
    line: bytes, shown: bytes | None
) -> None:
    found = masking.in_text(line)
    assert len(found) == len(line)
    assert b"hush" not in found
    assert shown is None or found == shown


def test_long_lines_take_no_time() -> None:
    begun = time.process_time()
    for word in (b"a", b"password", b"token ", b'secret"'):
        masking.in_text(word * (65_536 // len(word)))
    assert time.process_time() - begun < 2
