"""Filters, orders and pages stand in the address, whatever somebody writes there."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from dashboard.listing import LONGEST, Listing, Order, Query
from jobs.models import Job
from tests.service.pages import make_job

NAMES = (*Listing.NAMES, "state", "q")
ORDERS = {"submitted": Order("created_at", falling=True), "name": Order("name")}


def query(text: str) -> Query:
    return Query.of(RequestFactory().get(f"/jobs/?{text}"), NAMES)


def test_only_known_names_with_values_count() -> None:
    asked = query("state=RUNNING&q=&other=1&q2=x")
    assert asked.values == (("state", "RUNNING"),)
    assert asked.get("q") == ""


def test_values_are_cut_and_cannot_break_a_query() -> None:
    assert len(query(f"q={'x' * 5000}").get("q")) == LONGEST
    assert query("q=a%00b").get("q") == ""


def test_another_filter_begins_with_the_first_page() -> None:
    asked = query("state=RUNNING&page=7&q=a+b")
    assert asked.but(page=8) == "?page=8&state=RUNNING&q=a+b"
    assert asked.but(state="FAILED") == "?state=FAILED&q=a+b"
    assert asked.but(state="", q="") == "?"


@pytest.mark.django_db
def test_a_column_turns_its_order_and_another_begins_as_it_should() -> None:
    listing = Listing(query("state=RUNNING&page=2"), Job.objects.all(), ORDERS)
    assert (listing.column, listing.falling) == ("submitted", True)
    assert listing.way("submitted") == "descending"
    assert listing.towards("submitted") == "?state=RUNNING&sort=-submitted"
    assert listing.towards("name") == "?state=RUNNING&sort=name"
    turned = Listing(query("sort=-submitted"), Job.objects.all(), ORDERS)
    assert turned.way("submitted") == "ascending"
    assert turned.towards("submitted") == "?sort=submitted"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text", ["sort=nothing", "sort=-", "page=x", "page=-1", "page=99999", "size=7", "size=x"]
)
def test_what_makes_no_sense_is_the_default(text: str) -> None:
    make_job("one")
    listing = Listing(query(text), Job.objects.all(), ORDERS)
    assert [job.name for job in listing.page.object_list] == ["one"]
    assert (listing.column, listing.size) == ("submitted", 50)


@pytest.mark.django_db
def test_rows_are_ordered_by_a_column_and_those_without_a_value_come_last() -> None:
    for name in ("b", "a", "c"):
        make_job(name)
    up = Listing(query("sort=name"), Job.objects.all(), ORDERS)
    down = Listing(query("sort=-name"), Job.objects.all(), ORDERS)
    assert [job.name for job in up.page.object_list] == ["a", "b", "c"]
    assert [job.name for job in down.page.object_list] == ["c", "b", "a"]
