"""How lines of CSV are made."""

from __future__ import annotations

from dataclasses import dataclass

#: Jackson, which writes Flink's CSV, puts longer texts in quotes without looking at them.
_LONG = 24


@dataclass(frozen=True)
class Layout:
    """How a line is made of cells."""

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    #: What stands for None; None: in reading nothing does, and nothing is written for it.
    null: str | None = None
    array_delimiter: str = ";"
    line_end: str = "\n"
    comments: bool = False
    ignore_errors: bool = False


def quoted(text: str, layout: Layout) -> str:
    """The text of a cell as Jackson writes it: in quotes if it is long, or has a character up to
    the delimiter, quote and line end, or one that escapes (a backslash where none is set). Quotes
    within are doubled, and so is the character that was set to escape."""
    quote, escape = layout.quote, layout.escape
    if quote is None:
        return text
    highest, also = max(layout.delimiter, quote, *layout.line_end), escape or "\\"
    if len(text) <= _LONG and not any(c <= highest or c == also for c in text):
        return text
    doubled = text.replace(quote, quote + quote)
    return f"{quote}{doubled.replace(escape, escape + escape) if escape else doubled}{quote}"
