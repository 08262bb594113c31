"""Whatever an admin sends to /api/, no answer is a server error, and answers are as described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoDbBlocker
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import response_schema_conformance

from jobs import tokens
from tests.service.rights import world

#: Of each operation; the more, the longer.
EXAMPLES = 12
#: Answers with what this test has no words for: pictures of the documentation.
LEFT_OUT = ("/api/schema/", "/api/docs/")


@pytest.fixture(scope="module")
def there(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[world.World]:
    """One of everything, for all tests: what a request changes is taken back."""
    signals = (request_started, request_finished)
    with django_db_blocker.unblock(), transaction.atomic():
        for signal in signals:  # one transaction for all, as Django's test client has it
            signal.disconnect(close_old_connections)
        yield world.make()
        for signal in signals:
            signal.connect(close_old_connections)
        transaction.set_rollback(True)


def described() -> dict[str, Any]:
    generator: Any = SchemaGenerator
    found: dict[str, Any] = generator().get_schema(request=None, public=True)
    paths = {path: item for path, item in found["paths"].items() if path not in LEFT_OUT}
    return {**found, "paths": paths}


def test_nothing_that_is_sent_is_too_much(there: world.World) -> None:
    schema = schemathesis.openapi.from_dict(described())
    schema.app = get_wsgi_application()
    _, key = tokens.create(there.people["admin"], "fuzz")
    headers = {"Authorization": f"Bearer {key}"}
    failures = []
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        try:
            _ask(operation, headers, there.values(operation.path.lstrip("/")))
        except (Exception, FailureGroup) as error:
            failures.append(f"{operation.method.upper()} {operation.path}: {error}")
    assert not failures, "\n\n".join(failures)


def _ask(operation: Any, headers: dict[str, str], known: dict[str, str]) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), meant=st.booleans())
    def ask(case: Any, meant: bool) -> None:
        if meant and case.path_parameters:
            # Of what is there, more can go wrong than of what is not.
            sample = {name: known.get(name, value) for name, value in case.path_parameters.items()}
            case.path_parameters.update(sample)
        with transaction.atomic():
            answer = case.call(headers=headers)
            transaction.set_rollback(True)
        case.validate_response(answer, checks=[not_a_server_error, response_schema_conformance])

    ask()
