"""Who may do what at every address: anonymous, viewer, operator, developer, admin, and somebody of
another team. Addresses come from the url patterns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from pytest_django import DjangoDbBlocker

from jobs.models import AuditEntry
from jobs.roles import Role
from tests.service.rights import addresses, table, world
from tests.service.rights.addresses import Address

ADDRESSES = addresses.own()


@pytest.fixture(scope="module")
def there(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[world.World]:
    """One for all tests: what a request changes is taken back."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield world.make()
        transaction.set_rollback(True)


@pytest.fixture(params=ADDRESSES, ids=lambda address: address.route or "(start)")
def address(request: pytest.FixtureRequest) -> Address:
    found: Address = request.param
    return found


def ask(client: Client, method: str, path: str, data: str = "{}") -> tuple[HttpResponseBase, int]:
    """The answer, and how many audit entries the request left; nothing stays changed."""
    with transaction.atomic():
        before = AuditEntry.objects.count()
        more: dict[str, Any] = (
            {} if method == "GET" else {"data": data, "content_type": "application/json"}
        )
        answer = client.generic(method, path, headers={"Sec-Fetch-Site": "same-origin"}, **more)
        entries = AuditEntry.objects.count() - before
        transaction.set_rollback(True)
    return answer, entries


def asked(address: Address, there: world.World) -> Iterator[tuple[str, str]]:
    path = address.at(there.values(address.route))
    for method in address.methods:
        yield method, f"{path}?poll" if "live" in address.route else path


def test_nobody_gets_in_without_a_login(address: Address, there: world.World) -> None:
    if address.route in table.PUBLIC:
        return
    for method, path in asked(address, there):
        answer, entries = ask(Client(), method, path)
        to_login = answer.status_code == 302 and answer["Location"].startswith("/login/")
        assert to_login or answer.status_code in (401, 405), f"{method}: {answer.status_code}"
        assert entries == 0


def test_each_role_may_what_the_table_says(address: Address, there: world.World) -> None:
    if address.route in table.PUBLIC:
        return
    for method, path in asked(address, there):
        least = table.least(address.route, method)
        for role in Role:
            answer, entries = ask(there.clients[role.label], method, path, _body(address))
            what = f"{role.label} {method} {path}: {answer.status_code}, {_text(answer)[:300]}"
            assert answer.status_code != 500, what
            if _only_looks(address, method, answer):
                least = table.least(address.route, "GET")
            if role < least:
                assert answer.status_code in (403, 404), what
            else:
                assert answer.status_code != 403, what
            if method != "GET" and answer.status_code not in (200, 404, 405):
                assert entries >= 1, f"{what}: not in the audit log"


def _only_looks(address: Address, method: str, answer: HttpResponseBase) -> bool:
    """A page that has changed something leads on; one that is shown has not."""
    is_page = not (address.is_flinks or address.route.startswith("api/"))
    return is_page and method == "POST" and answer.status_code in (200, 410)


def test_other_teams_see_and_change_nothing(address: Address, there: world.World) -> None:
    if address.route in table.PUBLIC:
        return
    bound = set(address.parts) & {"job_id", "savepoint_id", "schedule_id"} or (
        address.route.startswith(table.OF_THE_TEAM) and "pk" in address.parts
    )
    for method, path in asked(address, there):
        answer, _ = ask(there.clients["outsider"], method, path)
        what = f"{method} {path}: {answer.status_code}"
        if bound:
            assert answer.status_code in (400, 403, 404, 405, 410), what
        assert world.NAME not in _text(answer), what


def _body(address: Address) -> str:
    """What says which thing is meant, where the address does not."""
    return json.dumps(table.BODIES.get(address.route, {}))


def _text(answer: HttpResponseBase) -> str:
    if answer.streaming:
        return ""
    return answer.content.decode(errors="replace")  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("prefix", addresses.PREFIXES)
def test_prefixes_lead_to_the_same_views(prefix: str) -> None:
    known = {a.route: _class(a) for a in ADDRESSES}
    for address in addresses.everywhere():
        route = address.route.removeprefix(prefix)
        if address.route.startswith(prefix) and route not in ("", "<path>"):
            assert known[route] is _class(address)


def _class(address: Address) -> Any:
    return getattr(address.view, "cls", address.view)
