from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_restart_strategies")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="queued_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="job",
            name="slots_needed",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="taskmanager",
            name="drained_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="taskmanager",
            name="spark_master",
            field=models.CharField(blank=True, default="", max_length=300),
            preserve_default=False,
        ),
    ]
