"""Programs that a researcher's machine really runs: one that dies in the middle, at its start, answers twice, says nonsense, or
hangs. Each is set up by the command and started from the page and through the API; a worker plays it, fails in words, stores
nothing, and goes on when the job is tried again."""

import io
import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Job
from core.errors import Refused
from leaderboard import tasks
from leaderboard.models import SystemRating, Tournament

pytestmark = pytest.mark.django_db
FAIR = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "score": row["output"].count("good") - row["output"].count("bad")}), flush=True)
"""
RUDE = {  # what the program does: a word of what is said of it
    "dies at its start": ("raise SystemExit(3)", "3"),
    "dies between two answers": (FAIR.replace("flush=True)", 'flush=True)\n    if row["id"] == "2": raise SystemExit(5)'), "5"),
    "answers twice": (FAIR + "    print(json.dumps({'id': row['id'], 'score': 0}), flush=True)\n", "twice"),
    "says no JSON": ("import sys\nfor line in sys.stdin: print('fine', flush=True)\n", "not JSON"),
    "says no number": (FAIR.replace('"score": row["output"].count("good")', '"score": "x" or 1'), "score"),
    "says what is not finite": (FAIR.replace('row["output"].count("good")', 'float("nan")'), "NaN"),
    "stops early, content with itself": (FAIR.replace("flush=True)", 'flush=True)\n    if row["id"] == "2": break'), "3"),
    "hangs": ("import sys, time\nfor line in sys.stdin: pass\ntime.sleep(60)\n", "1"),
    "knows another id": (FAIR.replace('row["id"],', '"no" + row["id"],'), "no0"),
}


def set_up(folder: Path, text: str, *words: str) -> Path:
    """The program, known to the campaign as the judge "mine", without a run of it."""
    program = folder / "program.py"
    program.write_text(text)
    command = f"{sys.executable} {program}"
    call_command(
        "run_tournament",
        "talk",
        "--judge",
        "mine",
        "--judge-command",
        command,
        "--timeout",
        "1.5",
        *words,
        stdout=io.StringIO(),
    )
    return program


def started(world, door: str, seed: int) -> Tournament:
    if door == "page":
        asked = {"basis": "judge", "judge": "mine", "criterion": "", "seed": seed}
        assert world.post(world.alice, reverse("play", args=["talk"]), asked).status_code == 302
    else:
        world.client.force_login(world.alice)
        body = {"basis": "judge", "judge": "mine", "seed": seed}
        response = world.client.post(reverse("api_tournaments", args=["talk"]), body, content_type="application/json")
        assert response.status_code == 201, response.content
    return Tournament.objects.get(seed=seed)


def worker(tournament: Tournament) -> Job:
    """What a worker does with the job, whatever it meets."""
    with suppress(Refused):
        tasks.play(str(tournament.job_id))
    return Job.objects.get(pk=tournament.job_id)


@pytest.mark.parametrize("door", ["page", "api"])
def test_a_fair_one_plays(world, tmp_path, door):
    set_up(tmp_path, FAIR)
    tournament = started(world, door, 7)
    job = worker(tournament)
    assert (job.status, job.error) == ("done", "")
    ratings = dict(SystemRating.objects.filter(tournament=tournament).values_list("system__name", "rating"))
    assert min(ratings, key=ratings.get) == "Poor" and max(ratings, key=ratings.get) in ("Person", "Fine")


@pytest.mark.parametrize("what", RUDE)
def test_a_rude_one_fails_in_words_and_goes_on(world, tmp_path, what):
    text, word = RUDE[what]
    program = set_up(tmp_path, text)
    tournament = started(world, "api", 7)
    job = worker(tournament)
    assert job.status == "failed" and word in job.error and "Traceback" not in job.error, (what, job.status, job.error)
    tournament.refresh_from_db()
    assert tournament.finished_at is None and not SystemRating.objects.filter(tournament=tournament).exists()
    page = world.get(world.alice, reverse("leaderboard", args=["talk"]))
    assert page.status_code == 200
    program.write_text(FAIR)
    answer = world.client.post(f"/api/jobs/{job.pk}/retry/", content_type="application/json")
    assert answer.status_code < 300, answer.content
    assert worker(tournament).status == "done"
    assert json.loads(world.client.get(f"/api/tournaments/{tournament.pk}/").content)["standings"]
