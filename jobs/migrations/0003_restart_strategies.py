"""Restart strategies of every kind, in place of the columns of a fixed delay."""

from typing import Any

from django.db import migrations, models

FOR_EVER = 2_147_483_647
TYPE = "restart-strategy.type"
ATTEMPTS = "restart-strategy.fixed-delay.attempts"
DELAY = "restart-strategy.fixed-delay.delay"


def keep_strategies(apps: Any, schema_editor: Any) -> None:
    """What a job asked for stays; those that asked for nothing (restarts for ever, one second
    before each) get the strategy of the cluster."""
    for job in apps.get_model("jobs", "Job").objects.defer("plan").iterator():
        if (job.restart_attempts, job.restart_delay_ms) != (FOR_EVER, 1000):
            job.restart_strategy = fixed_delay(job.restart_attempts, job.restart_delay_ms)
            # What its driver is told, and reports again.
            job.configuration = {**job.configuration, **job.restart_strategy}
            job.save(update_fields=["restart_strategy", "configuration"])


def fixed_delay(attempts: int, delay_ms: int) -> dict[str, str]:
    if attempts == 0:
        return {TYPE: "none"}
    return {TYPE: "fixed-delay", ATTEMPTS: str(attempts), DELAY: f"{delay_ms} ms"}


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_alerts")]

    operations = [
        migrations.AddField(
            model_name="attempt", name="abandoned", field=models.BooleanField(default=False)
        ),
        migrations.AddField(
            model_name="attempt",
            name="cause",
            field=models.CharField(blank=True, max_length=20, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="attempt",
            name="verdict",
            field=models.CharField(blank=True, max_length=300, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="job",
            name="failure_times",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="job",
            name="restart_strategy",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.RunPython(keep_strategies, migrations.RunPython.noop),
        migrations.RemoveField(model_name="job", name="restart_attempts"),
        migrations.RemoveField(model_name="job", name="restart_delay_ms"),
    ]
