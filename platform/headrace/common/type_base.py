"""What all declared types are."""

from __future__ import annotations

import os
from typing import Any, NoReturn


class TypeMismatch(TypeError):
    """A value does not fit the type that was declared for it."""


#: Set in the environment of a process whose errors are not to show values.
HIDDEN_VARIABLE = "HEADRACE_HIDDEN_RECORDS"


def shown(value: object, most: int = 80) -> str:
    """As error messages show it: they become headers, log lines and cells of a page."""
    if os.environ.get(HIDDEN_VARIABLE):
        return f"a {type(value).__name__} (not shown)"
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"


class TypeInformation:
    """Base of all declared types."""

    def check(self, value: Any, where: str = "value") -> Any:
        """The value as this type holds it; TypeMismatch, naming `where`, if it cannot."""
        return value

    def format(self, value: Any) -> str:
        """Its text in Java's form, `null` for None: in files, and as a part of other values."""
        return "null" if value is None else str(value)

    def printed(self, value: Any) -> str:
        """As `print` shows it: in Java's form, rows as PyFlink lays them out in Python."""
        return self.format(value)

    def collected(self, value: Any) -> Any:
        """As `execute_and_collect` hands it over: rows have the names of their declared fields."""
        return value

    # --- PyFlink's, for programs that ask

    def need_conversion(self) -> bool:
        return False

    def to_internal_type(self, obj: Any) -> Any:
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        return obj

    def get_java_type_info(self) -> NoReturn:
        raise NotImplementedError("declared types have no Java side here")
