"""A large file is read beside its worker: what is sent after it does not wait for it."""

import json
import time

from tests.worker.test_worker import corpus, shell  # noqa: F401 a fixture

IMPORT = """
from annotation.data import uploads
from annotation.models import Campaign
from django.core.files.base import File
with open({path!r}, "rb") as file:
    uploads.import_later(Campaign.objects.get(slug={slug!r}), File(file, name={name!r}), "outputs")
print("null")
"""
JOBS = """
from annotation.models import Job
jobs = Job.objects.filter(title__startswith="Import")
print(json.dumps({job.title: [job.status, job.error, str(job.started_at), str(job.finished_at)] for job in jobs}))
"""
STORED = """
from annotation.models import Output
print(json.dumps(Output.objects.filter(context__key__startswith="l").count()))
"""


def test_a_small_import_passes_a_large_one(shell):  # noqa: F811
    corpus(shell)
    row = {"context": "Would you like tea?", "system": "good", "output": "yes " * 60}
    large = "".join(json.dumps(row | {"context_id": f"l{n}"}) + "\n" for n in range(18_000))  # 6 MB, seconds to read
    for name, text in (("large.jsonl", large), ("small.jsonl", json.dumps(row | {"context_id": "s"}) + "\n")):
        path = shell.folder / name
        path.write_text(text)
        shell.python(IMPORT.format(path=str(path), slug=shell.slug, name=name))
    shell.worker("-Q", "interactive")
    end = time.monotonic() + 300
    while {status for status, *_ in shell.python(JOBS).values()} != {"done"}:
        assert time.monotonic() < end, (shell.python(JOBS), (shell.folder / "worker.log").read_text())
        time.sleep(0.2)
    jobs = shell.python(JOBS)
    assert jobs["Import small.jsonl"][3] < jobs["Import large.jsonl"][3]
    assert shell.python(STORED) == 18_000
