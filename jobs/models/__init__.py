"""The tables. Only `jobs` writes them; times are aware datetimes in UTC."""

from jobs.models.alert import Alert, AlertChannel, AlertDelivery, AlertRule
from jobs.models.attempt import Attempt
from jobs.models.audit import AuditEntry
from jobs.models.checkpoint import Checkpoint
from jobs.models.checkpoint_request import CheckpointRequest, new_trigger_id
from jobs.models.diagnosis import Diagnosis
from jobs.models.event import Event
from jobs.models.figures import JobFigures
from jobs.models.history import HistoryChunk
from jobs.models.job import Job, new_job_id
from jobs.models.jobmanager import JobManagerProcess
from jobs.models.lease import Lease
from jobs.models.login import FailedLogins, OpenIdAccount, SignIn
from jobs.models.savepoint import Beginning, Savepoint, new_savepoint_id
from jobs.models.schedule import Schedule, ScheduledRun, new_schedule_id
from jobs.models.secret import Secret
from jobs.models.taskmanager import Slot, TaskManager
from jobs.models.team import Membership, Team
from jobs.models.token import ApiToken
from jobs.models.upload import Upload
from jobs.models.version import JobVersion, Upgrade

__all__ = [
    "Alert",
    "AlertChannel",
    "AlertDelivery",
    "AlertRule",
    "ApiToken",
    "Attempt",
    "AuditEntry",
    "Beginning",
    "Checkpoint",
    "CheckpointRequest",
    "Diagnosis",
    "Event",
    "FailedLogins",
    "HistoryChunk",
    "Job",
    "JobFigures",
    "JobManagerProcess",
    "JobVersion",
    "Lease",
    "Membership",
    "OpenIdAccount",
    "Savepoint",
    "Schedule",
    "ScheduledRun",
    "Secret",
    "SignIn",
    "Slot",
    "TaskManager",
    "Team",
    "Upgrade",
    "Upload",
    "new_job_id",
    "new_savepoint_id",
    "new_schedule_id",
    "new_trigger_id",
]
