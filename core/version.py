"""The version of this code, as published numbers name it."""

import subprocess
import tomllib
from functools import cache

from django.conf import settings


@cache
def code_version() -> str:
    """The package's version, and the commit where this is a checkout: what a published number was made with."""
    version: str = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
    describe = ["git", "-C", str(settings.BASE_DIR), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    try:
        commit = subprocess.run(describe, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return version
    return f"{version}+{commit}"[:60]
