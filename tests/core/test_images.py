"""Dockerfile and compose.yaml say what the code understands: commands, settings, ports, queues, files."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from celery.bin.worker import worker
from django.conf import settings
from django.urls import resolve

from leaderboard.management.commands.serve import Command

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE_TEXT = (ROOT / "compose.yaml").read_text()
COMPOSE = yaml.safe_load(COMPOSE_TEXT)
SERVICES = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "comparena"}
PROBE = json.loads(re.search(r"HEALTHCHECK [^\[]*CMD (\[.*\])", DOCKERFILE)[1])


def commands() -> dict[str, list[str]]:
    image = json.loads(re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[1])
    return {"image": image} | {name: service["command"] for name, service in OURS.items()}


def options_of_serve(command: list[str]):
    assert command[:3] == ["python", "manage.py", "serve"] and (ROOT / "manage.py").is_file()
    return Command().create_parser("manage.py", "serve").parse_args(command[3:])


def test_hadolint_has_no_complaint():
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if program is None:
        pytest.skip("hadolint is not installed; its wheel is for Linux on x86_64 (requirements-dev.txt)")
    done = subprocess.run([program, "--no-color", str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == ""


def test_the_web_server_is_served_on_the_port_that_all_name():
    alone, web = options_of_serve(commands()["image"]), options_of_serve(commands()["web"])
    exposed = int(re.search(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE)[1])
    probed = int(re.search(r"http://127\.0\.0\.1:(\d+)", PROBE[2])[1])
    proxied = re.search(r"\{\$UPSTREAM:(.*?)\}", (ROOT / "Caddyfile").read_text())[1]
    assert {alone.port, web.port, exposed, probed} == {exposed} and proxied == f"web:{exposed}"
    assert alone.host == web.host == "0.0.0.0"  # noqa: S104
    assert tuple(alone.queues) == settings.QUEUES and web.queues == []


def test_the_workers_take_every_queue():
    taken = []
    for name in OURS.keys() - {"web", "backup"}:
        program, *words = commands()[name]
        assert [program, *words[:3]] == ["celery", "-A", "config.celery", "worker"]
        taken += worker.make_context("worker", words[3:], obj=None, resilient_parsing=True).params["queues"] or []
    assert set(taken) == set(settings.QUEUES)


def test_the_settings_read_each_name():
    read = set(re.findall(r"os\.environ\.get\(\"(\w+)\"", (ROOT / "config/settings.py").read_text()))
    named = re.search(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)[1].split()
    named = {one.partition("=")[0] for one in named} - {"PATH", "HOME", "PYTHONUNBUFFERED"}
    for service in OURS.values():
        named |= service["environment"].keys() - {"WORKER"}  # of compose.yaml's own probe
    assert named - read == set() and {"DATA_DIR", "DATABASE_URL", "BROKER_URL"} <= named
    assert all(service["env_file"] == ".env" for service in OURS.values())


def test_nothing_starts_without_passwords_of_its_own():
    used = set(re.findall(r"\$\{(\w+)", COMPOSE_TEXT))
    demanded = set(re.findall(r"\$\{(\w+):\?", COMPOSE_TEXT))
    assert used == demanded == {"SITE", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    assert not re.search(r"\$\{\w+:?-", COMPOSE_TEXT)  # no default
    hidden = (ROOT / ".gitignore").read_text().split()
    assert ".env" in hidden


def test_the_proxy_alone_is_reached_from_outside():
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"caddy"}
    assert all(service["environment"]["PROXIES"] == "1" == service["environment"]["HTTPS"] for service in OURS.values())


def test_the_image_runs_without_rights():
    assert re.search(r"^USER 10001$", DOCKERFILE, re.MULTILINE) and "--uid 10001" in DOCKERFILE
    for service in OURS.values():
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]


def test_caddy_runs_as_a_user_who_owns_its_volume():
    caddy, owner = SERVICES["caddy"], SERVICES["certificates"]
    assert caddy["user"] == owner["command"][2] == "1000:1000" and caddy["cap_add"] == ["NET_BIND_SERVICE"]
    assert caddy["depends_on"]["certificates"] == {"condition": "service_completed_successfully"}
    assert owner["volumes"] == ["caddy:/data"] and owner["command"][-1] == "/data" and owner["image"] == caddy["image"]
    for service in (caddy, owner):
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]


def test_data_lie_in_a_volume_that_all_share():
    folder = re.search(r"DATA_DIR=(\S+)", DOCKERFILE)[1]
    assert f"VOLUME {folder}" in DOCKERFILE
    assert {tuple(service["volumes"]) for service in OURS.values()} == {(f"data:{folder}",)}
    mounted = {volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert mounted - {"./Caddyfile"} == COMPOSE["volumes"].keys()


def test_the_image_holds_what_runs_and_nothing_else():
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    held = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert lines[0] == "*" and all((ROOT / name).exists() for name in held)
    packages = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"])
    copied = set(re.findall(r"^COPY (?!\.)(\S+) ", DOCKERFILE, re.MULTILINE))
    assert packages | copied | {"manage.py", "templates", "static", "locale", "pyproject.toml"} <= held
    assert not held & {".git", ".env", "var", "tests", "docs", "benchmarks"}


def test_the_image_installs_the_lock_with_its_hashes():
    assert "pip install --no-cache-dir --require-hashes -r /tmp/requirements-cpu.lock" in DOCKERFILE


class TestProbe:
    def ask(self, address: str) -> int:
        code = PROBE[2].replace("http://127.0.0.1:8000", address)
        assert PROBE[:2] == ["python", "-c"] and address in code
        return subprocess.run([sys.executable, "-c", code], capture_output=True).returncode

    def test_it_asks_an_address_that_there_is(self):
        path = re.search(r"8000(/\w+)'", PROBE[2])[1]
        assert resolve(path).url_name == "healthz"

    def test_a_server_that_answers_is_well(self, live_server):
        assert self.ask(live_server.url) == 0

    def test_one_that_does_not_answer_is_not(self):
        assert self.ask("http://127.0.0.1:1") == 1
