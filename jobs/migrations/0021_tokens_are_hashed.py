"""Tokens that stood in the database as they are become hashes. They log in as before."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db import migrations

_OLD = "authtoken_token"


def carry_over(apps: Any, editor: Any) -> None:
    connection = editor.connection
    if _OLD not in connection.introspection.table_names():
        return
    tokens = apps.get_model("jobs", "ApiToken")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT key, user_id, created FROM {_OLD}")
        rows = cursor.fetchall()
    for key, user, _created in rows:
        tokens.objects.create(
            user_id=user,
            name="carried over",
            prefix=key[:9],
            sha256=hashlib.sha256(key.encode()).hexdigest(),
            role=4,
        )
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_OLD}")


class Migration(migrations.Migration):
    dependencies = [("jobs", "0020_secrets_logins")]

    operations = [migrations.RunPython(carry_over, migrations.RunPython.noop)]
