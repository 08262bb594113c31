"""A script's text as tokens, and cut into statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token

from headrace.sql.errors import SqlError


class Flink(Spark):
    """Flink's lexical rules: names in backticks, text in single quotes, a quote within doubled.
    What the expressions mean is close to Spark's; `dialect` sees to the rest."""

    class Tokenizer(Spark.Tokenizer):
        QUOTES = ["'"]
        IDENTIFIERS = ["`"]
        STRING_ESCAPES = ["'"]
        COMMENTS = ["--", ("/*", "*/")]

    class Parser(SparkParser):
        #: Others stay as they are written: what sqlglot makes of them may be what it means in
        #: Spark, with Spark's defaults. Aggregates have to be known as such.
        FUNCTIONS = {
            name: build
            for name, build in SparkParser.FUNCTIONS.items()
            if issubclass(exp.FUNCTION_BY_NAME.get(name, exp.Expr), exp.AggFunc)
        }


class Words(Flink):
    """As `Flink`, each word by itself: PRIMARY KEY is two."""

    class Tokenizer(Flink.Tokenizer):
        KEYWORDS = {key: kind for key, kind in Flink.Tokenizer.KEYWORDS.items() if " " not in key}
        COMMANDS: ClassVar[set[TokenType]] = set()  # sqlglot would take the rest of these for text


@dataclass(frozen=True)
class Piece:
    """Tokens that follow each other, and the script's text they are of."""

    tokens: Sequence[Token]
    text: str

    @property
    def line(self) -> int:
        return int(self.tokens[0].line) if self.tokens else 0

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, at: slice) -> Piece:
        return Piece(self.tokens[at], self.text)

    def word(self, at: int) -> str:
        """Upper case; "" beyond the end, and for quoted names and text."""
        if not 0 <= at < len(self.tokens) or self.quoted(at) or self.is_text(at):
            return ""
        return str(self.tokens[at].text).upper()

    def words(self, *expected: str, at: int = 0) -> bool:
        return all(self.word(at + n) == word for n, word in enumerate(expected))

    def quoted(self, at: int) -> bool:
        token = self.tokens[at]
        return token.token_type == TokenType.IDENTIFIER or self.text[token.start] == "`"

    def is_text(self, at: int) -> bool:
        return bool(self.tokens[at].token_type == TokenType.STRING)

    def name(self, at: int, what: str) -> str:
        """Raises SqlError where there is no name."""
        if at >= len(self.tokens) or self.is_text(at) or not _is_name(self, at):
            raise SqlError(f"{what} is missing{self.near(at)}", self.line_of(at))
        return str(self.tokens[at].text)

    def source(self) -> str:
        """The text, as it was written."""
        if not self.tokens:
            return ""
        return self.text[self.tokens[0].start : self.tokens[-1].end + 1]

    def near(self, at: int) -> str:
        if at < len(self.tokens):
            return f" before {self.tokens[at].text!r}"
        return f" after {self.tokens[-1].text!r}" if self.tokens else ""

    def line_of(self, at: int) -> int:
        if not self.tokens:
            return 0
        return int(self.tokens[min(at, len(self.tokens) - 1)].line)

    def closing(self, at: int) -> int:
        """Index of the parenthesis that closes the one at `at`. Raises SqlError."""
        depth = 0
        for n in range(at, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.word(n), 0)
            if depth == 0:
                return n
        raise SqlError("a parenthesis is not closed", self.line_of(at))

    def split(self, separator: str = ",") -> Iterator[Piece]:
        """At separators outside of brackets, of types' angle brackets too."""
        depth = angles = begin = 0
        for n in range(len(self.tokens)):
            word = self.word(n)
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(word, 0)
            if word == "<" and (angles or self.word(n - 1) in _OF_TYPES):  # else it is less than
                angles += 1
            elif word == ">" and angles:
                angles -= 1
            if word == separator and depth == 0 and angles == 0:
                yield self[begin:n]
                begin = n + 1
        yield self[begin : len(self.tokens)]


_OF_TYPES = ("ARRAY", "MAP", "ROW", "MULTISET")


def _is_name(piece: Piece, at: int) -> bool:
    return piece.quoted(at) or str(piece.tokens[at].text)[:1].replace("_", "a").isalpha()


def read(text: str) -> Piece:
    """Raises SqlError for text that has no tokens of SQL."""
    try:
        tokens = Words().tokenize(text)
    except TokenError as error:
        raise SqlError(f"this cannot be read as SQL: {error}") from None
    for token in tokens:
        if any(comment.lstrip().upper().startswith("OPTIONS(") for comment in token.comments) \
                and "/*+" in text:  # fmt: skip
            raise SqlError(
                "hints (/*+ OPTIONS(…) */) are not known here: write the options into the table's "
                "WITH (…)",
                int(token.line),
            )
    return Piece(tokens, text)


def cut(script: str) -> Iterator[Piece]:
    """The statements of a script, without their semicolons. Raises SqlError."""
    whole = read(script)
    begin = 0
    for n in range(len(whole.tokens)):
        if whole.word(n) == ";":
            if n > begin:
                yield whole[begin:n]
            begin = n + 1
    if begin < len(whole.tokens):
        yield whole[begin : len(whole.tokens)]
