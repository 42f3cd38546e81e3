"""One file with all that an installation keeps: database, comparators' files, files sent for import, pictures, replies of
language models, secret key.

A backup is a ZIP file: `database.sqlite3` (or `database.dump`, PostgreSQL's custom format), `models/`, `uploads/`, `images/`,
`replies/`, `secret_key`, and `manifest.json` with the SHA-256 and the size of each of them.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from core import database_checks
from core.errors import Refused
from core.version import code_version

FORMAT = 1
MANIFEST, SECRET = "manifest.json", "secret_key"
DATABASE = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
CHUNK = 2**20  # bytes


def _folders() -> dict[str, Path]:
    kept = {"models": settings.MODELS_DIR, "uploads": settings.UPLOADS_DIR, "images": settings.IMAGES_DIR}
    return kept | {"replies": settings.REPLIES_DIR}


def back_up(file: Path, with_key: bool = True) -> dict[str, Any]:
    """Write a backup; returns its manifest. People may go on annotating: the database's copy is its state at one moment, and
    what it names is copied with it. Trainings under way are not in it; they begin again. Raises Refused.

    with_key: False leaves the secret key out, without which nobody reads what is sealed in the database."""
    if file.exists():
        raise Refused(f"{file} is there already; name a new file.")
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", allowZip64=True) as archive, tempfile.TemporaryDirectory(dir=file.parent) as work:
            manifest = _fill(archive, Path(work), with_key)
        os.replace(part, file)
    except OSError as error:
        raise Refused(f"The backup could not be written to {file} ({error.strerror}).") from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def _fill(archive: zipfile.ZipFile, work: Path, with_key: bool) -> dict[str, Any]:
    """Files sent for import go when they are stored, and others come: they are copied before the database and after it."""
    files: dict[str, dict[str, Any]] = {}
    _add_folder(archive, files, "uploads")
    name = DATABASE[connection.vendor]
    copy = work / name
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        with database_checks.told():
            copy_sqlite(connection.connection, copy)
        rows = database_checks.rows_of_sqlite(copy)
    else:
        with database_checks.snapshot(connection) as (name_of_snapshot, rows):
            snapshot = f"--snapshot={name_of_snapshot}"
            _run_postgres("pg_dump", "--format=custom", "--no-owner", snapshot, f"--file={copy}")
        _run_postgres("pg_restore", "--list", "--file=/dev/null", str(copy))
    _add(archive, files, copy, name)
    for folder in _folders():
        _add_folder(archive, files, folder)
    key = settings.SECRET_KEY.encode()
    if with_key:
        archive.writestr(SECRET, key)
        files[SECRET] = {"sha256": hashlib.sha256(key).hexdigest(), "bytes": len(key)}
    manifest = {
        "format": FORMAT,
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "code": code_version(),
        "database": connection.vendor,
        "migrations": sorted(".".join(name) for name in MigrationLoader(connection).applied_migrations),
        "rows": rows,
        "key": _named(settings.SECRET_KEY),
        "files": files,
    }
    archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
    return manifest


def _named(key: str) -> str:
    """Tells whether a key is the one of a backup, and not what it is: keys are random."""
    return hashlib.sha256(b"comparena key " + key.encode()).hexdigest()


def copy_sqlite(source: sqlite3.Connection, path: Path) -> None:
    """SQLite's own backup, in one step: the state after the last commit, while others read and write."""
    with sqlite3.connect(path) as target:
        source.backup(target)
    target.close()


def _add_folder(archive: zipfile.ZipFile, files: dict[str, dict[str, Any]], folder: str) -> None:
    root = _folders()[folder]
    for path in sorted(root.rglob("*")) if root.is_dir() else []:
        within = path.relative_to(root)
        name = f"{folder}/{within.as_posix()}"
        if path.is_file() and name not in files and not any(part.startswith(".") for part in within.parts):
            try:
                _add(archive, files, path, name)
            except FileNotFoundError:
                continue  # it was stored meanwhile


def _add(archive: zipfile.ZipFile, files: dict[str, dict[str, Any]], path: Path, name: str) -> None:
    pressed = zipfile.ZIP_STORED if name.startswith("models/") else zipfile.ZIP_DEFLATED  # weights do not get smaller
    with path.open("rb") as source:
        information = zipfile.ZipInfo.from_file(path, name)
        information.compress_type = pressed
        with archive.open(information, "w", force_zip64=True) as target:
            digest, size = hashlib.sha256(), 0
            for chunk in _chunks(source):
                digest.update(chunk)
                size += len(chunk)
                target.write(chunk)
    files[name] = {"sha256": digest.hexdigest(), "bytes": size}


def restore(file: Path) -> dict[str, Any]:
    """Bring a backup into an installation that holds nothing yet; returns its manifest. Everything is checked before anything
    is written. Raises Refused."""
    _refuse_where_something_is()
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _checked(archive, file)
            _refuse_another_key(manifest, file)
            with tempfile.TemporaryDirectory(dir=settings.DATA_DIR) as work:
                archive.extractall(work)
                if connection.vendor == "sqlite":
                    database_checks.rows_of_sqlite(Path(work) / DATABASE["sqlite"])
                _bring_in(Path(work), manifest)
    except (OSError, zipfile.BadZipFile) as error:
        raise Refused(f"{file} can't be restored: {error}.") from error
    return manifest


def verify(file: Path) -> dict[str, Any]:
    """Restore a backup's database into an empty place beside ours, and compare: every file's SHA-256, the database's own
    checks, and the rows of each table. Returns the manifest. Raises Refused."""
    try:
        with zipfile.ZipFile(file) as archive, tempfile.TemporaryDirectory(dir=settings.DATA_DIR) as work:
            manifest = _checked(archive, file)
            copy = Path(archive.extract(DATABASE[manifest["database"]], work))
            if connection.vendor == "sqlite":
                rows = database_checks.rows_of_sqlite(copy)
            else:
                with database_checks.empty_database(connection) as name:
                    into = f"--dbname={name}"
                    _run_postgres("pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", into, str(copy))
                    rows = database_checks.rows_of_postgres(connection, name)
    except (OSError, zipfile.BadZipFile) as error:
        raise Refused(f"{file} can't be read: {error}.") from error
    said = manifest.get("rows", rows)  # backups of 0.1 do not count them
    if different := sorted(table for table in {*said, *rows} if said.get(table) != rows.get(table)):
        counts = f"{rows.get(different[0])} rows, and {said.get(different[0])} when it was made"
        raise Refused(f"{file} does not hold what was backed up: the table {different[0]} has {counts}.")
    return manifest


def _refuse_where_something_is() -> None:
    if _tables():
        raise Refused("The database is not empty; a backup is restored into an empty place only.")
    for name, folder in _folders().items():
        if folder.is_dir() and any(folder.iterdir()):
            raise Refused(f"The folder {name} is not empty; a backup is restored into an empty place only.")


def _refuse_another_key(manifest: dict[str, Any], file: Path) -> None:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if SECRET not in manifest["files"] and manifest["key"] not in map(_named, keys):
        raise Refused(f"{file} was made without its secret key: set SECRET_KEY to that key. Second factors and links need it.")


def _tables() -> list[str]:
    return list(connection.introspection.table_names())


def _checked(archive: zipfile.ZipFile, file: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
        files, known = manifest["files"], manifest["format"]
    except (KeyError, ValueError, TypeError):
        raise Refused(f"{file} is no backup of Comparena: it has no readable {MANIFEST}.") from None
    if known != FORMAT:
        raise Refused(f"{file} has the format {known}; this version reads {FORMAT}.")
    if manifest["database"] != connection.vendor:
        raise Refused(f"{file} holds a {manifest['database']} database; this installation uses {connection.vendor}.")
    if unknown := sorted(set(manifest["migrations"]) - _migrations_known()):
        raise Refused(f"{file} was made by a newer version, which has the migration {unknown[-1]}; update first.")
    if sorted(archive.namelist()) != sorted([*files, MANIFEST]):
        raise Refused(f"{file} does not hold the files that its manifest names.")
    for name, said in files.items():
        if not _is_ours(name):
            raise Refused(f"{file} holds {name!r}, which is no part of a backup.")
        digest = hashlib.sha256()
        with archive.open(name) as source:
            for chunk in _chunks(source):
                digest.update(chunk)
        if digest.hexdigest() != said["sha256"]:
            raise Refused(f"{file} is damaged: {name} has not the SHA-256 that the manifest names.")
    return manifest


def _migrations_known() -> set[str]:
    """Of the code, and those that it has put together into one."""
    loader = MigrationLoader(None)
    return {".".join(key) for key in {*loader.disk_migrations, *loader.replacements}}


def _is_ours(name: str) -> bool:
    folder, *within = name.split("/")
    if not within:
        return name in (SECRET, *DATABASE.values())
    return folder in _folders() and not any(part in ("", ".", "..") or "\\" in part for part in within)


def _bring_in(work: Path, manifest: dict[str, Any]) -> None:
    """The database last: where it is there, the rest is."""
    for name, folder in _folders().items():
        if (work / name).is_dir():
            shutil.rmtree(folder, ignore_errors=True)  # empty
            shutil.move(work / name, folder)
    if SECRET in manifest["files"] and not os.environ.get("SECRET_KEY"):
        os.replace(work / SECRET, settings.DATA_DIR / SECRET)
    copy = work / DATABASE[manifest["database"]]
    if connection.vendor == "sqlite":
        path = Path(connection.settings_dict["NAME"])
        connection.close()
        for left in ("", "-wal", "-shm"):  # of the empty one that looking at it has made
            path.with_name(path.name + left).unlink(missing_ok=True)
        shutil.move(copy, path)
    else:
        connection.close()
        into = f"--dbname={connection.settings_dict['NAME']}"
        _run_postgres("pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", into, str(copy))


def _run_postgres(program: str, *words: str) -> None:
    """pg_dump or pg_restore on the database of the settings. The password stands in its environment, where no list of
    processes shows it."""
    if shutil.which(program) is None:
        raise Refused(f"{program} is not installed; it comes with PostgreSQL's client programs.")
    own = connection.settings_dict
    told = {f"PG{name}": own[name] for name in ("HOST", "PORT", "USER", "PASSWORD")} | {"PGDATABASE": own["NAME"]}
    told |= {f"PG{name.upper()}": own.get("OPTIONS", {}).get(name) for name in ("sslmode", "sslrootcert", "sslcert", "sslkey")}
    environment = os.environ | {name: str(value) for name, value in told.items() if value}
    done = subprocess.run([program, *words], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{program} failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}")


def _chunks(source: BinaryIO | Any) -> Iterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk
