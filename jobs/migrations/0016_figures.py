import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0015_upgrades_keep_the_way_back"),
    ]

    operations = [
        migrations.CreateModel(
            name="JobFigures",
            fields=[
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="figures_row",
                        serialize=False,
                        to="jobs.job",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("attempt", models.PositiveIntegerField()),
                ("figures", models.JSONField(blank=True, default=dict)),
                ("checkpoint", models.JSONField(blank=True, default=dict)),
                ("first_checkpoint", models.BigIntegerField(blank=True, null=True)),
                ("failed_checkpoints", models.PositiveIntegerField(default=0)),
                ("restored_at", models.BigIntegerField(blank=True, null=True)),
            ],
            options={"verbose_name_plural": "job figures"},
        ),
    ]
