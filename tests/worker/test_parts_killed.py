"""Real workers at a job in parts: one is killed while it holds a part, and the job ends with every part once."""

import time

from tests.worker.test_worker import shell  # noqa: F401 a fixture

ENQUEUE = "from annotation import jobs; print(json.dumps(str(jobs.enqueue('tests.squares', 'Squares').pk)))"
STATUS = "print(json.dumps(list(Job.objects.values_list('status', 'attempts', 'error'))))"
PARTS = "print(json.dumps(list(JobPart.objects.order_by('number').values_list('result', 'attempts'))))"
SQUARES = "[0, 1, 4, 9, 16, 25]\n"


def ended(shell, seconds=600):  # noqa: F811
    end = time.monotonic() + seconds
    while (said := shell.python(STATUS))[0][0] in ("queued", "running"):
        assert time.monotonic() < end, (said, (shell.folder / "worker.log").read_text())
        time.sleep(0.1)
    return said


def test_its_part_is_done_by_the_next(shell):  # noqa: F811
    shell.env |= {"MERGED_FILE": str(shell.folder / "merged"), "HOLD_PART": "1"}
    shell.python(ENQUEUE)
    first = shell.worker("--include=tests.worker.hold_part")
    shell.wait_until_held(first)
    shell.kill(first)
    assert shell.python(PARTS) == [[0, 1], [1, 1], [None, 1], [None, 0], [None, 0], [None, 0]]
    del shell.env["HOLD_PART"]
    shell.worker("--include=tests.worker.hold_part")
    assert ended(shell) == [["done", 2, ""]]
    assert (shell.folder / "merged").read_text() == SQUARES


def test_a_helper_that_dies_does_not_hold_the_job_up(shell):  # noqa: F811
    """Two workers; the one that holds a part is killed, whichever it is."""
    shell.env |= {"MERGED_FILE": str(shell.folder / "merged"), "HOLD_PART": "1"}
    holder = shell.worker("--include=tests.worker.hold_part", "--hostname=first@%h")
    shell.python(ENQUEUE)
    shell.wait_until_held(holder)
    del shell.env["HOLD_PART"]
    shell.worker("--include=tests.worker.hold_part", "--hostname=second@%h")
    end = time.monotonic() + 600
    while len([1 for result, _ in shell.python(PARTS) if result is not None]) < 5:  # all but the held one
        assert time.monotonic() < end, (shell.folder / "worker.log").read_text()
        time.sleep(0.1)
    assert shell.python(STATUS)[0][0] == "running"
    shell.kill(holder)
    assert ended(shell)[0][0] == "done"
    assert (shell.folder / "merged").read_text() == SQUARES
