"""Settings, from the environment.

DATA_DIR      where everything that is kept lives: database, models, broker, uploads (default: var/ in a checkout; for the
              installed command, ~/.local/share/comparena/, or comparena/ in XDG_DATA_HOME)
DATABASE_URL  default: SQLite in DATA_DIR; production: postgres://user:password@host/name, on another machine with
              ?sslmode=verify-full&sslrootcert=FILE
BROKER_URL    default: a folder in DATA_DIR (no server); production: redis://host/0, on another machine
              rediss://user:password@host:6379/0?ssl_ca_certs=FILE
SECRET_KEY    default: made once and kept in DATA_DIR
SECRET_KEY_FALLBACKS  comma-separated keys of before, which are still believed (docs/operate/accounts.md: how to change the key)
DEBUG         "1" shows tracebacks in the browser; never in production
DEFAULT_BASE  the base that trainings start from, where one of this name was made (`train_base`; default: default)
JOB_LEASE_SECONDS  how long a silent worker is believed to be at work (default: 45)
ALLOWED_HOSTS comma-separated host names (default: this machine only)
CSRF_TRUSTED_ORIGINS  comma-separated origins, https://name, where a proxy ends TLS
HTTPS         "1" where a proxy ends TLS: cookies only travel encrypted, browsers are sent to https and told to stay
HTTPS_SUBDOMAINS  "1" tells browsers that all hosts under this one's name speak https too, for good (HSTS preload)
PROXIES       how many proxies stand before the web server and add to X-Forwarded-For (default: 0, the header is not believed)
EMAIL_URL     smtp://user:password@host:587 (STARTTLS), smtps://… or smtp+plain://…; without it no e-mail is sent
EMAIL_FROM    the sender's address (default: comparena@localhost)
SITE_URL      where this is found, https://name, for links in e-mail that no page sends (default: letters have no link)
OIDC_ISSUER   lets people sign in by an OpenID Connect provider (docs/operate/accounts.md), with OIDC_NAME, OIDC_CLIENT_ID,
              OIDC_CLIENT_SECRET, OIDC_AUTHORIZATION_URL, OIDC_TOKEN_URL, OIDC_USER_URL and OIDC_JWKS_URL
FIRST_ADMIN_KEY  a code with which the first admin can be made from another machine (default: `serve` makes one and prints it)
PROLIFIC_SECRET the secret with which Prolific signs its webhooks, sent to /hooks/prolific/ (default: that page does not exist)
METRICS_TOKEN  the bearer token with which Prometheus may read /metrics (default: only admins may, signed in)
ADMINS_NEED_SECOND_FACTOR  "1" lets no admin in without a code from their phone; those who have none set one up first
MOST_UNPACKED_MB  how long an uploaded file, an archive or a snapshot's files may be when unpacked (default: 512)
LOG_LEVEL     of what the server and its workers tell (default: INFO)
COMPARENA_DEVICE  where workers train and judge: "cuda", "cuda:1", "mps" or "cpu" (default: the best there is)
COMPARENA_ENDPOINTS  language models that researchers may set up from a page, as JSON (docs/judges/play.md)
HF_HUB_OFFLINE  "0" lets `train_comparator --encoder NAME`, `pull` and `push` use the Hugging Face hub (default: 1)
"""

import os
import secrets
from pathlib import Path

import dj_database_url
from django.urls import reverse_lazy
from kombu import Exchange, Queue

from core import mail

BASE_DIR = Path(__file__).resolve().parent.parent
_own = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "comparena"
_default = BASE_DIR / "var" if (BASE_DIR / "manage.py").exists() else _own  # nothing is kept among installed packages
DATA_DIR = Path(os.environ.get("DATA_DIR") or _default).resolve()
# People's answers and keys are nobody else's on this machine: neither the folder, where it was made before too, nor what
# is made in it.
os.umask(0o077)
DATA_DIR.mkdir(parents=True, exist_ok=True)
if DATA_DIR.stat().st_mode & 0o077 and DATA_DIR.stat().st_uid == os.geteuid():
    DATA_DIR.chmod(0o700)


def _kept_secret() -> str:
    """A secret key made at the first start, so that log-ins outlive a restart."""
    path = DATA_DIR / "secret_key"
    if not path.exists():
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(50))
        except FileExistsError:
            pass  # another process of the same start was first
    return path.read_text().strip()


SECRET_KEY = os.environ.get("SECRET_KEY") or _kept_secret()
SECRET_KEY_FALLBACKS = [key for key in os.environ.get("SECRET_KEY_FALLBACKS", "").split(",") if key]
SESSION_ENGINE = "config.sessions"
DEBUG = os.environ.get("DEBUG", "") == "1"
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",")
CSRF_TRUSTED_ORIGINS = [o for o in os.environ.get("CSRF_TRUSTED_ORIGINS", "").split(",") if o]

# Behind a proxy that ends TLS. The header says that the visitor's connection was safe; only the proxy may set it.
HTTPS = os.environ.get("HTTPS", "") == "1"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]  # probes ask from this machine, without the proxy
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS and os.environ.get("HTTPS_SUBDOMAINS", "") == "1"
# Other hosts under this one's name are not ours to speak for, unless the operator says so.
SILENCED_SYSTEM_CHECKS = [] if SECURE_HSTS_PRELOAD else ["security.W005", "security.W021"]
SILENCED_SYSTEM_CHECKS += ["templates.W003"]  # config.i18n_tags takes the place of Django's own on purpose
PROXIES = int(os.environ.get("PROXIES", "0"))

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "annotation",
    "evaluator",
    "leaderboard",
]

MIDDLEWARE = [
    "config.middleware.request_ids",
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.page_policies",
    "config.middleware.page_methods",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.middleware.AnnotatorsLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.middleware.NoNul",
    "config.middleware.Accounts",
    "config.middleware.SecondFactor",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",  # views for visitors say so: login_not_required
    "config.middleware.kept_by_nobody",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "config.i18n_tags.Loader",
                    ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "libraries": {"i18n": "config.i18n_tags"},
        },
    }
]

DATABASES = {
    "default": dj_database_url.parse(
        os.environ.get("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'comparena.sqlite3'}", conn_max_age=600
    )
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # WAL lets readers go on while one process writes. IMMEDIATE takes the write lock at BEGIN, so that two
    # writers wait for each other instead of failing halfway through a transaction.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    # Statements that come again and again are prepared on the server and planned once.
    # They are short: compiling one takes longer than running it.
    DATABASES["default"].setdefault("OPTIONS", {}).update(
        server_side_binding=True, prepare_threshold=5, options="-c jit=off", application_name="comparena"
    )
    # Kept connections are looked at (config/middleware.py says when): no request fails because PostgreSQL was restarted.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotation.User"
# Accounts whose password was stored otherwise are brought to the first hasher when they next sign in.
PASSWORD_HASHERS = ["config.hashers.Argon2id", "django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "config.passwords.WordsOfThisPlace"},
]
ADMINS_NEED_SECOND_FACTOR = os.environ.get("ADMINS_NEED_SECOND_FACTOR", "") == "1"
PASSWORD_RESET_TIMEOUT = 3600  # seconds that the link in a letter works
OIDC_ISSUER, OIDC_NAME = os.environ.get("OIDC_ISSUER", ""), os.environ.get("OIDC_NAME", "your institution")
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
if OIDC_ISSUER:
    AUTHENTICATION_BACKENDS.append("config.oidc.Accounts")
    OIDC_RP_CLIENT_ID, OIDC_RP_CLIENT_SECRET = os.environ["OIDC_CLIENT_ID"], os.environ["OIDC_CLIENT_SECRET"]
    OIDC_OP_AUTHORIZATION_ENDPOINT = os.environ["OIDC_AUTHORIZATION_URL"]
    OIDC_OP_TOKEN_ENDPOINT, OIDC_OP_USER_ENDPOINT = os.environ["OIDC_TOKEN_URL"], os.environ["OIDC_USER_URL"]
    OIDC_OP_JWKS_ENDPOINT = os.environ["OIDC_JWKS_URL"]
    OIDC_RP_SIGN_ALGO, OIDC_USE_PKCE = "RS256", True
    LOGIN_REDIRECT_URL_FAILURE = reverse_lazy("login")
LOGIN_URL = reverse_lazy("login")
LOGIN_REDIRECT_URL = reverse_lazy("home")
LOGOUT_REDIRECT_URL = reverse_lazy("home")
EMAIL_URL = os.environ.get("EMAIL_URL", "")
globals().update(mail.settings_of(EMAIL_URL))
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM", "comparena@localhost")
SITE_URL = os.environ.get("SITE_URL", "").rstrip("/")
FIRST_ADMIN_KEY = os.environ.get("FIRST_ADMIN_KEY", "")
PROLIFIC_SECRET = os.environ.get("PROLIFIC_SECRET", "")
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
CSRF_FAILURE_VIEW = "annotation.views.people.sign_in.csrf_failure"

# Annotators' pages (annotation/people/languages.py) come in these; all others in English. docs/translating.md adds one.
LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("de", "German"),
    ("fr", "French"),
    ("es", "Spanish"),
    ("zh-hans", "Simplified Chinese"),
    ("ar", "Arabic"),
]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600  # seconds
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = HTTPS
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = True  # no collectstatic step before the first page

DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 2**20
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "spool"  # with config/web_worker.py's: what comes in, until it is read; /tmp may be memory
FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)
MODELS_DIR = DATA_DIR / "models"
DEFAULT_BASE = os.environ.get("DEFAULT_BASE", "default")
IMAGES_DIR = DATA_DIR / "images"  # pictures that texts show; web processes elsewhere need the same folder
UPLOADS_DIR = DATA_DIR / "uploads"  # files to import, until they are stored; a worker elsewhere needs the same folder
REPLIES_DIR = DATA_DIR / "replies"  # what language models answered, each call once

# Where a message goes. With the filesystem transport sender and receiver share one folder.
CELERY_BROKER_URL = os.environ.get("BROKER_URL", "filesystem://")
if CELERY_BROKER_URL.startswith("rediss://") and "ssl_cert_reqs=" not in CELERY_BROKER_URL:
    # Celery checks no certificate that it is not told to check.
    CELERY_BROKER_URL += f"{'&' if '?' in CELERY_BROKER_URL else '?'}ssl_cert_reqs=required"
if CELERY_BROKER_URL.startswith("filesystem"):
    _broker = DATA_DIR / "broker"
    for _folder in (_broker / "messages", _broker / "control"):
        _folder.mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_broker / "messages"),
        "data_folder_out": str(_broker / "messages"),
        "control_folder": str(_broker / "control"),
    }
# A queue for what people wait for, one for what judges, one for what may take all night. A worker takes those that
# `celery worker -Q` names, without it all.
QUEUES = ("interactive", "judging", "training")
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in QUEUES]
CELERY_TASK_DEFAULT_QUEUE = CELERY_TASK_DEFAULT_EXCHANGE = CELERY_TASK_DEFAULT_ROUTING_KEY = "interactive"
CELERY_TASK_ROUTES = {  # a name before the patterns
    "evaluator.tasks.train": {"queue": "training"},
    "evaluator.tasks.*": {"queue": "judging"},
    "leaderboard.tasks.*": {"queue": "judging"},
}
CELERY_TASK_IGNORE_RESULT = True  # what became of it stands in the job's row
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = False  # the job's row is what is not lost; a message may be
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
JOB_LEASE_SECONDS = float(os.environ.get("JOB_LEASE_SECONDS", "45"))

# Counts of requests, for the throttles: shared where there is a Redis, else each web process counts its own.
if CELERY_BROKER_URL.startswith(("redis://", "rediss://")):
    CACHES = {
        "default": {
            "BACKEND": "config.cache.RedisOrOwn",
            "LOCATION": CELERY_BROKER_URL,
            "KEY_PREFIX": "comparena",
            "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},  # seconds; then it is away
        }
    }

REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["annotation.api.parsers.ShallowJSON"],
    "DEFAULT_PAGINATION_CLASS": "annotation.api.paging.Pages",
    "PAGE_SIZE": 100,
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle", "rest_framework.throttling.AnonRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": "1200/min", "anon": "60/min", "join": "60/min"},
    "NUM_PROXIES": PROXIES,
    "EXCEPTION_HANDLER": "annotation.api.errors.answer",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Comparena",
    "DESCRIPTION": "Human evaluation of generated text: campaigns, judgments, quality, boards.",
    "VERSION": "1",
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "CampaignStatusEnum": "annotation.models.campaign.Campaign.Status",
        "JobStatusEnum": "annotation.models.job.Job.Status",
        "TournamentLevelEnum": "leaderboard.models.tournament.Tournament.Level",
        "BoardBasisEnum": ["people", "judge", "corrected"],  # of leaderboard.boards
        "BoardAnswersEnum": ["scores", "pairs", "both"],
        "BoardPopulationEnum": ["people", "annotators", "contexts"],
        "PurposeEnum": "annotation.models.campaign.Purpose",
        "ReportKindEnum": "annotation.models.campaign.ItemReport.Kind",
    },
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "annotation.api.schema.with_errors"],
}

LOG_LINE = "%(asctime)s %(levelname)s %(name)s [%(request_id)s]: %(message)s"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.logs.WithoutKeys", "format": LOG_LINE}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {"kombu.connection": {"level": "ERROR"}},  # warns that the folder broker has no host name
    "root": {"handlers": ["stderr"], "level": os.environ.get("LOG_LEVEL", "INFO")},
}

# No model hub is asked unless the operator says so: the embedded encoder comes with the installation.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# torch's threads sleep while they wait for each other: the web server and the worker share the same few cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
