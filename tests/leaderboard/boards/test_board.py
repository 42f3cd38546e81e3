"""Boards as JSON, as a command, and as pages; and who may see them."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Job
from evaluator import tasks as training_tasks
from evaluator.trainings import services as training
from leaderboard.boards import queries as selectors
from leaderboard.boards import wording
from leaderboard.boards.agreement import agreement
from leaderboard.boards.charts import name_lines, whiskers
from leaderboard.boards.estimates import Estimate, Standing
from leaderboard.boards.tree import to_json
from leaderboard.models import Tournament
from leaderboard.rating.board_agreement import board_agreement, joint_noise
from leaderboard.tournaments import start
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import SCORES, World, recipe
from tests.leaderboard.boards.example import example
from tests.leaderboard.played import by_comparator, by_people, calibrated

pytestmark = pytest.mark.django_db
PAGE = "/c/talk/leaderboard/"


def command(*words) -> dict:
    out = io.StringIO()
    call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())


class TestCommands:
    def test_from_training_to_leaderboard(self, world):
        """The whole path with a real, tiny comparator."""
        run = training.start_training([world.campaign], foreground=True, recipe=recipe())
        comparator = training_tasks.run(run.job_id)
        played = command("run_tournament", "talk", "--basis", "judge", "--seed", "5", "--games", "60", "--wait")
        assert (played["comparator"], played["games"], played["criterion"]) == (comparator.name, 60, "Overall")
        command("run_tournament", "talk", "--basis", "people", "--wait")
        assert command("leaderboard", "talk")["basis"]["kind"] == "people"
        board = command("leaderboard", "talk", "--basis", "judge")
        made = board["provenance"]
        assert made["signature"] == played["signature"] and f"comparator:{comparator.name}" in made["signature"]
        assert (board["basis"]["kind"], board["basis"]["judge"]["name"], board["provenance"]["seed"]) == (
            "judge",
            comparator.name,
            5,
        )
        assert made["snapshot"] == world.campaign.snapshots.get().name and board["basis"]["simulated"] is False
        assert {"system", "rating", "error", "low", "high", "games", "wins", "ties", "losses", "human_mean"} <= set(
            board["standings"][0]
        )
        assert sum(row["games"] for row in board["standings"]) == 120
        assert {row["system"]: row["human_mean"] for row in board["standings"]} == SCORES
        agreement = board["agreement"]
        assert agreement["all"]["systems"] == 4 and agreement["generated"]["systems"] == 3
        assert -1 <= agreement["all"]["low"] <= agreement["all"]["high"] <= 1
        together = command("run_tournament", "talk", "--basis", "corrected", "--wait")
        assert command("leaderboard", "talk", "--basis", "corrected")["provenance"]["signature"] == together["signature"]
        asked = ["--level", "sample", "--rating", "paper", "--games", "50"]
        outputs = command("run_tournament", "talk", "--basis", "judge", *asked, "--wait")
        assert (outputs["level"], outputs["games"]) == ("sample", Tournament.objects.get(pk=outputs["tournament"]).played)

    def test_the_table_for_people(self, world):
        by_people(world.campaign)
        out = io.StringIO()
        call_command("leaderboard", "talk", "--basis", "people", stdout=out)
        lines = out.getvalue().splitlines()
        assert lines[0] == "Judged by people, on Overall." and lines[-1].startswith("judge:people/Overall|")
        assert lines[2].startswith("Person (human)")
        assert " >99% " in lines[2] and " <1% " in lines[4] and {*lines[3]} == {"-"}  # a line between clusters

    def test_without_waiting_it_prints_the_task(self, world):
        said = command("run_tournament", "talk", "--basis", "people")
        assert said["status"] == "queued" and said["task"] == str(Job.objects.get().pk)

    def test_no_board_yet(self, world):
        with pytest.raises(CommandError, match="No tournament is finished in campaign 'talk'"):
            command("leaderboard", "talk")
        with pytest.raises(CommandError, match="No tournament judged by comparator is finished in campaign 'talk'"):
            command("leaderboard", "talk", "--basis", "judge")

    def test_an_unknown_comparator(self, world):
        with pytest.raises(CommandError, match="There is no judge 'nobody' in campaign 'talk'"):
            command("run_tournament", "talk", "--basis", "judge", "--judge", "nobody", "--wait")


class TestAgreement:
    def test_two_boards_that_agree(self, world, version):
        by_people(world.campaign)
        found = selectors.board(by_comparator(world.campaign, games=300)).agreement
        assert found.all.spearman >= 0.8 and found.all.systems == 4
        assert found.generated.systems == 3 and found.ceiling_of == "people"

    def test_it_is_what_board_agreement_gives_for_these_ratings_and_replicates(self, world, version):
        people, board = by_people(world.campaign), by_comparator(world.campaign, games=300)
        found = selectors.board(board).agreement.all
        order = np.argsort(board.settings["systems"])  # as the agreement draws them
        ratings = [[t.ratings.get(system=board.settings["systems"][n]).rating for n in order] for t in (board, people)]
        noise = joint_noise(*(np.array(t.replicates)[:, order] for t in (board, people)), 12, 12)
        expected = board_agreement(*ratings, noise)
        for name, estimate in (
            ("true_spearman", expected.spearman),
            ("true_pearson", expected.pearson),
            ("ceiling", expected.ceiling),
        ):
            assert getattr(found, name) == Estimate(*(round(getattr(estimate, end), 4) for end in ("value", "low", "high")))
        assert (found.low, found.high) == (round(expected.observed.low, 4), round(expected.observed.high, 4))
        assert found.low <= found.spearman <= found.high

    def test_the_ceiling_is_peoples_whichever_board_comes_first(self, world, version):
        people, board = by_people(world.campaign), by_comparator(world.campaign, games=300)
        assert agreement(people, board) == agreement(board, people)
        html = world.get(world.alice, "/c/talk/leaderboard/beside/").content.decode()
        found = to_json(agreement(board, people)[1])
        for name, label in (("true_spearman", "without noise"), ("ceiling", "ceiling")):
            shown = '<td>{}</td><td class="num">{value:.2f}<br><span class="muted small">{low:.2f} to {high:.2f}</span>'
            assert shown.format(label, **found[name]) in html
        page = world.get(world.alice, f"/tournaments/{board.pk}/").content.decode()
        assert "Pearson without noise" in page and "{low:.2f} to {high:.2f}".format(**found["true_pearson"]) in page
        out = io.StringIO()
        call_command("leaderboard", "talk", "--basis", "judge", stdout=out)
        assert "; ceiling {value:.2f} ({low:.2f} to {high:.2f})".format(**found["ceiling"]) in out.getvalue()

    def test_fewer_than_three_systems_have_none_and_a_reason(self, world, version):
        world.campaign.systems.filter(name="Plain").update(is_human=True)
        by_people(world.campaign)
        found = selectors.board(by_comparator(world.campaign, games=100)).agreement.generated
        assert found.spearman is None and found.low is None
        assert found.reason == "A rank correlation needs at least 3 systems; 2 played on both."

    def test_contexts_added_in_between_leave_no_interval(self, world, version):
        by_people(world.campaign)
        world.campaign.contexts.create(key="new", turns=["x"])
        found = selectors.board(by_comparator(world.campaign, games=100)).agreement.all
        assert found.spearman is not None and found.low is None and "Contexts were added" in found.reason
        assert found.true_spearman is None and found.ceiling is None

    def test_another_criterion_is_not_compared(self, world, version):
        world.score("Wit", SCORES)
        world.freeze()
        by_people(world.campaign, criterion="Wit")
        assert selectors.board(by_comparator(world.campaign, games=100)).agreement is None


class TestChoice:
    def test_the_newest_board_of_the_usual_criterion(self, world):
        world.score("Wit", SCORES)
        world.freeze()
        overall, wit = by_people(world.campaign), by_people(world.campaign, criterion="Wit")
        assert selectors.latest(world.campaign, "people") == overall
        assert selectors.latest(world.campaign, "people", "Wit") == wit
        newer = by_people(world.campaign, seed=1)
        assert selectors.latest(world.campaign, "people") == newer

    def test_where_the_usual_one_was_not_played_any_will_do(self, world):
        world.score("Wit", SCORES)
        world.freeze()
        wit = by_people(world.campaign, criterion="Wit")
        assert selectors.latest(world.campaign, "people") == wit


FAILED = [
    {"question": "Better than chance?", "passed": True, "answer": "It orders 61% as they do; chance is 50%."},
    {
        "question": "Hard to fool?",
        "passed": False,
        "answer": "The most successful attack is padded text: the honest output wins in 0%.",
    },
]
PASSED = [FAILED[0]]


def gated(version, asked: list[dict]):
    version.gates = {"talk": asked}
    version.save()


class TestTrustAtFirstSight:
    """What opens, and what is said of the comparator's gate wherever its board goes."""

    def test_the_campaign_of_a_comparator_that_failed_its_gate_opens_on_peoples_board(self, world, version):
        gated(version, FAILED)
        people = by_people(world.campaign)
        ours = by_comparator(world.campaign)
        calibrated(world.campaign)
        html = world.get(world.alice, PAGE).content.decode()
        assert people.signature in html and ours.signature not in html
        beside = html.index("For comparison: judged by the comparator")  # its table is there, under the verdict and the reason
        verdict = html.index(f"Comparator {version.name} did not pass its gate.")
        assert verdict < html.index("The most successful attack is padded text: the honest output wins in 0%.") < beside
        assert world.get(world.alice, "/api/campaigns/talk/leaderboard/").json()["basis"]["kind"] == "people"
        assert command("leaderboard", "talk")["provenance"]["signature"] == people.signature

    def test_a_comparator_that_passed_stands_together_with_people(self, world, version, monkeypatch):
        gated(version, PASSED)
        people, _ = by_people(world.campaign), by_comparator(world.campaign)
        together = calibrated(world.campaign)
        assert selectors.default_board(world.campaign) == people  # this judge makes nothing narrower
        monkeypatch.setattr(selectors, "_margin", lambda board: {together: 1.0}.get(board, 2.0))
        html = world.get(world.alice, PAGE).content.decode()
        assert together.signature in html and "did not pass" not in html and "<dt>Gate</dt><dd>passed</dd>" in html

    def test_what_people_said_since_comes_first(self, world, version):
        gated(version, PASSED)
        calibrated(world.campaign)
        world.score("Overall", SCORES, annotators=("Cid", "Dan"))
        world.freeze()
        people = by_people(world.campaign)
        assert selectors.default_board(world.campaign) == people

    def test_a_comparators_board_opens_only_where_nobody_elses_is_there(self, world, version):
        ours = by_comparator(world.campaign)
        assert selectors.default_board(world.campaign) == ours
        assert "The gate was not checked" in world.get(world.alice, PAGE).content.decode()

    def test_the_verdict_goes_with_every_file_of_the_board(self, world, version):
        gated(version, FAILED)
        board = by_comparator(world.campaign)
        said = f"Comparator {version.name} did not pass its gate. {FAILED[1]['answer']}"
        table = world.get(world.alice, f"/tournaments/{board.pk}.csv").content.decode()
        assert {row["gate"] for row in csv.DictReader(io.StringIO(table))} == {said}
        latex = world.get(world.alice, f"/tournaments/{board.pk}.tex").content.decode()
        assert f"% {said}" in latex  # and in print:
        assert rf"{{\footnotesize {said.replace('%', chr(92) + '%')} Do not rely on its judgments alone.}}" in latex
        drawn = ET.fromstring(world.get(world.alice, f"/tournaments/{board.pk}.svg").content)
        lines = [element for element in drawn if element.tag.endswith("text") and element.get("font-size") == "10"]
        assert said in " ".join(line.text for line in lines)
        assert max(float(line.get("y")) for line in lines) < float(drawn.get("height"))
        served = world.get(world.alice, f"/api/tournaments/{board.pk}/").json()
        assert served["basis"]["judge"]["gate"] == {"passed": False, "reasons": [FAILED[1]["answer"]]}
        assert served["said"]["gate"] == f"Comparator {version.name} did not pass its gate."
        out = io.StringIO()
        call_command("leaderboard", "talk", stdout=out)
        assert said in out.getvalue()
        for shown in (f"/tournaments/{board.pk}/", PAGE + "beside/"):
            html = world.get(world.alice, shown).content.decode()
            assert FAILED[1]["answer"] in html, shown

    def test_a_permalink_keeps_the_verdict_of_its_time(self, world, version):
        gated(version, FAILED)
        board = by_comparator(world.campaign)
        gated(version, PASSED)
        assert selectors.alone(board).basis.judge.gate.passed is False

    def test_peoples_board_has_no_gate(self, world):
        board = selectors.board(by_people(world.campaign))
        assert board.basis.judge is None and wording.gate(board) == ""


class TestWideRanks:
    def test_a_sentence_says_why(self, world):
        """Two annotators who contradict each other leave nothing known: 6 pairs of 4 systems."""
        world.score("Wit", SCORES, annotators=("Ann",))
        world.score("Wit", {name: 6 - score for name, score in SCORES.items()}, annotators=("Ben",))
        world.freeze()
        board = selectors.board(by_people(world.campaign, criterion="Wit"))
        assert {(row.rank_low, row.rank_high) for row in board.standings} == {(1, 4)}
        expected = (
            "No two systems can be separated with 95% confidence, so every rank is 1–4. "
            "Ranks generalise to other contexts like these. With more than 12, more pairs may be separated."
        )
        assert wording.ranks(board) == expected
        assert expected in world.get(world.alice, PAGE + "?judge=people&criterion=Wit").content.decode()

    def test_where_some_are_told_apart_it_counts_them(self, world, version):
        """Strict ties Fine with Plain and orders the rest: 5 of 6 pairs."""
        said = wording.ranks(selectors.board(by_comparator(world.campaign)))
        assert said.startswith("5 of 6 pairs of systems can be separated with 95% confidence; the order of the others is open.")

    def test_nothing_is_said_where_all_are_told_apart(self, world):
        board = selectors.board(by_people(world.campaign))
        assert all(row.rank_low == row.rank_high for row in board.standings) and wording.ranks(board) == ""


class TestPages:
    def test_only_researchers_and_admins(self, world):
        tournament = by_people(world.campaign)
        pages = [
            PAGE,
            f"/tournaments/{tournament.pk}/",
            "/api/campaigns/talk/leaderboard/?judge=people",
            f"/api/tournaments/{tournament.pk}/",
        ]
        for page in pages:
            assert world.get(world.charlie, page).status_code == 404, page
            assert world.get(world.alice, page).status_code == 200, page
            assert world.get(world.dora, page).status_code == 200, page
            world.client.logout()
            assert world.client.get(page).status_code == (404 if page.startswith("/api/") else 302), page
        assert world.post(world.charlie, PAGE + "play/", {"basis": "people"}).status_code == 404

    def test_everybody_where_the_boards_are_public(self, world, version):
        board, system = by_people(world.campaign), world.campaign.systems.get(name="Fine")
        sample = world.campaign.contexts.first()
        start.set_board(world.campaign, is_public=True, plays_new=True)
        seen = [
            PAGE,
            PAGE + "beside/",
            PAGE + "history/",
            PAGE + "breakdown/",
            f"/tournaments/{board.pk}/",
            f"/tournaments/{board.pk}.csv",
            f"/tournaments/{board.pk}.tex",
            f"/tournaments/{board.pk}.svg",
            f"/c/talk/systems/{system.pk}/",
            "/api/campaigns/talk/leaderboard/?judge=people",
            f"/api/tournaments/{board.pk}/",
        ]
        for page in seen:
            assert world.client.get(page).status_code == 200, page
            assert world.get(world.charlie, page).status_code == 200, page
            html = world.get(world.charlie, page).content.decode()
            assert "<form" not in html.split("<main")[-1] and "/quality/" not in html, page
            assert not any(row["output"] in html for row in world.rows), page
            world.client.logout()
        for page in (PAGE + "samples/", PAGE + f"samples/{sample.pk}/", "/c/talk/systems/", "/c/talk/"):
            assert world.get(world.charlie, page).status_code == 404, page
            world.client.logout()
            assert world.client.get(page).status_code == 302, page
        assert world.post(world.charlie, PAGE + "settings/", {"is_public": ""}).status_code == 404
        assert world.get(world.charlie, "/api/campaigns/talk/systems/").status_code == 404

    def test_a_board_says_how_far_the_comparators_confidence_may_be_trusted(self, world, version):
        by_comparator(world.campaign)
        world.campaign.board_is_public = True
        world.campaign.save()

        def said(user, path=PAGE) -> str:
            world.client.logout()
            return (world.get(user, path) if user else world.client.get(path)).content.decode()

        assert "The calibration of its probabilities in this campaign is not known." in said(None)
        version.measured_here = {"talk": {"confidence": {"kind": "unknown", "needed": 1}, "attacks": []}}
        version.save()
        assert "people must judge 1 more pair" in said(None)
        off = {"error": 0.081, "low": 0.05, "high": 0.12, "pairs": 300}
        refit = {"scale": 0.4371, "theta": 0.2, "tie_threshold": 0.1, "snapshot": "0a1b2c3d4e5f", "pairs": 300}
        here = {"kind": "here", "campaign": "talk", "snapshot": "0a1b2c3d4e5f"}
        version.measured_here = {"talk": {"confidence": here | off | {"as_it_came": off | {"error": 0.204}}, "refit": refit}}
        version.save()
        for path in (PAGE, PAGE + "beside/", f"/tournaments/{Tournament.objects.get().pk}/"):
            assert "calibration error is 0.204 (0.050 to 0.120) without adjustment, over 300 pairs" in said(None, path)
            assert "multiply its utility differences by 0.44" in said(None, path)
            assert "left out of this fit, its expected calibration error is 0.081 (0.050 to 0.120)" in said(None, path)
        version.settings, version.metrics = {"sources": {"talk": ["Overall", False]}}, version.metrics | {"calibration": off}
        version.save()
        assert "On held-out contexts of this campaign" in said(None)

    def test_a_deleted_campaign_is_public_no_more(self, world):
        start.set_board(world.campaign, is_public=True, plays_new=True)
        world.campaign.deleted_at = timezone.now()
        world.campaign.save()
        assert world.get(world.charlie, PAGE).status_code == 404

    def test_who_sees_it_is_set_on_the_page(self, world):
        world.post(world.alice, PAGE + "settings/", {"is_public": "on"})
        world.campaign.refresh_from_db()
        assert world.campaign.board_is_public and not world.campaign.plays_new_comparators
        assert 'name="is_public" id="id_is_public" checked' in world.get(world.alice, PAGE + "play/").content.decode().replace(
            'aria-describedby="id_is_public_helptext" ', ""
        )

    def test_the_button_starts_a_tournament_that_the_page_follows(self, world):
        world.post(world.alice, PAGE + "play/", {"basis": "people", "criterion": "", "seed": "2", "games": ""})
        tournament = Tournament.objects.get()
        assert (tournament.basis, tournament.criterion, tournament.seed) == ("people", "Overall", 2)
        html = world.get(world.alice, PAGE).content.decode()
        assert f'data-job-url="/jobs/{tournament.job_id}/"' in html and "No worker is running" in html
        assert (
            f'data-job-url="/jobs/{tournament.job_id}/"'
            in world.get(world.alice, f"/tournaments/{tournament.pk}/").content.decode()
        )

    def test_a_comparator_is_chosen_by_name(self, world, version):
        world.post(world.alice, PAGE + "play/", {"basis": "judge", "judge": version.name, "seed": "0", "games": "9"})
        assert Tournament.objects.get().version == version and Tournament.objects.get().wanted_games == 9

    def test_people_and_a_comparator_together_and_other_rules(self, world, version):
        asked = {"basis": "corrected", "judge": version.name, "seed": "0", "rating": "bradley-terry"}
        world.post(world.alice, PAGE + "play/", asked)
        started = Tournament.objects.get()
        assert (started.basis, started.version, started.rating, started.ties) == (
            "corrected",
            version,
            "bradley-terry",
            "davidson",
        )
        world.post(world.alice, PAGE + "play/", asked | {"basis": "judge", "level": "sample", "rating": "paper"})
        assert Tournament.objects.filter(level="sample", rating="by-game", basis="judge").count() == 1

    def test_a_foreign_comparator_is_refused(self, world, version):
        version.campaigns.clear()
        world.post(world.alice, PAGE + "play/", {"basis": "judge", "judge": version.name, "seed": "0"})
        assert not Tournament.objects.exists()

    def test_the_board_with_people_beside_it(self, world, version):
        people, ours = by_people(world.campaign), by_comparator(world.campaign, games=200)
        html = world.get(world.alice, PAGE + "?judge=comparator").content.decode()
        assert ours.signature in html and "For comparison: judged by people" in html and "human-written" in html
        assert "Spearman" in html and "<svg" in html and "style=" not in html
        assert "simulated" not in html
        assert people.signature in world.get(world.alice, f"/tournaments/{people.pk}/").content.decode()

    def test_a_board_that_is_not_there(self, world):
        by_people(world.campaign)
        assert "This board does not exist" in world.get(world.alice, PAGE + "?judge=comparator").content.decode()
        assert world.get(world.alice, PAGE + "?basis=people&criterion=x").status_code == 200
        for nonsense in ("?judge=nonsense&criterion=x", "?basis=nonsense", "?basis=people&judge=bleu-1"):
            assert world.get(world.alice, PAGE + nonsense).status_code == 404

    def test_before_anything_was_played(self, tmp_path, client):
        world = World(tmp_path, client, judged=False)
        assert "No tournament has been played yet" in world.get(world.alice, PAGE).content.decode()

    def test_simulated_judgments_are_labelled_everywhere(self, tmp_path, client):
        world = World(tmp_path, client, judged=False)
        world.score("Overall", SCORES, simulated=True)
        world.freeze()
        tournament = by_people(world.campaign)
        assert selectors.board(tournament).basis.simulated is True
        for page in (PAGE, f"/tournaments/{tournament.pk}/"):
            assert world.get(world.alice, page).content.decode().count("badge-simulated") >= 3
        assert world.get(world.alice, f"/api/tournaments/{tournament.pk}/").json()["basis"]["simulated"] is True

    def test_the_api_gives_what_the_command_prints(self, world):
        by_people(world.campaign)
        served = world.get(world.alice, "/api/campaigns/talk/leaderboard/?judge=people").json()
        assert served == command("leaderboard", "talk", "--basis", "people")
        made = served["provenance"]
        assert (served["method"]["pairing"], made["rests_on"], made["level"], made["ending"]) == (None, 96, "system", "all")

    def test_an_unfinished_tournament_has_no_json(self, world):
        tournament = start_tournament(world.campaign, "people")
        assert world.get(world.alice, f"/api/tournaments/{tournament.pk}/").status_code == 404

    def test_as_many_queries_for_many_games_as_for_few(self, world, version, django_assert_max_num_queries):
        world.client.force_login(world.alice)

        def queries() -> int:
            with django_assert_max_num_queries(40) as captured:
                assert world.client.get(PAGE).status_code == 200
            return len(captured)

        by_people(world.campaign, games=5), by_comparator(world.campaign, games=5)
        few = queries()
        by_people(world.campaign), by_comparator(world.campaign, games=600)
        assert queries() == few


class TestWhiskers:
    ROW = Standing(1, "A", False, 1, 1, rating=1500.0, low=1400.0, high=1600.0, error=50.0)

    @staticmethod
    def drawn(*boards):
        return whiskers([replace(example(), standings=tuple(rows), groups=()) for rows in boards])

    def test_the_scale_holds_both_boards(self):
        chart = self.drawn([self.ROW], [replace(self.ROW, low=900.0, high=2100.0)])
        main, other = chart["rows"][0]["lines"]
        assert chart["ticks"][0][1] <= 900 and chart["ticks"][-1][1] >= 2100
        assert other["low"] < main["low"] < main["at"] < main["high"] < other["high"]

    def test_a_system_that_only_one_board_knows(self):
        assert len(self.drawn([self.ROW], [])["rows"][0]["lines"]) == 1

    @pytest.mark.parametrize(
        ("name", "human", "lines"),
        [
            ("", False, [""]),
            ("A person", True, ["A person", "(human-written)"]),
            ("gpt-4o-mini-2024-07-18", False, ["gpt-4o-mini-2024-", "07-18"]),
            ("x" * 36, False, ["x" * 18, "x" * 18]),
            ("x" * 37, False, ["x" * 18, "x" * 17 + "…"]),
            ("北京大学的对话系统第二版", False, ["北京大学的对话系统", "第二版"]),
        ],
    )
    def test_a_long_name_takes_two_lines_and_no_more(self, name, human, lines):
        assert name_lines(name, human) == lines

    def test_a_row_has_room_for_its_names_and_its_whiskers(self):
        systems = [replace(self.ROW, system=f"a rather long name, {n}", human_written=n == 1) for n in range(3)]
        chart = self.drawn(*[systems] * 3)
        ends = [
            (row["labels"][0]["y"], row["labels"][-1]["y"], row["lines"][0]["y"], row["lines"][-1]["y"])
            for row in chart["rows"]
        ]
        for (_, label, _, line), (next_label, _, next_line, _) in zip(ends, ends[1:]):
            assert next_label - label >= 14 and next_line - line >= 14
        assert chart["base"] > max(ends[-1][1], ends[-1][3])

    def test_no_system_no_chart(self):
        assert self.drawn([]) is None
