"""A judge of every family is started from the page and from the API, and plays in the task that a worker runs."""

import hashlib
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse

from annotation.models import Job
from evaluator import tasks as training
from evaluator.judge_tables import exports
from evaluator.models import Judge, Reply
from evaluator.roster import candidates, judge_named
from evaluator.trainings.services import start_training
from leaderboard import tasks
from leaderboard.boards.basis import HELD_BACK
from leaderboard.models import Game, Tournament
from tests.evaluator.judges.rude_server import RudeServer
from tests.evaluator.judges.stub_server import Server
from tests.evaluator.metrics.conftest import saved
from tests.evaluator.world import SCORES, command, recipe, tiny_encoder, write

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
SCORE = "import json, sys\nfor line in sys.stdin:\n row = json.loads(line)\n print(json.dumps({'id': row['id'], 'score': %s}))"
BETTER = "float('good' in row['output'])"


@pytest.fixture
def server():
    one = Server()
    yield one
    one.close()


def metric(world, server) -> str:
    return "rouge-1"


def imported(world, server) -> str:
    rows = [{"context_id": r["context_id"], "system": r["system"], "score": SCORES[r["system"]]} for r in world.rows]
    command("import_judge_scores", "talk", write(world.folder, "elsewhere.jsonl", rows), "--judge", "elsewhere")
    return "elsewhere"


def program(world, server) -> str:
    run = shlex.join([sys.executable, "-c", SCORE % BETTER])
    command("set_up_judge", "talk", "--name", "good words", "--judge-command", run)
    return "good words"


def reward_model(world, server) -> str:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(1)
    size = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    config = BertConfig(vocab_size=37, max_position_embeddings=64, num_labels=1, **size)
    folder = saved(world.folder / "tiny-reward", BertForSequenceClassification(config), tiny_encoder())
    command("set_up_judge", "talk", "--reward-model", folder)
    return Path(folder).name


def metric_with_a_model(world, server) -> str:
    command("set_up_judge", "talk", "--metric", "cosim", "--encoder", tiny_encoder(), "--pooling", "cls")
    return f"cosim, {Path(tiny_encoder()).name}"


def language_model(world, server) -> str:
    command(
        "set_up_judge",
        "talk",
        "--language-model",
        "tiny",
        "--url",
        server.url,
        "--calls",
        "1000",
        "--price",
        "2",
        "10",
        "--connections",
        "1",
    )
    return "tiny"


def jury(world, server) -> str:
    imported(world, server)
    command("set_up_judge", "talk", "--name", "panel", "--jury", "rouge-1", language_model(world, server), "elsewhere")
    return "panel"


def utility_comparator(world, server) -> str:
    return training.run(start_training([world.campaign], foreground=True, recipe=recipe(epochs=1)).job_id).name


def joint_comparator(world, server) -> str:
    chosen = recipe(architecture="joint", epochs=1)
    return training.run(start_training([world.campaign], foreground=True, recipe=chosen).job_id).name


FAMILIES = {
    metric: Judge.Kind.METRIC,
    metric_with_a_model: Judge.Kind.MODEL_METRIC,
    imported: Judge.Kind.IMPORTED,
    program: Judge.Kind.PROGRAM,
    reward_model: Judge.Kind.REWARD_MODEL,
    language_model: Judge.Kind.LANGUAGE_MODEL,
    jury: Judge.Kind.JURY,
    utility_comparator: Judge.Kind.COMPARATOR,
    joint_comparator: Judge.Kind.COMPARATOR,
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_it_plays_from_the_page_and_from_the_api(world, server, family):
    name = family(world, server)
    assert name in {one.name for one in candidates(world.campaign)}
    Tournament.objects.all().delete()  # what a promoted comparator plays by itself
    page = reverse("play", args=["talk"])
    form = world.get(world.alice, page).content.decode()
    assert f'<option value="{name}"' in form and server.url not in form and "sys.stdin" not in form
    world.post(world.alice, page, {"basis": "judge", "judge": name, "seed": 3, "games": 20})
    asked = {"basis": "judge", "judge": name, "seed": 4, "games": 20}
    made = world.client.post(reverse("api_tournaments", args=["talk"]), asked, "application/json")
    assert made.status_code == 201 and made.json()["kind"] == FAMILIES[family]
    for seed in (3, 4):
        waiting = Tournament.objects.get(seed=seed)
        assert waiting.job.status == Job.Status.QUEUED and waiting.judge == judge_named(world.campaign, name)
        tasks.play(str(waiting.job_id))
        done = Tournament.objects.get(seed=seed)
        assert done.finished_at and done.played == 20 and done.judge.kind == FAMILIES[family], done.job.error
        board = world.get(world.alice, f"/api/tournaments/{done.pk}/").json()
        assert board["basis"]["kind"] == "judge" and board["basis"]["judge"]["name"] == name and len(board["standings"]) >= 3


class TestLanguageModel:
    def start(self, world, seed: int) -> Tournament:
        world.post(world.alice, reverse("play", args=["talk"]), {"basis": "judge", "judge": "tiny", "seed": seed, "games": 20})
        return Tournament.objects.get(seed=seed)

    def test_a_run_that_dies_goes_on_and_asks_nothing_twice(self, world, server, monkeypatch):
        """It dies as a killed worker does: nothing is caught, and what was being answered is lost."""
        language_model(world, server)
        started, asked = self.start(world, 1), len(server.requests)
        from evaluator.worker.replies import RowReplies

        keep = RowReplies.keep

        def dies(replies, key, reply):
            if replies.judge.replies.count() == 7:
                raise SystemExit("killed")
            keep(replies, key, reply)

        monkeypatch.setattr(RowReplies, "keep", dies)
        with pytest.raises(SystemExit):
            tasks.play(str(started.job_id))
        assert Reply.objects.count() == 7 and len(server.requests) == asked + 8
        monkeypatch.setattr(RowReplies, "keep", keep)
        Job.objects.filter(pk=started.job_id).update(status=Job.Status.QUEUED, lease_until=None)  # as its lease runs out
        tasks.play(str(started.job_id))
        done = Tournament.objects.get(pk=started.pk)
        used = world.get(world.alice, f"/api/tournaments/{done.pk}/").json()["basis"]["judge"]["used"]
        assert done.finished_at and used["kept"] == 7
        said = [json.dumps(request, sort_keys=True) for request in server.requests]
        assert len(said) - len(set(said)) == 1  # the one whose answer was lost
        row = Judge.objects.get(name="tiny")
        assert row.calls == len(server.requests) and (row.tokens_read, row.tokens_written) == (200 * row.calls, 20 * row.calls)
        tasks.run(self.start(world, 2).job_id)
        again = [json.dumps(request, sort_keys=True) for request in server.requests]
        assert len(again) - len(set(again)) == 1  # nor does the next tournament ask what is known

    def test_its_money_is_a_limit_for_all_workers(self, world, server):
        """A call costs (200 x 2 + 20 x 10) / 1e6 = 0.0006, and the next may cost (300 x 10) / 1e6 = 0.003 at most more."""
        words = ("--language-model", "tiny", "--url", server.url, "--calls", "1000", "--price", "2", "10")
        words += ("--connections", "1")
        command("set_up_judge", "talk", *words, "--money", "0.0061")
        started = self.start(world, 1)
        with pytest.raises(Exception, match="budget of 0.0061 for tiny does not reach for another call; 0.0036 is spent"):
            tasks.run(started.job_id)
        assert len(server.requests) == 6
        command("set_up_judge", "talk", *words, "--money", "10")
        tasks.run(self.start(world, 2).job_id)
        assert len({json.dumps(request, sort_keys=True) for request in server.requests}) == len(server.requests)

    def test_only_the_variable_s_name_is_stored(self, world, server, monkeypatch):
        monkeypatch.setenv("MY_KEY", "sk-secret")
        words = ("set_up_judge", "talk", "--language-model", "tiny", "--url", server.url, "--calls", "1000")
        with pytest.raises(CommandError, match="never the key itself"):
            command(*words, "--key", "sk-secret")
        command(*words, "--key", "MY_KEY")
        tasks.run(self.start(world, 1).job_id)
        assert server.headers[-1][1] == "Bearer sk-secret"
        stored = json.dumps([list(Judge.objects.values("settings")), list(Tournament.objects.values("settings", "signature"))])
        assert "sk-secret" not in stored and "MY_KEY" in stored

    def test_other_settings_need_another_name(self, world, server):
        language_model(world, server)
        tasks.run(self.start(world, 1).job_id)
        with pytest.raises(CommandError, match="There is a judge 'tiny' already, with other settings"):
            command("set_up_judge", "talk", "--language-model", "tiny", "--url", server.url + "/other", "--calls", "9")


class TestPrompts:
    """A prompt of the campaign's own, and scores."""

    FILE = "---\nasks: score\nscale: 0 to 9\n---\n# Question\n{examples}\n\nHow good{criterion}? {scale}\n\n{texts}\n"

    def test_a_file_becomes_a_row_and_its_scores_play_and_stand_in_a_table(self, world, server, tmp_path):
        file = tmp_path / "strict.md"
        file.write_text(self.FILE)
        words = ("--language-model", "tiny", "--url", server.url, "--calls", "1000", "--connections", "1")
        words += ("--prompt", str(file), "--examples", "3")
        forecast = command("run_tournament", "talk", *words, "--forecast", "--criterion", "Overall")
        assert forecast["calls"] == len({(r["context"][-1], r["output"]) for r in world.rows}) and not Judge.objects.exists()
        assert command("set_up_judge", "talk", *words)["judges"][0]["name"] == "tiny"
        row = world.campaign.judge_prompts.get()
        assert (row.name, row.text) == ("strict", self.FILE) and hashlib.sha256(row.text.encode()).hexdigest() == row.digest
        board = self.board(world, 1)
        judge, people = board["basis"]["judge"], sum("What people answered" in json.dumps(r) for r in server.requests)
        assert judge["reads"] == "pointwise" and judge["used"]["calls"] == len(server.requests) == people == forecast["calls"]
        settings = {one["name"]: one["value"] for one in judge["settings"]}
        assert (settings["prompt_file"], settings["prompt_file_sha256"]) == ("strict", row.digest)
        asked_with = Tournament.objects.get().settings["judge_record"]["settings"]["asked"]
        shown = [one for one in world.rows if json.dumps(one["output"])[1:-1] in asked_with]
        assert "0 to 9" in asked_with and shown and settings["asked"] == HELD_BACK  # the examples are people's answers
        world.campaign.board_is_public = True
        world.campaign.save()
        pages = [
            Client().get(f"/c/talk/leaderboard/?judge=tiny&basis=judge{more}").content.decode()
            for more in ("", "&criterion=Overall")
        ]
        pages += [Client().get(f"/tournaments/{Tournament.objects.get().pk}/").content.decode()]
        assert all("tiny" in page for page in pages)
        assert not any(one["output"] in page for one in world.rows for page in pages)
        good = {one["system"] for one in world.rows if "good" in one["output"]}
        ranks = [one["system"] for one in board["standings"]]
        assert ranks[0] in good and ranks[-1] not in good
        asked = len(server.requests)
        table = command("evaluate_judges", "talk", *words, "--judge", "tiny", "--seed", "1")["tables"]["all"]["rows"]
        (scored,) = [one for one in table if one["name"] == "tiny"]
        assert scored["settings"]["prompt_file"] == "strict" and scored["settings"]["kept"] == asked == len(server.requests)
        assert scored["outputs"] == len(world.rows)
        file.write_text(self.FILE.replace("How good", "How bad"))
        with pytest.raises(CommandError, match="There is a judge 'tiny' already, with other settings"):
            command("set_up_judge", "talk", *words)

    def board(self, world, seed: int) -> dict:
        tasks.run(TestLanguageModel().start(world, seed).job_id)
        return world.get(world.alice, f"/api/tournaments/{Tournament.objects.get(seed=seed).pk}/").json()

    def test_what_is_asked_for_must_have_its_place(self, world, tmp_path):
        words = ("set_up_judge", "talk", "--language-model", "tiny", "--url", "http://localhost:1/v1", "--calls", "9")
        file = tmp_path / "mine.md"
        file.write_text("---\nasks: pair\n---\n# Question\n{text}\n")
        with pytest.raises(CommandError, match=r"Prompt 'mine': there is no place \{text\}"):
            command(*words, "--prompt", str(file))
        with pytest.raises(CommandError, match=r"Prompt 'five-point' has no place \{examples\}"):
            command(*words, "--prompt", "five-point", "--examples", "2")
        with pytest.raises(CommandError, match="There is no prompt 'odd' in campaign 'talk'; there are: five-point, pairwise"):
            command(*words, "--prompt", "odd")
        with pytest.raises(CommandError, match="for a language model"):
            command("run_tournament", "talk", "--judge", "rouge-1", "--examples", "2")
        assert not world.campaign.judge_prompts.exists() and not Judge.objects.exists()


class TestJury:
    def test_a_table_keeps_its_rows_as_judges_are_added(self, world, server, monkeypatch):
        """No answer is asked for twice, and the printed command makes the same table."""
        jury(world, server)
        command("evaluate_judges", "talk", "--judge", "tiny", "--judge", "elsewhere", "--page")
        asked = len(server.requests)
        found = command("evaluate_judges", "talk", "--judge", "panel", "--keep", "--page")
        rows = {row["name"]: row for row in found["tables"]["all"]["rows"] if row["kind"] == "judge"}
        assert set(rows) == {"tiny", "elsewhere", "panel"} and len(server.requests) == asked
        assert set(rows["panel"]["settings"]["jurors"]) == {"rouge-1", "tiny", "elsewhere"}
        again = shlex.split(exports.again(found))
        assert again[:2] == ["manage.py", "evaluate_judges"]
        tables = [one["tables"]["all"]["rows"] for one in (found, command(*again[1:]))]
        same = [[{k: v for k, v in row.items() if k not in ("seconds", "settings")} for row in rows] for rows in tables]
        assert same[0] == same[1] and len(server.requests) == asked

    def test_a_jury_is_of_judges_that_are_there_and_as_they_were(self, world, server):
        name = jury(world, server)
        words = ("set_up_judge", "talk", "--name", "other", "--jury")
        with pytest.raises(CommandError, match="'panel' is a jury; name its judges"):
            command(*words, name, "rouge-1")
        with pytest.raises(CommandError, match="A jury has 2 to 20 different judges"):
            command(*words, "rouge-1", "rouge-1")
        with pytest.raises(CommandError, match="There is no judge 'nobody'"):
            command(*words, "rouge-1", "nobody")
        Judge.objects.filter(name="tiny").update(digest="x")
        with pytest.raises(CommandError, match="Juror 'tiny' has changed since 'panel' was set up"):
            command("evaluate_judges", "talk", "--judge", "panel")


def test_no_prefix_is_left_to_decode():
    """A judge was once told by the sign before its name."""
    sign = re.compile(r"""f["'][:+=&]\{|["'][:+=&]["']\s*:|\[0\]\s+in\s+["'][:+=&]|judge\[:?1""")
    files = [*(ROOT / "leaderboard").rglob("*.py"), *(ROOT / "evaluator").rglob("*.py"), *(ROOT / "clients").rglob("*.py")]
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in files
        if "migrations" not in file.parts
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if sign.search(line)
    ]
    assert len(files) > 200 and found == []
    assert sign.search('judges = {":": COMPARATOR}') and sign.search('(f":{name}", name)')  # it finds what it looks for


@pytest.mark.parametrize("word", ["named_judge", "NamedJudge", "Judge.CALIBRATED", "Judge.OTHER"])
def test_the_words_of_before_are_gone(word):
    files = [file for room in ("leaderboard", "evaluator", "templates", "clients") for file in (ROOT / room).rglob("*.*")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.suffix in (".py", ".html")}
    assert len(texts) > 200
    assert [file.name for file, text in texts.items() if word in text and "migrations" not in file.parts] == []


def test_a_model_that_refuses_one_system_s_texts_still_has_a_board_that_says_so(world):
    """Texts with the word "bad", which Poor wrote, are refused: the others play, and the share that may be missing is asked."""
    spell = {"spell": lambda choice, body: {"answer": {"A": "A", "tie": "C", "B": "B"}[choice]}}
    refuses = lambda number, body: "filtered_error" if "bad" in body["messages"][-1]["content"].split("{")[-1] else "plain"
    with RudeServer(refuses, **spell) as rude:
        words = ("set_up_judge", "talk", "--language-model", "tiny", "--url", rude.url, "--calls", "1000")
        command(*words)
        with pytest.raises(Exception, match="stay unjudged, more than 5%"):
            tasks.run(TestLanguageModel().start(world, 1).job_id)
        asked = len(rude.requests)
        command(*words, "--unjudged", "0.7")
        tasks.run(TestLanguageModel().start(world, 2).job_id)
        board = world.get(world.alice, f"/api/tournaments/{Tournament.objects.get(seed=2).pk}/").json()
        assert [row["system"] for row in board["standings"] if row["rating"] is not None] and len(rude.requests) >= asked
    said = [warning["text"] for warning in board["warnings"] if warning["kind"] == "unjudged"]
    assert len(said) == 1 and "Poor" in said[0] and "content" in said[0]
    assert Game.objects.filter(tournament__seed=2, output_a__system__name="Poor").count() == 0
