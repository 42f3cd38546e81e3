"""What an upload may leave behind: rows of every table, and files in the folders for files."""

import logging
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from annotation.models import Upload
from tests.annotation.data.malformed import FUZZ_CASES
from tests.annotation.pages import World

# What is said of a file as a whole, which has no line.
OF_THE_WHOLE = re.compile(
    "is empty|is longer|can't be (read|unpacked)|holds (the path|no|[0-9]+ files|a file without a name)|is a file of"
    "|is encrypted|is packed|stands twice|is no column of this file|spreads over"
    "|has points in numbers and in words|has [0-9]+ values|has other row labels|has no sheet|something stands after|is not UTF-"
    "|is 0 in some rows|is in no row|is (an?|no) .*; (end its name|save it|send|export|unpack|take .gz off)"
)
# What Python says of itself, and no person would.
PYTHON = re.compile(
    r"Traceback|object at 0x|<class|<[A-Z]\w+ |Errno|NoneType|\w+Error\b|\w\.\w+\(|\bself\b|do you need|\bb'|\bZipInfo|codec"
)


class Stores:
    """The database and the disk: `uploads` and `images` hold what they should, `temporary` holds nothing."""

    def __init__(self, folder: Path, settings, monkeypatch):
        self.folder, self.outcomes = folder, Counter()
        for name in ("UPLOADS_DIR", "IMAGES_DIR", "FILE_UPLOAD_TEMP_DIR"):
            setattr(settings, name, folder / name)
            (folder / name).mkdir(parents=True, exist_ok=True)
        settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1000  # bytes: longer files lie in the temporary folder while they are read
        monkeypatch.setattr(tempfile, "tempdir", str(folder / "FILE_UPLOAD_TEMP_DIR"))

    def rows(self) -> dict[str, int]:
        """{model: rows}, in one query; without jobs and uploads, which say what became of a file."""
        models = [m for app in ("annotation", "evaluator", "leaderboard") for m in apps.get_app_config(app).get_models()]
        counted = [m for m in models if m.__name__ not in ("Upload", "Job", "KeptResponse", "User", "ApiToken")]
        query = " UNION ALL ".join(f"SELECT '{m.__name__}', COUNT(*) FROM {m._meta.db_table}" for m in counted)
        with connection.cursor() as cursor:
            cursor.execute(query)
            return dict(cursor.fetchall())

    def sweep(self) -> None:
        """Delete what writing a test's file may have left: openpyxl leaves half a sheet where a value can't be written."""
        for path in (self.folder / "FILE_UPLOAD_TEMP_DIR").iterdir():
            path.unlink()

    def files(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())

    def check_files(self, images=()) -> None:
        """Only uploads that wait for somebody have a file, and only images that were taken."""
        waiting = {f"UPLOADS_DIR/{pk}" for pk in Upload.objects.exclude(state=Upload.State.STORED).values_list("pk", flat=True)}
        assert set(self.files()) == waiting | {f"IMAGES_DIR/{name}" for name in images}

    def tell(self, what: str) -> None:
        if FUZZ_CASES:
            print(f"{what}: {sum(self.outcomes.values())} sent,", dict(self.outcomes), flush=True)


@pytest.fixture
def stores(tmp_path, settings, monkeypatch):
    return Stores(tmp_path / "kept", settings, monkeypatch)


@pytest.fixture
def receiving(tmp_path, client, stores, monkeypatch):
    """receiving(**settings): a world with a campaign of these settings, its researcher signed in. Jobs wait."""
    monkeypatch.setattr("annotation.jobs.send", lambda job: None)
    logging.disable(logging.WARNING)  # each refusal is a line of the log
    yield lambda **settings: (world := World(tmp_path, client, **settings)).sign_in(world.alice)
    logging.disable(logging.NOTSET)


def check_said(errors: list[dict], name: str) -> None:
    """Each of the errors of a file, as the API and an upload have them, says in words what is wrong, and where."""
    assert 0 < len(errors) <= 200
    for error in errors:
        file, field, message = error["file"], error["field"] or "", error["message"]
        assert file == name or file.startswith(f"{name}/"[:100]), file
        assert error["line"] or error["row"] or OF_THE_WHOLE.search(message), error
        check_sentence(message)
        assert len(file) <= 300 and len(field) <= 80, (file, field)
        assert not re.search(r"[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", file + field + message), error


def check_sentence(told: str) -> None:
    quoted = re.sub(r"'[^']*'|\"[^\"]*\"", "…", told)  # what the file itself says
    assert "\n" not in told and not PYTHON.search(quoted), told
    assert len(told) < 400, told


def check_problem(answer) -> dict:
    """An error of the API is a problem document."""
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem.keys() == {"type", "title", "status", "detail", "request_id", "errors", "message"}
    assert problem["status"] == answer.status_code and problem["errors"]
    return problem
