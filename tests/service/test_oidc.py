"""Login at a real OpenID provider, a server of its own; roles follow the groups."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import oidc_provider_mock
import pytest
import requests
from authlib.integrations.base_client import OAuthError
from django.contrib.auth.models import User
from django.test import Client

from jobs import group_roles, memberships, oidc, options, permissions
from jobs.models import AuditEntry, Membership, OpenIdAccount, Team
from jobs.roles import Role

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # the provider's
]

GROUPS = {"groups": ["payments-dev", "everybody"]}


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with oidc_provider_mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def configured(provider: str, settings: Any) -> str:
    settings.HEADRACE_OIDC_ISSUER = provider
    settings.HEADRACE_OIDC_CLIENT_ID = "headrace"
    settings.HEADRACE_OIDC_CLIENT_SECRET = "client-secret"
    settings.HEADRACE_OIDC_ROLES = group_roles.read(
        "payments-dev=payments:developer, platform=admin"
    )
    return provider


def person(provider: str, subject: str, **claims: Any) -> str:
    """Somebody whom the provider knows."""
    answer = requests.put(f"{provider}/users/{subject}", json=claims, timeout=10)
    answer.raise_for_status()
    return subject


def log_in(client: Client, subject: str, wish: str = "/jobs/") -> Any:
    """Through the provider's own form, back to where it sends the browser."""
    begun = client.get("/oidc/login/", {"next": wish})
    assert begun.status_code == 302, begun.content
    assert "code_challenge_method=S256" in begun["Location"]
    answered = requests.post(
        begun["Location"], data={"sub": subject}, allow_redirects=False, timeout=10
    )
    back = urlsplit(answered.headers["Location"])
    assert back.path == "/oidc/callback/"
    return client.get(f"{back.path}?{back.query}")


def test_who_the_provider_knows_gets_in_with_the_roles_of_the_groups(configured: str) -> None:
    person(configured, "s-1", preferred_username="dora", email="dora@example.org", **GROUPS)
    client = Client()
    answer = log_in(client, "s-1")
    assert (answer.status_code, answer["Location"]) == (302, "/jobs/"), answer.content
    user = User.objects.get(username="dora")
    assert (user.email, user.has_usable_password()) == ("dora@example.org", False)
    team = Team.objects.get(name="payments")
    assert permissions.role(user, team) is Role.DEVELOPER
    assert permissions.role(user) is Role.VIEWER
    assert client.get("/api/me/").json()["username"] == "dora"
    assert client.session.get_expiry_age() > 100_000  # not as short as one that is under way
    assert AuditEntry.objects.filter(action="login", username="dora", result="ok").exists()


def test_roles_follow_the_groups_and_what_was_given_by_hand_stays(configured: str) -> None:
    person(configured, "s-2", preferred_username="emil", **GROUPS)
    log_in(Client(), "s-2")
    user = User.objects.get(username="emil")
    memberships.give(user, None, Role.OPERATOR)
    person(configured, "s-2", preferred_username="renamed", groups=["platform"])
    log_in(Client(), "s-2")
    found = User.objects.get(pk=user.pk)
    assert permissions.rights(found).cluster is Role.ADMIN
    assert not Membership.objects.filter(user=user, team__isnull=False).exists()
    person(configured, "s-2", groups=[])
    log_in(Client(), "s-2")
    assert permissions.role(User.objects.get(pk=user.pk)) is Role.OPERATOR
    assert OpenIdAccount.objects.get(user=user).subject == "s-2"


def test_the_name_of_another_account_is_not_taken_over(configured: str, alice: User) -> None:
    person(configured, "s-3", preferred_username="Alice")
    client = Client()
    answer = log_in(client, "s-3")
    assert answer["Location"] == "/login/"
    assert client.get("/api/me/").status_code == 401
    assert not OpenIdAccount.objects.exists()


def test_an_account_is_linked_where_the_names_are_trusted(
    configured: str, alice: User, settings: Any
) -> None:
    settings.HEADRACE_OIDC_LINK_ACCOUNTS = True
    person(configured, "s-4", preferred_username="alice")
    log_in(Client(), "s-4")
    assert OpenIdAccount.objects.get().user == alice


@pytest.mark.parametrize(("verified", "linked"), [(True, True), (False, False), (None, False)])
def test_an_address_that_nobody_has_proven_links_no_account(
    configured: str, settings: Any, verified: bool | None, linked: bool
) -> None:
    settings.HEADRACE_OIDC_LINK_ACCOUNTS = True
    settings.HEADRACE_OIDC_USERNAME_CLAIM = "email"
    User.objects.create_user("ida@example.org")
    told = {} if verified is None else {"email_verified": verified}
    claims = {"iss": "https://id", "sub": "s-8", "email": "ida@example.org", **told}
    if linked:
        assert oidc.account(claims).username == "ida@example.org"
    else:
        with pytest.raises(oidc.Refused):
            oidc.account(claims)


def test_a_name_in_another_form_is_the_same_name(configured: str, alice: User) -> None:
    claims = {"iss": "https://id", "sub": "s-9", "preferred_username": "\uff41lice"}
    with pytest.raises(oidc.Refused):
        oidc.account(claims)


def test_tokens_that_anybody_could_have_made_count_for_nothing() -> None:
    name = "id_token_signing_alg_values_supported"
    metadata = {name: ["none", "HS256", "ES256"]}
    oidc._only_signed(SimpleNamespace(load_server_metadata=lambda: metadata))
    assert metadata == {name: ["ES256"]}


def test_a_token_for_another_client_logs_nobody_in(configured: str) -> None:
    with pytest.raises(OAuthError):
        oidc._claims(None, {"userinfo": {"sub": "s", "aud": ["another"], "azp": "headrace"}})


def test_who_is_in_no_needed_group_stays_out(configured: str, settings: Any) -> None:
    settings.HEADRACE_OIDC_REQUIRED_GROUPS = ["staff"]
    person(configured, "s-5", preferred_username="fritz", **GROUPS)
    assert log_in(Client(), "s-5")["Location"] == "/login/"
    assert not User.objects.filter(username="fritz").exists()


def test_a_closed_account_stays_closed(configured: str) -> None:
    person(configured, "s-6", preferred_username="gerda")
    log_in(Client(), "s-6")
    User.objects.filter(username="gerda").update(is_active=False)
    client = Client()
    assert log_in(client, "s-6")["Location"] == "/login/"
    assert client.get("/api/me/").status_code == 401


@pytest.mark.parametrize("wish", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_a_login_leads_to_no_other_site(configured: str, wish: str) -> None:
    person(configured, "s-7", preferred_username="hans")
    assert log_in(Client(), "s-7", wish)["Location"] == "/"


@pytest.mark.parametrize("query", ["", "?code=x&state=forged", "?error=access_denied&state=x"])
def test_a_forged_or_refused_return_logs_nobody_in(configured: str, query: str) -> None:
    client = Client()
    answer = client.get(f"/oidc/callback/{query}")
    assert (answer.status_code, answer["Location"]) == (302, "/login/")
    assert client.get("/api/me/").status_code == 401


def test_a_provider_that_does_not_answer_is_said(settings: Any) -> None:
    settings.HEADRACE_OIDC_ISSUER = "http://127.0.0.1:9"
    page = Client().get("/oidc/login/", follow=True)
    assert "does not answer" in page.content.decode()


def test_without_a_provider_there_is_nothing(db: None) -> None:
    assert Client().get("/oidc/login/").status_code == 404


def test_the_login_page_offers_the_provider(configured: str) -> None:
    assert "Log in with the company account" in Client().get("/login/").content.decode()


@pytest.mark.parametrize("text", ["x", "x=boss", "=admin", "g=team:"])
def test_grants_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(options.InvalidOption, match="group=role"):
        group_roles.read(text)


def test_groups_may_be_within_a_claim() -> None:
    claims = {"realm_access": {"roles": ["a", "b"]}}
    assert group_roles.groups_of(claims, "realm_access.roles") == {"a", "b"}
    assert group_roles.groups_of({"groups": "one"}, "groups") == {"one"}
    assert group_roles.groups_of({}, "groups") == set()
