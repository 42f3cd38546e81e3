"""Settings of the tests: nothing is kept, and a password costs nothing."""

import os
import tempfile

os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="comparena-test-")
os.environ.setdefault("SECRET_KEY", "tests only")

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CELERY_BROKER_URL = "memory://"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}  # so that no test throttles another
