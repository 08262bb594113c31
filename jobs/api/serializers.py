"""The rows as JSON, and what a submission may hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rest_framework import serializers

from headrace.wire.savepoint import ClaimMode, Restore
from jobs import artifacts, beginnings
from jobs.models import Attempt, Checkpoint, Event, Job, Slot, TaskManager


class MaskedConfiguration(serializers.DictField):
    """The settings of what has `shown_configuration`."""

    child = serializers.CharField()

    def __init__(self) -> None:
        super().__init__(
            source="shown_configuration",
            read_only=True,
            help_text="values of passwords, tokens and other secrets are masked",
        )


class ShownArguments(serializers.ListField):
    """The arguments of what has `shown_arguments`."""

    child = serializers.CharField()

    def __init__(self) -> None:
        super().__init__(
            source="shown_arguments", read_only=True, help_text="values of secrets are masked"
        )


class JobSummary(serializers.ModelSerializer[Job]):
    """A job as lists show it."""

    submitted_by = serializers.CharField(
        source="submitted_by.username", default=None, read_only=True, allow_null=True
    )
    team = serializers.CharField(
        source="team.name", default=None, read_only=True, allow_null=True, help_text="whose it is"
    )

    class Meta:
        model = Job
        fields = [
            *("id", "name", "state", "wanted", "waiting_for", "entry_name", "version"),
            *("parallelism", "restarts", "created_at", "started_at", "ended_at"),
            *("state_changed_at", "submitted_by", "team"),
        ]
        read_only_fields = fields


class JobDetail(JobSummary):
    """Everything about a job but its lists."""

    restart_strategy = serializers.CharField(
        source="strategy", read_only=True, help_text="the one in force, in words"
    )
    restart_attempts_left = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="null: any number"
    )
    arguments = ShownArguments()
    configuration = MaskedConfiguration()
    plan = serializers.DictField(read_only=True)
    slots = serializers.IntegerField(source="slots_wanted", read_only=True)
    lag = serializers.DictField(read_only=True)
    timestamps = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta(JobSummary.Meta):
        fields = [
            *JobSummary.Meta.fields,
            *("artifact_sha256", "arguments", "configuration", "plan", "checkpoint_interval"),
            *("lag", "progressed_at", "restart_strategy", "restart_attempts_left"),
            *("restarts_in_a_row", "restart_at", "current_attempt", "timestamps"),
            *("slots", "queued_at"),
        ]
        read_only_fields = fields


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    taskmanager = serializers.CharField(
        source="taskmanager.name", default=None, read_only=True, allow_null=True
    )

    class Meta:
        model = Attempt
        fields = [
            *("number", "version", "state", "taskmanager", "pid", "application_id"),
            "restored_checkpoint",
            *("created_at", "started_at", "ended_at", "exit_code", "error", "traceback"),
            *("cause", "restartable", "verdict", "abandoned", "journal_number"),
        ]
        read_only_fields = fields


class CheckpointSerializer(serializers.ModelSerializer[Checkpoint]):
    attempt = serializers.IntegerField(source="attempt.number", read_only=True)
    records_out = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    phases = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    offsets = serializers.DictField(child=serializers.DictField(), read_only=True)
    lag = serializers.DictField(child=serializers.DictField(), read_only=True)
    latency = serializers.DictField(child=serializers.FloatField(), read_only=True)
    counters = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = Checkpoint
        fields = [
            *("checkpoint_id", "attempt", "started_at", "completed_at", "duration", "state_size"),
            *("state_rows", "records_in", "records_out", "transactions", "phases", "offsets"),
            *("lag", "latency", "watermark", "counters"),
        ]
        read_only_fields = fields


class EventSerializer(serializers.ModelSerializer[Event]):
    detail = serializers.DictField(read_only=True)

    class Meta:
        model = Event
        fields = ["id", "at", "kind", "message", "detail"]
        read_only_fields = fields


class LogPiece(serializers.Serializer[Any]):
    """Text of bytes `start` to `end` of a log of `size` bytes; ask on with `offset=end`."""

    attempt = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    size = serializers.IntegerField()


class LogQuery(serializers.Serializer[Any]):
    attempt = serializers.IntegerField(required=False, min_value=1, help_text="default: the last")
    offset = serializers.IntegerField(required=False, min_value=0, help_text="default: the tail")
    limit = serializers.IntegerField(required=False, min_value=1, default=64 * 1024)


class SlotSerializer(serializers.ModelSerializer[Slot]):
    job = serializers.CharField(source="job_id", read_only=True, allow_null=True)

    class Meta:
        model = Slot
        fields = ["index", "job", "allocated_at"]
        read_only_fields = fields


class TaskManagerSerializer(serializers.ModelSerializer[TaskManager]):
    slot_set = SlotSerializer(many=True, read_only=True)

    class Meta:
        model = TaskManager
        fields = [
            *("name", "host", "pid", "state", "slots", "memory_mib", "spark_master", "drained_at"),
            *("started_at", "last_heartbeat", "slot_set"),
        ]
        read_only_fields = fields


class Overview(serializers.Serializer[Any]):
    taskmanagers = serializers.IntegerField()
    slots_total = serializers.IntegerField()
    slots_free = serializers.IntegerField()
    jobs = serializers.DictField(child=serializers.IntegerField(), help_text="{state: how many}")
    jobmanager = serializers.CharField(allow_null=True, help_text="the one that leads, if any")


class Example(serializers.Serializer[Any]):
    name = serializers.CharField()
    entry_name = serializers.CharField()
    description = serializers.CharField()


class Submission(serializers.Serializer[Any]):
    """A Python file, or the name of an example that comes with Headrace."""

    file = serializers.FileField(required=False, help_text="the job's Python file")
    example = serializers.CharField(required=False, help_text="see /api/examples/")
    name = serializers.CharField(required=False, default="", help_text="default: the file's name")
    arguments = serializers.ListField(
        child=serializers.CharField(allow_blank=True), required=False, default=list
    )
    parallelism = serializers.IntegerField(required=False, default=1)
    team = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="whose job it is; default: nobody's"
    )
    configuration = serializers.JSONField(
        required=False, default=dict, help_text='{"key": "value"}, Flink\'s keys'
    )
    savepoint_path = serializers.CharField(
        required=False, default="", help_text="directory of the savepoint that it begins with"
    )
    claim_mode = serializers.ChoiceField(
        choices=[mode.value for mode in ClaimMode],
        required=False,
        default=ClaimMode.NO_CLAIM.value,
        help_text="CLAIM: the job removes the savepoint when it has a checkpoint of its own",
    )
    allow_non_restored_state = serializers.BooleanField(
        required=False,
        default=False,
        help_text="go on though state in it belongs to no operator of the program",
    )
    beside = serializers.BooleanField(
        required=False,
        default=False,
        help_text="a copy beside the savepoint's job: transactions get names of their own",
    )

    def entry(self) -> Path | tuple[bytes, str]:
        """Its program; call it when the submission is valid."""
        values = self.validated_data
        if "example" in values:
            return artifacts.examples()[values["example"]]
        return values["file"].read(), values["file"].name

    def restore(self) -> Restore | None:
        """What it begins with; call it when the submission is valid."""
        values = self.validated_data
        if not values["savepoint_path"]:
            return None
        return beginnings.wanted(
            values["savepoint_path"],
            values["claim_mode"],
            allow_lost=values["allow_non_restored_state"],
            beside=values["beside"],
        )

    def validate_configuration(self, value: object) -> dict[str, str]:
        if not isinstance(value, dict) or any(isinstance(v, dict | list) for v in value.values()):
            raise serializers.ValidationError('give an object like {"key": "value"}')
        return {str(key): str(item) for key, item in value.items()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("file" in attrs) == ("example" in attrs):
            raise serializers.ValidationError("give either a file or the name of an example")
        if "example" in attrs and attrs["example"] not in artifacts.examples():
            known = ", ".join(artifacts.examples()) or "none"
            raise serializers.ValidationError(
                f"there is no example {attrs['example']!r}; there are: {known}"
            )
        return attrs
