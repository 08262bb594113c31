"""Lists with filters, an order and pages, all of them in the address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.http import HttpRequest

#: Rows of a page, and what can be chosen instead.
SIZE, SIZES = 50, (50, 200)
#: Characters of a filter's value; more than this is a mistake.
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Query:
    """What an address asks for, as far as its page knows it; empty values are left out."""

    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, request: HttpRequest, names: Iterable[str]) -> Query:
        said = ((name, request.GET.get(name, "").strip()[:LONGEST]) for name in names)
        # A zero byte is in no row, and PostgreSQL refuses to look for it.
        return cls(tuple((name, value) for name, value in said if value and "\x00" not in value))

    def get(self, name: str) -> str:
        return dict(self.values).get(name, "")

    def but(self, **changes: Any) -> str:
        """The address of the same with other values; "" takes one out. Another filter or order
        begins with the first page."""
        said: dict[str, str] = dict(self.values)
        if "page" not in changes:
            said.pop("page", None)
        said.update({name: str(value) for name, value in changes.items()})
        kept = {name: value for name, value in said.items() if value}
        return f"?{urlencode(kept)}"

    @property
    def text(self) -> str:
        """As it stands in an address, behind the question mark."""
        return urlencode(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)


@dataclass(frozen=True, slots=True)
class Order:
    """A column that a list may be ordered by, and which way it begins."""

    by: str
    falling: bool = False


class Listing:
    """One page of a list. `orders` names what `?sort=` may say, with "-" for the other way round;
    the first is the default."""

    NAMES = ("sort", "page", "size")

    def __init__(
        self, query: Query, rows: QuerySet[Any], orders: Mapping[str, Order], size: int = SIZE
    ) -> None:
        self.query = query
        asked = query.get("sort")
        name = asked.removeprefix("-")
        self.column = name if name in orders else next(iter(orders))
        order = orders[self.column]
        self.falling = order.falling != (asked.startswith("-") and name in orders)
        by = F(order.by)
        way = by.desc(nulls_last=True) if self.falling else by.asc(nulls_last=True)
        self.size = int(query.get("size")) if query.get("size") in map(str, SIZES) else size
        ordered = rows.order_by(way, "-pk" if self.falling else "pk")
        self.page: Page[Any] = Paginator(ordered, self.size).get_page(query.get("page"))

    @property
    def total(self) -> int:
        return self.page.paginator.count

    def towards(self, column: str) -> str:
        """The address of the list ordered by this column; by the same, the other way round."""
        turned = column == self.column and not self.query.get("sort").startswith("-")
        return self.query.but(sort=f"-{column}" if turned else column)

    def way(self, column: str) -> str:
        """How this column's heading says it to a screen reader."""
        if column != self.column:
            return "none"
        return "descending" if self.falling else "ascending"
