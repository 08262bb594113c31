"""Columns of files of CSV; PyFlink's schema of `pyflink.datastream.formats.csv`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.common.composite_types import ListTypeInfo, RowTypeInfo
from headrace.common.type_base import TypeInformation
from headrace.common.type_hints import type_of
from headrace.common.typeinfo import Types
from headrace.datastream.formats.csv_layout import Layout


@dataclass(frozen=True)
class CsvSchema:
    """Columns, and how lines are made."""

    columns: tuple[str, ...]
    separator: str = ","
    quote: str | None = '"'
    line_end: str = "\n"
    null: str = ""
    header: bool = False
    types: tuple[TypeInformation, ...] = ()
    #: What stands between the elements of a column's lists, where it is not the schema's own.
    array_separators: dict[str, str] = field(default_factory=dict)
    array_separator: str = ";"
    escape: str | None = None
    skip_first: bool = False
    strict_headers: bool = False
    comments: bool = False

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        return CsvSchemaBuilder()

    def get_type_info(self) -> RowTypeInfo:
        """Of the rows that are read."""
        return RowTypeInfo(self.types, self.columns)

    @property
    def layout(self) -> Layout:
        return Layout(self.separator, self.quote, self.escape, self.null, line_end=self.line_end)

    def separator_of(self, column: str) -> str:
        return self.array_separators.get(column, self.array_separator)

    def size(self) -> int:
        return len(self.columns)

    def __len__(self) -> int:
        return self.size()


class CsvSchemaBuilder:
    """The types of columns count for reading. What is written is not checked: numbers, booleans
    and strings are all written plain. A type is one of DataTypes, of Types, or Python's own."""

    def __init__(self) -> None:
        self._columns: dict[str, TypeInformation] = {}
        self._separators: dict[str, str] = {}
        self._options: dict[str, Any] = {}

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        return self._add(name, Types.STRING())

    def add_number_column(self, name: str, number_type: Any = None) -> CsvSchemaBuilder:
        """Whole numbers of 64 bits unless told otherwise."""
        return self._add(name, type_of(number_type) or Types.LONG())

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        return self._add(name, Types.BOOLEAN())

    def add_array_column(
        self, name: str, separator: str = ";", element_type: Any = None
    ) -> CsvSchemaBuilder:
        self._separators[name] = separator
        return self._add(name, ListTypeInfo(type_of(element_type) or Types.STRING()))

    def add_column(self, name: str, type_info: Any) -> CsvSchemaBuilder:
        """Headrace's own: a column of any type with a form in text, dates and times among them."""
        found = type_of(type_info)
        if found is None:
            raise TypeError(f"column {name} needs a type")
        return self._add(name, found)

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        self._separators |= schema.array_separators
        for name, kind in zip(schema.columns, schema.types, strict=True):
            self._add(name, kind)
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        self._columns.clear()
        self._separators.clear()
        return self

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        return self._character("separator", char)

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        return self._character("quote", char)

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """A cell that would need quotes then fails the job."""
        return self._set("quote", None)

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        return self._character("escape", char)

    def disable_escape_char(self) -> CsvSchemaBuilder:
        return self._set("escape", None)

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        return self._set("array_separator", separator)

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        raise NotImplementedError("the elements of a cell's list need a separator")

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        raise NotImplementedError("the elements of a cell's list need a separator")

    def set_any_property_name(self, name: str) -> CsvSchemaBuilder:
        raise NotImplementedError(
            f"cells behind the last column are not gathered under {name!r}: declare them as columns"
        )

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        """For writing; what is read may end its lines in any way."""
        return self._set("line_end", separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        return self._set("null", null_value)

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """A line of column names at the head of every file: written, and left out in reading."""
        return self._set("header", use)

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """A file whose head has other names fails the job."""
        return self._set("strict_headers", strict)

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        return self._set("skip_first", skip)

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Lines that begin with `#` are left out."""
        return self._set("comments", allow)

    def size(self) -> int:
        return len(self._columns)

    def __len__(self) -> int:
        return self.size()

    def build(self) -> CsvSchema:
        if not self._columns:
            raise ValueError("a CsvSchema needs columns")
        return CsvSchema(
            tuple(self._columns),
            types=tuple(self._columns.values()),
            array_separators=dict(self._separators),
            **self._options,
        )

    def _add(self, name: str, kind: TypeInformation) -> CsvSchemaBuilder:
        self._columns[name] = kind
        return self

    def _set(self, option: str, value: Any) -> CsvSchemaBuilder:
        self._options[option] = value
        return self

    def _character(self, option: str, char: str) -> CsvSchemaBuilder:
        if len(char) != 1:
            raise ValueError(f"one character, not {char!r}")
        return self._set(option, char)
