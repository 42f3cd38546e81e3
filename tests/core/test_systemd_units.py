"""The units for systemd: systemd itself finds them right and hardened, and the code understands what they start."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from celery.bin.worker import worker
from django.conf import settings

from leaderboard.management.commands.serve import Command

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "systemd").glob("*.service"))
MOST_EXPOSED = 20  # tenths, of systemd-analyze's scale from 0 to 10; a service without settings has 9.6
analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


class Unit(configparser.RawConfigParser):
    """One whose settings may stand several times: the last one counts, which is right where they are read here."""

    def __init__(self, path: Path):
        super().__init__(strict=False, allow_no_value=True, delimiters=("=",), comment_prefixes=("#",))
        self.optionxform = str  # type: ignore[assignment]
        self.read_string(path.read_text())


def of(name: str) -> Unit:
    return Unit(ROOT / "systemd" / name)


@analyze
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_finds_it_right(tmp_path, unit):
    """With this checkout in the place of /srv/comparena: the programs have to be there."""
    text = unit.read_text().replace("/srv/comparena/.venv/bin", str(Path(sys.executable).parent))
    copy = tmp_path / unit.name.replace("@.", "@training.")
    copy.write_text(text.replace("/srv/comparena", str(ROOT)))
    done = subprocess.run(["systemd-analyze", "verify", "--recursive-errors=no", copy], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@analyze
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_it_has_few_rights(unit):
    command = ["systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-200:]


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_it_writes_where_its_data_are(unit):
    service = Unit(unit)["Service"]
    folder = re.search(r"DATA_DIR=(\S+)", service["Environment"])[1]
    assert folder == service["ReadWritePaths"] == f"/var/lib/{service['StateDirectory']}"
    assert (service["ProtectSystem"], service["NoNewPrivileges"], service["PrivateTmp"]) == ("strict", "yes", "yes")
    assert service["User"] == "comparena"
    assert "PASSWORD" not in unit.read_text().upper() and service["EnvironmentFile"] == "/etc/comparena.env"


def test_all_are_hardened_alike():
    (one,) = {path.read_text().partition("# It writes")[2].partition("[Install]")[0].strip() for path in UNITS}
    assert "ProtectSystem" in one


@analyze
def test_the_timer_starts_the_backup():
    timer = of("comparena-backup.timer")["Timer"]["OnCalendar"]
    assert subprocess.run(["systemd-analyze", "calendar", timer], capture_output=True).returncode == 0
    program, script, *words = of("comparena-backup.service")["Service"]["ExecStart"].split()
    assert (ROOT / script).is_file() and words[0] == "backup"


def test_serve_understands_its_command():
    program, script, *words = of("comparena.service")["Service"]["ExecStart"].split()
    assert program.endswith("/python") and (ROOT / script).is_file() and words[0] == "serve"
    options = Command().create_parser("manage.py", "serve").parse_args(words[1:])
    assert (options.host, tuple(options.queues)) == ("127.0.0.1", settings.QUEUES)  # a proxy stands before it


@pytest.mark.parametrize("queue", settings.QUEUES)
def test_celery_understands_the_command_of_a_worker(queue):
    line = of("comparena-worker@.service")["Service"]["ExecStart"].replace("%i", queue).replace("%%", "%")
    program, *words = line.split()
    assert program.endswith("/celery") and words[:3] == ["-A", "config.celery", "worker"]
    options = worker.make_context("worker", words[3:], obj=None, resilient_parsing=True).params
    assert (options["queues"], options["concurrency"]) == ([queue], 1)
    assert options["hostname"].startswith(f"{queue}@") and "%" not in options["hostname"]
