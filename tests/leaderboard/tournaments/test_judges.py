"""Any judge plays, whoever starts it: metrics and imported scores by name, others once a command has set them up."""

import csv
import io
import json

import numpy as np
import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation.models import Output
from core.errors import Refused
from evaluator.judge_tables.cautions import as_of_now
from evaluator.judges.protocol import AskedVerdicts, Preferences
from evaluator.judges.texts import Text
from evaluator.roster import judge_named
from leaderboard import tasks
from leaderboard.boards import exports, queries, wording
from leaderboard.boards.basis import BoardSetting
from leaderboard.boards.cautions import cautions
from leaderboard.models import Game, Tournament
from leaderboard.signature import parse, signature
from leaderboard.systems import set_retired
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


def played(campaign, name: str, basis: str = "judge", **options) -> Tournament:
    return tasks.run(start_tournament(campaign, basis, judge_named(campaign, name), foreground=True, **options).job_id)


class TestImportedScores:
    def test_they_play_with_ties_learnt_from_people(self, elsewhere):
        board = played(elsewhere.campaign, "elsewhere")
        refit = board.settings["refit"]
        assert set(board.settings["judge_record"]["calibration"]) == {"as_it_came", "refitted"}
        assert refit["pairs"] == 72 and refit["snapshot"] == elsewhere.campaign.snapshots.get().name
        # People tie nothing (5, 4, 3, 1 are four scores), so the hair between Fine and Plain is a win.
        games = Game.objects.filter(tournament=board).select_related("output_a__system", "output_b__system")
        assert len(games) == board.played > 0
        for game in games:
            ahead = SCORES[game.output_a.system.name] > SCORES[game.output_b.system.name]
            assert game.outcome == ("A" if ahead else "B") and (game.p_a > game.p_b) == ahead
        order = [row.name for row in board.ratings.order_by("-rating")]
        assert order == ["Person", "Fine", "Plain", "Poor"]

    def test_nobody_told_it_when_a_criterion_is_asked(self, elsewhere):
        elsewhere.campaign.criteria.filter(name="Overall").update(asked_if={"criterion": "Wit", "below": 3})
        said = "Overall is asked only if Wit is below 3. No judge is told so:"
        for basis in ("judge", "corrected"):
            asked = start_tournament(elsewhere.campaign, basis, judge_named(elsewhere.campaign, "elsewhere"))
            assert asked.settings["warning"].count(said) == 1
        assert said not in start_tournament(elsewhere.campaign, "people").settings["warning"]
        record = {"campaign": "talk", "snapshot": elsewhere.campaign.snapshots.get().name, "simulated": False, "warning": ""}
        (caution,) = as_of_now(record | {"criterion": "Overall"})["cautions"]
        assert caution.startswith(said) and as_of_now(record | {"criterion": "Wit"})["cautions"] == []

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
        judge = shown.basis.judge
        assert wording.judged_by(shown) == "elsewhere" and BoardSetting("imported", "48") in judge.settings
        assert judge.refit.pairs == judge.calibration.pairs == 72 and judge.gate is None
        (row, *_) = csv.DictReader(io.StringIO(exports.as_csv(shown)))
        assert row["judge"] == "elsewhere" and "named:elsewhere" in row["signature"]
        assert "% Rated by Glicko-2 on all games at once; a tie is half a win." in exports.as_latex(shown)
        assert "Judged by elsewhere" in exports.as_svg(shown)
        page = elsewhere.get(elsewhere.alice, board.get_absolute_url()).content.decode()
        assert "judged by elsewhere" in page and "fitted on 72 pairs that people judged" in page
        assert "real judgments" not in page and "no judgments by people: elsewhere judged" in page

    def test_samples_say_who_judged_and_what_is_wrong(self, elsewhere):
        """No comparator has a part in it; and all that is said of the board is said of its contexts."""
        board = played(elsewhere.campaign, "elsewhere")
        set_retired(elsewhere.campaign.systems.get(name="Poor"), True)
        context = elsewhere.campaign.contexts.first()
        for address in ("", f"{context.pk}/"):
            page = elsewhere.get(
                elsewhere.alice, f"/c/talk/leaderboard/samples/{address}?tournament={board.pk}"
            ).content.decode()
            inside = page[page.index("<main") : page.index("</main>")]
            assert "elsewhere" in inside and "omparator" not in inside
            assert "Poor is retired now." in inside

    def test_other_scores_are_another_signature(self, elsewhere, tmp_path):
        first = parse(played(elsewhere.campaign, "elsewhere").signature)["settings"]
        rows = [
            {"context_id": r["context_id"], "system": r["system"], "score": 1.0 + SCORES[r["system"]]} for r in elsewhere.rows
        ]
        command("import_judge_scores", "talk", write(tmp_path, "b.jsonl", rows), "--judge", "elsewhere", "--replace")
        assert parse(played(elsewhere.campaign, "elsewhere").signature)["settings"] != first

    def test_other_texts_are_another_signature(self, elsewhere):
        """Two campaigns may name systems and contexts alike."""
        first = parse(played(elsewhere.campaign, "elsewhere").signature)["entrants"]
        assert parse(played(elsewhere.campaign, "elsewhere").signature)["entrants"] == first
        Output.objects.filter(pk=Output.objects.first().pk).update(text="Something else.")
        assert parse(played(elsewhere.campaign, "elsewhere").signature)["entrants"] != first

    def test_it_is_calibrated_with_people(self, elsewhere):
        board = played(elsewhere.campaign, "elsewhere", "corrected", criterion="Overall")
        shown = queries.board(board)
        assert wording.judged_by(shown) == "people and elsewhere together"
        assert wording.worth(shown).startswith("With the judge, ")
        assert parse(board.signature)["named"] == "elsewhere"
        # A comparator's boards are looked for without it.
        assert queries.latest(elsewhere.campaign, "corrected") is None and queries.default_board(elsewhere.campaign) is None
        assert queries.latest(elsewhere.campaign, "corrected", judge="elsewhere") == board

    def test_outputs_without_a_score_do_not_play(self, world, tmp_path):
        rows = [
            {"context_id": r["context_id"], "system": r["system"], "score": QUALITY[r["system"]]}
            for r in world.rows
            if r["system"] != "Person"
        ]
        command("import_judge_scores", "talk", write(tmp_path, "some.jsonl", rows), "--judge", "some")
        board = played(world.campaign, "some")
        assert {row.name for row in board.ratings.all()} == {"Fine", "Plain", "Poor"}
        assert board.settings["judge_record"]["unjudged"] == 12
        assert not [doubt for doubt in queries.board(board).doubts if doubt.kind == "unjudged"]  # no output of Person's plays

    def test_of_how_many_outputs_of_whom_it_says_nothing(self, world, tmp_path):
        rows = [
            {"context_id": r["context_id"], "system": r["system"], "score": QUALITY[r["system"]]}
            for r in world.rows
            if r["system"] != "Poor" or r["context_id"] > "c04"
        ]
        kept = sum(row["system"] == "Poor" for row in rows)
        assert 0 < kept < 12
        command("import_judge_scores", "talk", write(tmp_path, "some.jsonl", rows), "--judge", "some")
        said = f"some says nothing of {12 - kept} of 48 outputs, which do not play: Poor {12 - kept}."
        for basis in ("judge", "corrected"):
            board = queries.board(played(world.campaign, "some", basis))
            assert [caution.text for caution in cautions(board) if caution.kind == "unjudged"] == [said]


class TestMetrics:
    def test_one_that_needs_references_leaves_people_out(self, world):
        board = played(world.campaign, "rouge-1")
        assert {row.name for row in board.ratings.all()} == {"Fine", "Plain", "Poor"}
        record = board.settings["judge_record"]
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
        asked = {"basis": "judge", "judge": "elsewhere", "criterion": "", "seed": 3}
        elsewhere.post(elsewhere.alice, page, asked)
        by_page = Tournament.objects.get(seed=3)
        assert (by_page.basis, by_page.judge_name, by_page.version) == ("judge", "elsewhere", None)
        elsewhere.post(elsewhere.alice, page, {**asked, "basis": "corrected", "seed": 4})
        corrected = Tournament.objects.get(seed=4)
        assert (corrected.basis, corrected.judge) == ("corrected", by_page.judge)
        address = reverse("api_tournaments", args=["talk"])
        made = elsewhere.client.post(address, {"basis": "judge", "judge": "elsewhere", "seed": 5}, "application/json")
        assert made.status_code == 201
        assert [made.json()[name] for name in ("basis", "judge", "kind", "comparator")] == [
            "judge",
            "elsewhere",
            "imported",
            None,
        ]
        elsewhere.client.force_login(elsewhere.charlie)
        assert elsewhere.client.post(address, {"basis": "people"}, "application/json").status_code == 404
        said = command("run_tournament", "talk", "--judge", "elsewhere", "--wait")
        assert said["judge"]["name"] == "elsewhere" and said["games"] > 0
        assert command("leaderboard", "talk", "--judge", "elsewhere")["said"]["judged_by"] == "elsewhere"

    @pytest.mark.parametrize("query", ["?basis=judge&judge=elsewhere", "?judge=elsewhere", "?judge=other&named=elsewhere"])
    def test_its_board_is_found_by_addresses_of_today_and_of_before(self, elsewhere, query):
        played(elsewhere.campaign, "elsewhere")
        board = elsewhere.get(elsewhere.alice, reverse("leaderboard", args=["talk"]) + query)
        assert board.status_code == 200 and "judged by elsewhere" in board.content.decode()
        for view in ("history", "breakdown"):
            assert elsewhere.get(elsewhere.alice, reverse(view, args=["talk"]) + query).status_code == 200
        api = elsewhere.get(elsewhere.alice, "/api/campaigns/talk/leaderboard/" + query).json()
        assert (api["basis"]["kind"], api["basis"]["judge"]["name"]) == ("judge", "elsewhere")

    def test_an_unknown_judge_is_refused_and_never_taken_for_people(self, elsewhere):
        tasks.run(start_tournament(elsewhere.campaign, "people", foreground=True).job_id)
        before, said = Tournament.objects.count(), "There is no judge 'nobody' in campaign 'talk'"
        page, api = reverse("play", args=["talk"]), reverse("api_tournaments", args=["talk"])
        for basis in ("judge", "corrected"):
            elsewhere.post(elsewhere.alice, page, {"basis": basis, "judge": "nobody", "criterion": "", "seed": 3})
            elsewhere.post(elsewhere.alice, page, {"basis": basis, "judge": "", "criterion": "", "seed": 3})
            asked = {"basis": basis, "judge": "nobody"}
            refused = elsewhere.client.post(api, asked, "application/json")
            assert refused.status_code == 422 and said in refused.content.decode()
            with pytest.raises(CommandError, match="There is no judge 'nobody'"):
                command("run_tournament", "talk", "--basis", basis, "--judge", "nobody")
            query = f"?basis={basis}&judge=nobody"
            assert elsewhere.get(elsewhere.alice, reverse("leaderboard", args=["talk"]) + query).status_code == 404
            assert elsewhere.get(elsewhere.alice, "/api/campaigns/talk/leaderboard/" + query).status_code == 422
        elsewhere.post(elsewhere.alice, page, {"basis": "nobody", "judge": "", "criterion": "", "seed": 3})
        refused = elsewhere.client.post(api, {"basis": "nobody"}, "application/json")
        assert refused.status_code == 422 and "The basis is people, judge or corrected" in refused.content.decode()
        refused = elsewhere.client.post(api, {"basis": "people", "judge": "bleu-1"}, "application/json")
        assert refused.status_code == 422 and "who use no judge" in refused.content.decode()
        assert elsewhere.client.post(api, {"judge": "other"}, "application/json").status_code == 422
        assert Tournament.objects.count() == before

    def test_no_request_brings_a_command_or_an_address(self, elsewhere):
        api = reverse("api_tournaments", args=["talk"])
        elsewhere.client.force_login(elsewhere.alice)
        for name in ("cat", "http://example.org/v1"):
            for asked, status in (({"judge": name}, 422), ({"command": name}, 400), ({"judge": name, "command": name}, 400)):
                refused = elsewhere.client.post(api, {"basis": "judge", **asked}, "application/json")
                assert refused.status_code == status
        assert not elsewhere.campaign.judges.exclude(kind="imported").exists()

    def test_a_judge_of_another_campaign_is_refused(self, elsewhere):
        from tests.evaluator.world import World

        other = World(elsewhere.folder, elsewhere.client, slug="far")
        with pytest.raises(Refused, match="is of another campaign"):
            start_tournament(other.campaign, "judge", judge_named(elsewhere.campaign, "elsewhere"))


class TestLanguageModel:
    """The stub's honest model prefers the output with the word good; two such outputs it answers by the side: the first."""

    def options(self, server, tmp_path, *more):
        return [
            *("run_tournament", "talk", "--basis", "judge", "--wait", "--language-model", "tiny", "--url", server.url),
            *("--price", "2", "10", *more),
        ]

    def test_it_is_asked_about_the_games_that_are_played_alone(self, world, server, tmp_path):
        said = command(*self.options(server, tmp_path, "--calls", "1000", "--games", "20"))
        pairs = {frozenset((g.output_a_id, g.output_b_id)) for g in Game.objects.filter(tournament=said["tournament"])}
        used = said["judge"]["used"]
        assert used["calls"] == len(server.requests) == 2 * used["pairs"] and used["pairs"] <= len(pairs) <= 20
        flips = [p for p in pairs if all(o.text.endswith("good") for o in Output.objects.filter(pk__in=p))]
        assert used["flips"] == len(flips) > 0  # A both times
        assert used["cost"] == pytest.approx(used["calls"] * (200 * 2 + 20 * 10) / 1e6)
        assert {"name": "model", "value": "tiny"} in said["judge"]["settings"] and "named:tiny" in said["signature"]

    def test_a_budget_is_kept_and_the_next_run_asks_nothing_twice(self, world, server, tmp_path):
        with pytest.raises(CommandError, match="budget of 30 calls is spent"):
            command(*self.options(server, tmp_path, "--calls", "30"))
        assert len(server.requests) == 30
        said = command(*self.options(server, tmp_path, "--calls", "1000"))
        assert len({json.dumps(r, sort_keys=True) for r in server.requests}) == len(server.requests)
        used = said["judge"]["used"]
        assert (used["kept"], used["kept"] + used["calls"]) == (30, len(server.requests)) and said["games"] > 0

    def test_a_forecast_asks_nothing(self, world, server, tmp_path):
        said = command(*self.options(server, tmp_path, "--forecast"))
        assert said["calls"] == 2 * 72 and said["cost"] > 0 and not server.requests
        assert not Tournament.objects.exists()

    def test_with_people(self, world, server, tmp_path):
        words = self.options(server, tmp_path, "--calls", "1000", "--criterion", "Overall")
        words[words.index("judge")] = "corrected"
        said = command(*words)
        assert said["judge"]["used"]["pairs"] == 72  # it says something of everything
        assert queries.board(Tournament.objects.get(pk=said["tournament"])).basis.people.worth.judgments > 0


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
