"""Any judge plays a tournament: metrics and imported scores by their names, others where a command brings them."""

import csv
import io
import json

import numpy as np
import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation.models import Output
from core.errors import Refused
from evaluator.judges.protocol import AskedVerdicts, Preferences
from evaluator.judges.texts import Text
from leaderboard import tasks
from leaderboard.boards import exports, queries
from leaderboard.models import Game, Tournament
from leaderboard.signature import parse, signature
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.judges.stub_server import Server
from tests.evaluator.world import SCORES, command, write

pytestmark = pytest.mark.django_db
QUALITY = {"Person": 90.0, "Fine": 41.0, "Plain": 40.0, "Poor": 10.0}  # per cents: people's tie threshold has to find its unit


@pytest.fixture
def elsewhere(world, tmp_path):
    """Imported scores on another scale than people's, with Fine and Plain a hair apart."""
    rows = [{"context_id": r["context_id"], "system": r["system"], "score": QUALITY[r["system"]]} for r in world.rows]
    command("import_judge_scores", "talk", write(tmp_path, "elsewhere.jsonl", rows), "--judge", "elsewhere")
    return world


@pytest.fixture
def server():
    one = Server()
    yield one
    one.close()


def played(campaign, named: str, judge: str = "other", **options) -> Tournament:
    return tasks.run(start_tournament(campaign, judge, named=named, foreground=True, **options).job_id)


class TestImportedScores:
    def test_they_play_with_ties_learnt_from_people(self, elsewhere):
        board = played(elsewhere.campaign, "elsewhere")
        refit = board.settings["refit"]
        assert set(board.settings["named_judge"]["calibration"]) == {"as_it_came", "refitted"}
        assert refit["pairs"] == 72 and refit["snapshot"] == elsewhere.campaign.snapshots.get().name
        # People tie nothing (5, 4, 3, 1 are four scores), so the hair between Fine and Plain is a win.
        games = Game.objects.filter(tournament=board).select_related("output_a__system", "output_b__system")
        assert len(games) == board.played > 0
        for game in games:
            ahead = SCORES[game.output_a.system.name] > SCORES[game.output_b.system.name]
            assert game.outcome == ("A" if ahead else "B") and (game.p_a > game.p_b) == ahead
        order = [row.name for row in board.ratings.order_by("-rating")]
        assert order == ["Person", "Fine", "Plain", "Poor"]

    def test_peoples_ties_become_its_own(self, elsewhere):
        """Where people give Fine and Plain the same score, one pair in six is a tie; so are the sixth of the judge's smallest
        differences, which are just those."""
        elsewhere.score("Wit", {**SCORES, "Plain": 4}, annotators=("Cleo", "Dan"))
        elsewhere.freeze()
        board = played(elsewhere.campaign, "elsewhere", criterion="Wit")
        close = {"Fine", "Plain"}
        games = Game.objects.filter(tournament=board).select_related("output_a__system", "output_b__system")
        tied = [{g.output_a.system.name, g.output_b.system.name} == close for g in games if g.outcome == "tie"]
        assert tied and all(tied)
        assert len(tied) == sum({g.output_a.system.name, g.output_b.system.name} == close for g in games)
        scale, threshold = board.settings["refit"]["scale"], board.settings["refit"]["tie_threshold"]
        assert 1 < threshold / scale < 30  # between the hair and the next difference, in its own unit

    def test_the_board_says_who_judged(self, elsewhere):
        board = played(elsewhere.campaign, "elsewhere")
        settings = parse(board.signature)
        assert (settings["judge"], settings["comparator"], settings["named"]) == ("other", None, "elsewhere")
        assert len(settings["settings"]) == 12 and settings["refit"].count("/") == 4
        assert signature(**settings) == board.signature
        shown = queries.board(board)
        assert shown["judge_label"] == "elsewhere" and shown["named_judge"]["settings"]["imported"] == 48
        assert shown["named_judge"]["refit"]["pairs"] == 72 and shown["gate"] is None
        (row, *_) = csv.DictReader(io.StringIO(exports.as_csv(shown)))
        assert row["judge"] == "elsewhere" and "named:elsewhere" in row["signature"]
        assert "% Judged by elsewhere." in exports.as_latex(shown)
        assert "judged by elsewhere" in exports.as_svg(shown)
        page = elsewhere.get(elsewhere.alice, board.get_absolute_url()).content.decode()
        assert "judged by elsewhere" in page and "fitted on 72 pairs that people judged" in page

    def test_other_scores_are_another_signature(self, elsewhere, tmp_path):
        first = parse(played(elsewhere.campaign, "elsewhere").signature)["settings"]
        rows = [
            {"context_id": r["context_id"], "system": r["system"], "score": 1.0 + SCORES[r["system"]]} for r in elsewhere.rows
        ]
        command("import_judge_scores", "talk", write(tmp_path, "b.jsonl", rows), "--judge", "elsewhere", "--replace")
        assert parse(played(elsewhere.campaign, "elsewhere").signature)["settings"] != first

    def test_it_is_calibrated_with_people(self, elsewhere):
        board = played(elsewhere.campaign, "elsewhere", "calibrated", criterion="Overall")
        shown = queries.board(board)
        assert shown["judge_label"] == "people and elsewhere together"
        assert shown["calibrated"]["said"].startswith("With the judge, ")
        assert parse(board.signature)["named"] == "elsewhere"
        # A comparator's boards are looked for without it.
        assert queries.latest(elsewhere.campaign, "calibrated") is None and queries.default_board(elsewhere.campaign) is None
        assert queries.latest(elsewhere.campaign, "calibrated", named="elsewhere") == board

    def test_outputs_without_a_score_do_not_play(self, world, tmp_path):
        rows = [
            {"context_id": r["context_id"], "system": r["system"], "score": QUALITY[r["system"]]}
            for r in world.rows
            if r["system"] != "Person"
        ]
        command("import_judge_scores", "talk", write(tmp_path, "some.jsonl", rows), "--judge", "some")
        board = played(world.campaign, "some")
        assert {row.name for row in board.ratings.all()} == {"Fine", "Plain", "Poor"}
        assert board.settings["named_judge"]["unjudged"] == 12


class TestMetrics:
    def test_one_that_needs_references_leaves_people_out(self, world):
        board = played(world.campaign, "rouge-1")
        assert {row.name for row in board.ratings.all()} == {"Fine", "Plain", "Poor"}
        record = board.settings["named_judge"]
        assert record["settings"]["metric"] == "rouge-1" and record["unjudged"] == 12
        assert board.settings["refit"] is None and "fewer than 50 pairs that rouge-1 judges too" in board.settings["warning"]

    def test_what_it_lacks_is_said(self, world):
        with pytest.raises(Refused, match="needs a causal language model"):
            played(world.campaign, "perplexity")

    def test_without_people_equal_scores_are_its_ties(self, tmp_path, client):
        from tests.evaluator.world import World

        world = World(tmp_path, client, slug="alone", judged=False)
        board = played(world.campaign, "rouge-1")
        assert board.settings["refit"] is None and parse(board.signature)["refit"] is None
        assert "only equal scores are ties" in board.settings["warning"] and board.snapshot is None


class TestStart:
    def test_by_the_page_the_interface_and_the_command(self, elsewhere):
        page = reverse("play", args=["talk"])
        asked = {"judge": "=elsewhere", "criterion": "default", "seed": 3}
        elsewhere.post(elsewhere.alice, page, asked)
        by_page = Tournament.objects.get(seed=3)
        assert (by_page.judge, by_page.named_judge, by_page.version) == ("other", "elsewhere", None)
        elsewhere.post(elsewhere.alice, page, {**asked, "judge": "&elsewhere", "seed": 4})
        assert Tournament.objects.get(seed=4).judge == "calibrated"
        address = reverse("api_tournaments", args=["talk"])
        made = elsewhere.client.post(address, {"judge": "other", "named": "elsewhere", "seed": 5}, "application/json")
        assert made.status_code == 201 and made.json()["named_judge"] == "elsewhere"
        elsewhere.client.force_login(elsewhere.charlie)
        assert elsewhere.client.post(address, {"judge": "people"}, "application/json").status_code == 404
        said = command("run_tournament", "talk", "--judge", "other", "--named", "elsewhere", "--wait")
        assert said["named_judge"]["name"] == "elsewhere" and said["games"] > 0
        told = command("leaderboard", "talk", "--named", "elsewhere")
        assert told["judge_label"] == "elsewhere"
        board = elsewhere.get(elsewhere.alice, reverse("leaderboard", args=["talk"]) + "?judge=other&named=elsewhere")
        assert board.status_code == 200 and "judged by elsewhere" in board.content.decode()
        for view in ("history", "breakdown"):
            assert (
                elsewhere.get(elsewhere.alice, reverse(view, args=["talk"]) + "?judge=other&named=elsewhere").status_code == 200
            )

    @pytest.mark.parametrize(
        "judge, named, refusal",
        [
            ("other", "", "There is no judge ''"),
            ("other", "nobody", "There is no judge 'nobody' in campaign 'talk'; there are: bleu-1"),
            ("people", "bleu-1", "Name a judge only with the judge 'other' or 'calibrated'"),
        ],
    )
    def test_refusals(self, world, judge, named, refusal):
        with pytest.raises(Refused, match=refusal):
            start_tournament(world.campaign, judge, named=named)

    def test_a_judge_that_a_command_brings_plays_with_it_alone(self, world):
        started = start_tournament(world.campaign, "other", named="my-model", foreground=True)
        with pytest.raises(Refused, match="can play only with that command"):
            tasks.run(started.job_id)


class TestLanguageModel:
    """The stub's honest model prefers the output with the word good; two such outputs it answers by the side: the first."""

    def options(self, server, tmp_path, *more):
        return [
            *("run_tournament", "talk", "--judge", "other", "--wait", "--language-model", "tiny", "--url", server.url),
            *("--replies", tmp_path / "replies.jsonl", "--price", "2", "10", *more),
        ]

    def test_it_is_asked_about_the_games_that_are_played_alone(self, world, server, tmp_path):
        said = command(*self.options(server, tmp_path, "--calls", "1000", "--games", "20"))
        pairs = {frozenset((g.output_a_id, g.output_b_id)) for g in Game.objects.filter(tournament=said["tournament"])}
        used = said["named_judge"]["used"]
        assert used["calls"] == len(server.requests) == 2 * used["pairs"] and used["pairs"] <= len(pairs) <= 20
        flips = [p for p in pairs if all(o.text.endswith("good") for o in Output.objects.filter(pk__in=p))]
        assert used["flips"] == len(flips) > 0  # A both times
        assert used["cost"] == pytest.approx(used["calls"] * (200 * 2 + 20 * 10) / 1e6)
        assert all(row["settings"]["model"] == "tiny" for row in [said["named_judge"]]) and "named:tiny" in said["signature"]

    def test_a_budget_is_kept_and_the_next_run_asks_nothing_twice(self, world, server, tmp_path):
        with pytest.raises(CommandError, match="budget of 30 calls is spent"):
            command(*self.options(server, tmp_path, "--calls", "30"))
        assert len(server.requests) == 30
        said = command(*self.options(server, tmp_path, "--calls", "1000"))
        assert len({json.dumps(r, sort_keys=True) for r in server.requests}) == len(server.requests)
        used = said["named_judge"]["used"]
        assert (used["kept"], used["kept"] + used["calls"]) == (30, len(server.requests)) and said["games"] > 0

    def test_a_forecast_asks_nothing(self, world, server, tmp_path):
        said = command(*self.options(server, tmp_path, "--forecast"))
        assert said["calls"] == 2 * 72 and said["cost"] > 0 and not server.requests
        assert not Tournament.objects.exists()

    def test_with_people(self, world, server, tmp_path):
        words = self.options(server, tmp_path, "--calls", "1000", "--criterion", "Overall")
        words[words.index("other")] = "calibrated"
        said = command(*words)
        assert said["named_judge"]["used"]["pairs"] == 72  # it says something of everything
        assert queries.board(Tournament.objects.get(pk=said["tournament"]))["calibrated"]["judgments"] > 0

    def test_it_needs_somebody_who_waits(self, world, server, tmp_path):
        words = [word for word in self.options(server, tmp_path, "--calls", "9") if word != "--wait"]
        with pytest.raises(CommandError, match="add --wait"):
            command(*words)


def test_asked_verdicts_read_each_pair_once():
    class Counted:
        kind = "pairwise"
        pairs: list = []

        def compare(self, texts_a, texts_b, *, on_progress=None):
            self.pairs += [(a.output, b.output) for a, b in zip(texts_a, texts_b)]
            return Preferences.likeliest(
                np.array([[0.6, 0.3, 0.1] if a.output > b.output else [0.1, 0.3, 0.6] for a, b in zip(texts_a, texts_b)])
            )

    texts = {1: Text(("Hi",), "x"), 2: Text(("Hi",), "y"), 3: Text(("Hi",), "z"), 4: Text(("Bye",), "x")}
    said = AskedVerdicts(Counted(), texts)
    assert said.has_read([1], [2]).tolist() == [False]
    assert said.outcomes([1, 2], [2, 1]).tolist() == [-1, 1]
    assert said.probabilities([2, 3], [1, 1]).tolist() == [[0.6, 0.3, 0.1]] * 2
    assert Counted.pairs == [("x", "y"), ("x", "z")] and said.has_read([3, 2], [1, 3]).tolist() == [True, False]
    with pytest.raises(Refused, match="one context only"):
        said.outcomes([1], [4])
