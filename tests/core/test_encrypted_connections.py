"""PostgreSQL and Redis on another machine: passwords and texts travel encrypted, to the server that was meant. Real servers
with a certificate for the name `localhost`, of a certificate authority made for the test."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PASSWORD = "7b-of-the-test"  # noqa: S105
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
MISSING = [name for name in ("openssl", "redis-server") if not shutil.which(name)]
pytestmark = pytest.mark.skipif(
    bool(MISSING) or not PROGRAMS, reason="needs openssl, redis-server and PostgreSQL (scripts/install_test_tools)"
)
AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """ca.pem, another-ca.pem, and server.pem with server.key, signed by the first for `localhost`."""
    folder = tmp_path_factory.mktemp("keys")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ("ca", "another-ca"):
        openssl("req", "-x509", *new_key, "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
    openssl("req", *new_key, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    signed_by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    openssl("x509", "-req", "-in", "server.csr", *signed_by, "-days", "2", "-extfile", "names", "-out", "server.pem")
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def served(command, port, **options):
    """A server until the block ends; it has answered on its port."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, f"{command[0]} did not start"
            time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def redis(keys):
    """The address of a Redis that speaks TLS alone and lets in one user, less what it says of certificates."""
    port = free_port()
    command = f"redis-server --port 0 --tls-port {port} --bind 127.0.0.1 --tls-auth-clients no --save '' --dir {keys}"
    command += f" --tls-cert-file {keys}/server.pem --tls-key-file {keys}/server.key --tls-ca-cert-file {keys}/ca.pem"
    users = [
        "--user",
        "default",
        "off",
        "--user",
        "comparena",
        "on",
        f">{PASSWORD}",
        "~*",
        "&*",
        "+@all",
        "-@dangerous",
        "+info",
    ]
    with served([*command.replace("''", "").split(), *users], port):
        yield f"rediss://comparena:{PASSWORD}@localhost:{port}/0"


@pytest.fixture(scope="module")
def postgres(keys, tmp_path_factory):
    """The address of a PostgreSQL that speaks TLS alone, less what it says of certificates."""
    folder, port = tmp_path_factory.mktemp("postgres"), free_port()
    for path in (folder, *folder.parents):  # PostgreSQL refuses to run as root
        if path.stat().st_uid == os.geteuid() and AS_POSTGRES and path.name.startswith(("postgres", "pytest-", "popen-")):
            path.chmod(path.stat().st_mode | 0o711)
    if AS_POSTGRES:
        shutil.chown(folder, "postgres", "postgres")
    password = folder / "password"
    password.write_text(PASSWORD)
    password.chmod(0o644)
    start = dict(cwd="/", check=True, capture_output=True)
    initdb = [PROGRAMS[-1] / "initdb", "-D", folder / "data", "-U", "comparena", "-A", "scram-sha-256", f"--pwfile={password}"]
    subprocess.run([*AS_POSTGRES, *map(str, initdb)], **start)
    for name in ("server.pem", "server.key"):
        shutil.copy(keys / name, folder / "data" / name)
        (folder / "data" / name).chmod(0o600)
        if AS_POSTGRES:
            shutil.chown(folder / "data" / name, "postgres", "postgres")
    (folder / "data" / "pg_hba.conf").write_text("hostssl all comparena 127.0.0.1/32 scram-sha-256\n")
    settings = ["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key", "listen_addresses=127.0.0.1", "fsync=off"]
    command = [str(PROGRAMS[-1] / "postgres"), "-D", str(folder / "data"), "-p", str(port), "-k", str(folder)]
    with served([*AS_POSTGRES, *command, *(word for one in settings for word in ("-c", one))], port, cwd="/"):
        yield f"postgres://comparena:{PASSWORD}@localhost:{port}/postgres"


def run(folder, code, **environment) -> subprocess.CompletedProcess:
    """Code with the settings that the environment names, in a process of its own."""
    env = {**os.environ, "DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", **environment}
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)


CACHE = "from django.core.cache import cache; cache.set('x', 7); print(cache.get('x'))"
BROKER = """
from config.celery import app
with app.connection_for_write() as connection:
    connection.ensure_connection(max_retries=0)
    print(connection.default_channel.client.ping())
"""
PROBE = "import django; django.setup(); from annotation import health; print(health._broker())"


class TestRedis:
    def test_cache_broker_and_probe_speak_tls(self, tmp_path, redis, keys):
        address = f"{redis}?ssl_ca_certs={keys}/ca.pem"
        for code, said in ((CACHE, "7"), (BROKER, "True"), (PROBE, "ok")):
            done = run(tmp_path, code, BROKER_URL=address, DATABASE_URL="")
            assert (done.returncode, done.stdout.strip()) == (0, said), done.stderr

    @pytest.mark.parametrize("code", [CACHE, BROKER], ids=["cache", "broker"])
    def test_a_stranger_s_certificate_is_refused_without_being_told_to(self, tmp_path, redis, keys, code):
        for address in (f"{redis}?ssl_ca_certs={keys}/another-ca.pem", redis):
            done = run(tmp_path, code, BROKER_URL=address, DATABASE_URL="")
            assert done.returncode and "CERTIFICATE_VERIFY_FAILED" in done.stderr

    @pytest.mark.parametrize("code", [CACHE, BROKER], ids=["cache", "broker"])
    def test_another_name_than_the_certificate_s_is_refused(self, tmp_path, redis, keys, code):
        address = f"{redis.replace('localhost', '127.0.0.1')}?ssl_ca_certs={keys}/ca.pem"
        done = run(tmp_path, code, BROKER_URL=address, DATABASE_URL="")
        assert done.returncode and "CERTIFICATE_VERIFY_FAILED" in done.stderr

    def test_an_operator_may_say_otherwise(self, tmp_path, redis):
        done = run(tmp_path, BROKER, BROKER_URL=f"{redis}?ssl_cert_reqs=none", DATABASE_URL="")
        assert done.stdout.strip() == "True", done.stderr


SSL = """
from django.db import connection
cursor = connection.cursor()
cursor.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
print(cursor.fetchone()[0], connection.settings_dict["OPTIONS"])
"""


class TestPostgreSQL:
    def test_the_connection_is_encrypted_and_checked(self, tmp_path, postgres, keys):
        address = f"{postgres}?sslmode=verify-full&sslrootcert={keys}/ca.pem"
        done = run(tmp_path, SSL, DATABASE_URL=address)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("True") and "'prepare_threshold': 5" in done.stdout

    def test_a_stranger_s_certificate_is_refused(self, tmp_path, postgres, keys):
        address = f"{postgres}?sslmode=verify-full&sslrootcert={keys}/another-ca.pem"
        done = run(tmp_path, SSL, DATABASE_URL=address)
        assert done.returncode and "certificate verify failed" in done.stderr

    def test_another_name_than_the_certificate_s_is_refused(self, tmp_path, postgres, keys):
        address = f"{postgres.replace('localhost', '127.0.0.1')}?sslmode=verify-full&sslrootcert={keys}/ca.pem"
        done = run(tmp_path, SSL, DATABASE_URL=address)
        assert done.returncode and "does not match host name" in done.stderr

    def test_a_backup_checks_the_server_too(self, tmp_path, postgres, keys):
        """pg_dump would take any server without being told."""
        code = "from core.backups import _run_postgres; _run_postgres('pg_dump', '--schema-only')"
        done = run(tmp_path, code, DATABASE_URL=f"{postgres}?sslmode=verify-full&sslrootcert={keys}/ca.pem")
        assert done.returncode == 0, done.stderr
        done = run(tmp_path, code, DATABASE_URL=f"{postgres}?sslmode=verify-full&sslrootcert={keys}/another-ca.pem")
        assert done.returncode and "certificate verify failed" in done.stderr
