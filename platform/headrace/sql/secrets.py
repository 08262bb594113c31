"""`${NAME}` in a table's options: a secret of the job's, which the script itself does not hold."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace

from headrace.sql.errors import SqlError
from headrace.sql.tables import Table

_NAMED = re.compile(r"\$\{(\w+)\}")
#: How the platform names them in a driver's environment.
_VARIABLE = "HEADRACE_SECRET_"


def given(table: Table, environment: Mapping[str, str] = os.environ) -> Table:
    """With the values in their places. Raises SqlError for one that the job does not have."""

    def value(found: re.Match[str]) -> str:
        secret = environment.get(f"{_VARIABLE}{found[1]}")
        if secret is None:
            raise SqlError(
                f"table {table.name} names the secret {found[1]}, and the job does not: set "
                f"headrace.secrets: {found[1]} in its configuration",
                table.line,
            )
        return secret

    options = {key: _NAMED.sub(value, text) for key, text in table.options.items()}
    return replace(table, options=options)
