"""Settings of the Django project, all of them movable by environment variable."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import environ

from config import database, home, logs, properties, secret_key

env = environ.Env()

CLONE = Path(__file__).resolve().parents[2]

# --- where state lives -------------------------------------------------------------------------
HEADRACE_HOME = Path(env.str("HEADRACE_HOME", default="") or CLONE / ".headrace").resolve()
home.create(HEADRACE_HOME, ours=HEADRACE_HOME == CLONE / ".headrace")
HEADRACE_RUNS = HEADRACE_HOME / "runs"
HEADRACE_CHECKPOINTS = HEADRACE_HOME / "checkpoints"
HEADRACE_SAVEPOINTS = HEADRACE_HOME / "savepoints"
HEADRACE_ARTIFACTS = HEADRACE_HOME / "artifacts"
HEADRACE_JARS = HEADRACE_HOME / "jars"
HEADRACE_LOGS = HEADRACE_HOME / "logs"

# --- addresses ---------------------------------------------------------------------------------
HEADRACE_WEB_HOST = env.str("HEADRACE_WEB_HOST", default="127.0.0.1")
HEADRACE_WEB_PORT = env.int("HEADRACE_WEB_PORT", default=8081)
#: Where people reach the pages: for links in messages.
HEADRACE_URL = env.str("HEADRACE_URL", default=f"http://{HEADRACE_WEB_HOST}:{HEADRACE_WEB_PORT}")
HEADRACE_KAFKA_PORT = env.int("HEADRACE_KAFKA_PORT", default=9092)
HEADRACE_REDIS_PORT = env.int("HEADRACE_REDIS_PORT", default=6379)
#: Set in the environment = a server that runs elsewhere, instead of the embedded one.
HEADRACE_EMBEDS_KAFKA = not env.str("KAFKA_BOOTSTRAP_SERVERS", default="")
HEADRACE_EMBEDS_REDIS = not env.str("REDIS_URL", default="")
KAFKA_BOOTSTRAP_SERVERS = (
    env.str("KAFKA_BOOTSTRAP_SERVERS", default="") or f"127.0.0.1:{HEADRACE_KAFKA_PORT}"
)
REDIS_URL = env.str("REDIS_URL", default="") or f"redis://127.0.0.1:{HEADRACE_REDIS_PORT}/0"
#: Empty: each job runs as local[its slots] under its TaskManager.
SPARK_MASTER = env.str("SPARK_MASTER", default="")

# --- TaskManagers and drivers ------------------------------------------------------------------
HEADRACE_SLOTS = env.int("HEADRACE_SLOTS", default=2)
#: Memory for the drivers in its slots; 0 = a share of the machine's.
HEADRACE_TASKMANAGER_MEMORY_MIB = env.int("HEADRACE_TASKMANAGER_MEMORY_MIB", default=0)
#: Settings of the cluster by Flink's keys, a `key: value` in each line.
HEADRACE_PROPERTIES = properties.read(env.str("HEADRACE_PROPERTIES", default=""))
#: A TaskManager gives a sign of life this often, and counts as lost after so long without one
#: (seconds): heartbeat.interval, heartbeat.timeout.
HEADRACE_HEARTBEAT_INTERVAL, HEADRACE_HEARTBEAT_TIMEOUT = properties.heartbeat(HEADRACE_PROPERTIES)
#: Folders that all machines see. A job whose files are in them moves when its machine is lost.
HEADRACE_SHARED_STORAGE = [
    Path(path) for path in env.str("HEADRACE_SHARED_STORAGE", default="").split(os.pathsep) if path
]
#: A driver whose heartbeat stands still for this long counts as hung (seconds).
HEADRACE_DRIVER_TIMEOUT = env.float("HEADRACE_DRIVER_TIMEOUT", default=30.0)
#: A driver asked to end has this long before it is killed (seconds).
HEADRACE_STOP_TIMEOUT = env.float("HEADRACE_STOP_TIMEOUT", default=30.0)
#: What starts a driver; the run directory is appended.
HEADRACE_DRIVER_COMMAND = env.list(
    "HEADRACE_DRIVER_COMMAND", default=[sys.executable, "-m", "headrace.runtime.driver"]
)
#: Jar files for Spark's class path, joined as in PATH; None = the locked Kafka connector, in
#: HEADRACE_JARS.
spark_jars = os.environ.get("HEADRACE_SPARK_JARS")
HEADRACE_SPARK_JARS = (
    None if spark_jars is None else [path for path in spark_jars.split(os.pathsep) if path]
)
#: Whether people may bring code of their own (web.submit.enable). Off: what was stored before can
#: still be run by those who may submit.
HEADRACE_UPLOADS = env.bool(
    "HEADRACE_UPLOADS",
    default=HEADRACE_PROPERTIES.get("web.submit.enable", "true").strip().lower() != "false",
)
#: Programs that one person may keep there, and bytes of all of them together.
HEADRACE_UPLOADS_EACH = env.int("HEADRACE_UPLOADS_EACH", default=1000)
HEADRACE_UPLOADS_BYTES = env.int("HEADRACE_UPLOADS_BYTES", default=10 * 1024**3)
#: Files of Flink's own dashboard, for /flink/: the jar flink-runtime-web, or its folder `web`.
HEADRACE_FLINK_DASHBOARD = env.str("HEADRACE_FLINK_DASHBOARD", default="")
#: Checkpoint rows kept per job.
HEADRACE_CHECKPOINT_ROWS = env.int("HEADRACE_CHECKPOINT_ROWS", default=5000)

# --- Django ------------------------------------------------------------------------------------
DEBUG = env.bool("HEADRACE_DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or secret_key.load_or_create(HEADRACE_HOME)
ALLOWED_HOSTS = env.list(
    "HEADRACE_ALLOWED_HOSTS",
    default=["localhost", "127.0.0.1", "[::1]", HEADRACE_WEB_HOST, socket.gethostname()],
)
CSRF_TRUSTED_ORIGINS = env.list("HEADRACE_TRUSTED_ORIGINS", default=[])
SESSION_COOKIE_NAME = "headrace_session"
CSRF_COOKIE_NAME = "headrace_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("HEADRACE_HTTPS", default=False)
SESSION_COOKIE_SAMESITE = "Lax"
#: Seconds after a login until the next one is needed.
SESSION_COOKIE_AGE = int(env.float("HEADRACE_SESSION_HOURS", default=168.0) * 3600)
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024

INSTALLED_APPS = [
    "dashboard",
    "workers",
    "jobs",
    "servestatic",
    "jobs.console_app.ConsoleConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "jobs.audit_middleware.AuditMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
#: The second has admins use the whole admin console.
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "jobs.role_backend.RoleBackend",
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

#: Days that the audit log is kept; 0 = for ever.
HEADRACE_AUDIT_DAYS = env.int("HEADRACE_AUDIT_DAYS", default=400)

# --- secrets of jobs: the first key encrypts, all of them decrypt --------------------------------
HEADRACE_SECRETS_KEYS = env.list("HEADRACE_SECRETS_KEYS", default=[])
if path := env.str("HEADRACE_SECRETS_KEYS_FILE", default=""):
    HEADRACE_SECRETS_KEYS = Path(path).read_text().split()
HEADRACE_SECRETS_KEYS = HEADRACE_SECRETS_KEYS or [secret_key.of_secrets(HEADRACE_HOME)]

# --- login at an OpenID provider, when HEADRACE_OIDC_ISSUER names one ---------------------------
HEADRACE_OIDC_ISSUER = env.str("HEADRACE_OIDC_ISSUER", default="")
HEADRACE_OIDC_CLIENT_ID = env.str("HEADRACE_OIDC_CLIENT_ID", default="")
HEADRACE_OIDC_CLIENT_SECRET = env.str("HEADRACE_OIDC_CLIENT_SECRET", default="")
HEADRACE_OIDC_SCOPES = env.str("HEADRACE_OIDC_SCOPES", default="openid profile email")
#: The words on the button.
HEADRACE_OIDC_NAME = env.str("HEADRACE_OIDC_NAME", default="Log in with the company account")
HEADRACE_OIDC_USERNAME_CLAIM = env.str("HEADRACE_OIDC_USERNAME_CLAIM", default="preferred_username")
HEADRACE_OIDC_GROUPS_CLAIM = env.str("HEADRACE_OIDC_GROUPS_CLAIM", default="groups")
#: "platform=admin, payments-dev=payments:developer": what groups bring.
HEADRACE_OIDC_ROLES = properties.oidc_roles(env.str("HEADRACE_OIDC_ROLES", default=""))
#: Who is in none of them does not get in; empty: everybody whom the provider knows.
HEADRACE_OIDC_REQUIRED_GROUPS = env.list("HEADRACE_OIDC_REQUIRED_GROUPS", default=[])
#: Take the account here that has the provider's name for a person as that person's.
HEADRACE_OIDC_LINK_ACCOUNTS = env.bool("HEADRACE_OIDC_LINK_ACCOUNTS", default=False)

# --- database: SQLite in WAL mode, or any server by DATABASE_URL --------------------------------
if env.str("DATABASE_URL", default=""):
    DATABASE = database.named_by(env.str("DATABASE_URL"))
else:  # not as a URL: a path may have characters that mean something there
    DATABASE = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(HEADRACE_HOME / "db.sqlite3"),
    }
if DATABASE["ENGINE"] == "django.db.backends.postgresql":
    DATABASE.setdefault("OPTIONS", {}).setdefault("connect_timeout", 10)
if DATABASE["ENGINE"] == "django.db.backends.sqlite3":
    DATABASE["OPTIONS"] = {
        # Several processes write: take the write lock at BEGIN and wait for it, instead of
        # failing in the middle of a transaction with "database is locked".
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # A file, so that the processes that a test starts see the same database.
    DATABASE["TEST"] = {"NAME": str(HEADRACE_HOME / "test.sqlite3")}
DATABASE["CONN_MAX_AGE"] = env.int("HEADRACE_DATABASE_MAX_AGE", default=60)
DATABASE["CONN_HEALTH_CHECKS"] = True
DATABASES = {"default": DATABASE}

# --- static files: served by the web process itself ---------------------------------------------
STATIC_URL = "/static/"
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = DEBUG

# --- REST ---------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # First, because it decides that "not logged in" is answered by 401.
        "jobs.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
        "jobs.api.authentication.BasicAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "jobs.api.errors.answer",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "jobs.api.pages.Pages",
    "PAGE_SIZE": 100,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Headrace",
    "DESCRIPTION": "Flink-style streaming jobs on Apache Spark: submit, watch and steer them.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "JobState": "jobs.states.JOB_STATE_CHOICES",
        "SavepointState": "jobs.states.SAVEPOINT_STATE_CHOICES",
        "AttemptState": "jobs.states.ATTEMPT_STATE_CHOICES",
        "TaskManagerState": "jobs.states.TASKMANAGER_STATE_CHOICES",
        "AlertState": "jobs.states.ALERT_STATE_CHOICES",
        "DeliveryState": "jobs.states.DELIVERY_STATE_CHOICES",
        "AlertRuleKind": "jobs.models.AlertRule.Kind",
        "AlertChannelKind": "jobs.models.AlertChannel.Kind",
    },
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}

# --- e-mail of alerts: EMAIL_URL=smtp+tls://user:password@host:587 ------------------------------
EMAIL_HOST = ""
vars().update(env.email_url("EMAIL_URL", default="smtp://"))
DEFAULT_FROM_EMAIL = env.str("HEADRACE_EMAIL_FROM", default=f"headrace@{socket.gethostname()}")

# --- logs ---------------------------------------------------------------------------------------
logs.configure()
LOGGING = logs.dict_config(
    level=env.str("HEADRACE_LOG_LEVEL", default="INFO"),
    style=env.str("HEADRACE_LOG_STYLE", default="text"),
)
