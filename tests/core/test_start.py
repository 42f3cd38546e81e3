"""What a command loads before it does anything: half of the time of a short one."""

import os
import subprocess
import sys
from pathlib import Path

LOADED = """
import sys, django
django.setup()
from django.core.management import load_command_class
command = load_command_class("annotation", "create_campaign")
assert not command.requires_system_checks
print(*{"scipy.stats", "scipy.optimize", "config.urls", "torch"} & set(sys.modules))
"""


def test_a_command_loads_no_page_and_no_distributions(tmp_path):
    env = {**os.environ, "DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings", "SECRET_KEY": "tests only"}
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=Path(__file__).parents[2], env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
