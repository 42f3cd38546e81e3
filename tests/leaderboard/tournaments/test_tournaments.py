"""Tournaments by people and by a comparator: what is played, what is recorded, and only once."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from annotation import jobs
from annotation.data.importer import import_outputs
from annotation.models import Campaign, Job, Output
from core.errors import Refused
from evaluator.versions import registry
from leaderboard import tasks
from leaderboard.boards import queries
from leaderboard.models import Game, Immutable, Tournament
from leaderboard.rating import glicko2_sequential
from leaderboard.rating.games import Games
from leaderboard.rating.rules import PAPER, Rules
from leaderboard.signature import parse
from leaderboard.templatetags.boards import head_to_head
from leaderboard.templatetags.boards import known as all_known
from leaderboard.tournaments import entrants, start
from leaderboard.tournaments import play as playing
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import SCORES, World, write
from tests.leaderboard.played import by_comparator, by_people, quiet, strict, tallies

pytestmark = pytest.mark.django_db


class TestPeople:
    @pytest.fixture
    def small(self, tmp_path):
        """Two contexts, by hand. Ann: c00 Fine 4, Plain 4, Poor 1; c01 Fine 2, Plain 3. Bob: c00 Fine 5, Poor 5."""
        world = World(tmp_path, contexts=2, judged=False)
        from annotation.data.importer import import_scores

        given = [
            ("Ann", "c00", "Fine", 4),
            ("Ann", "c00", "Plain", 4),
            ("Ann", "c00", "Poor", 1),
            ("Ann", "c01", "Fine", 2),
            ("Ann", "c01", "Plain", 3),
            ("Bob", "c00", "Fine", 5),
            ("Bob", "c00", "Poor", 5),
        ]
        rows = [{"annotator": a, "context_id": c, "system": s, "aspect": "Overall", "score": v} for a, c, s, v in given]
        import_scores(world.campaign, write(tmp_path, "scores.jsonl", rows))
        from annotation.assessment.assess import assess

        assess(world.campaign, mad=100, on_zero_mad="keep")
        return world

    def test_games_by_hand(self, small):
        """Ann, c00: Fine ties Plain, both beat Poor; c01: Plain beats Fine. Bob, c00: Fine ties Poor."""
        tournament = by_people(small.campaign)
        assert tallies(tournament) == {
            "Fine": (3, 1, 2, 1),
            "Plain": (2, 2, 1, 0),
            "Poor": (2, 0, 1, 2),
            "Person": (0, 0, 0, 0),
        }
        assert tournament.played == 7  # scores
        means = {r.system.name: r.human_mean for r in tournament.ratings.select_related("system")}
        assert means == {"Fine": pytest.approx(11 / 3), "Plain": 3.5, "Poor": 3.0, "Person": None}

    def test_head_to_head_by_hand(self, small):
        tournament = by_people(small.campaign)
        rows = {r["system"]: r["cells"] for r in head_to_head(queries.alone(tournament))}
        order = list(rows)
        cell = lambda a, b: rows[a][order.index(b)]
        assert cell("Fine", "Plain") == [0, 1, 1] and cell("Plain", "Fine") == [1, 1, 0]
        assert cell("Fine", "Poor") == [1, 1, 0] and cell("Plain", "Poor") == [1, 0, 0]
        assert cell("Fine", "Fine") is None and "Person" not in order  # whom nobody judged

    def test_judgments_of_pairs_play_where_no_criterion_is_named(self, world):
        world.judge(
            [("c00", "Fine", "Poor", "Ann", "A"), ("c01", "Poor", "Fine", "Ann", "B"), ("c00", "Plain", "Fine", "Ann", "tie")]
        )
        world.freeze()
        tournament = by_people(world.campaign, criterion="")
        assert tallies(tournament)["Fine"] == (3, 2, 1, 0) and tallies(tournament)["Poor"] == (2, 0, 0, 2)
        assert tournament.criterion == "" and parse(tournament.signature)["judge"] == "people/pairs"

    def test_by_the_papers_rating_a_seed_orders_the_games_and_nothing_else(self, world):
        first, again, other = (by_people(world.campaign, seed=seed, rules=PAPER) for seed in (1, 1, 2))
        ratings = lambda t: list(t.ratings.order_by("system").values_list("rating", flat=True))
        assert ratings(first) == ratings(again) != ratings(other)
        assert tallies(first) == tallies(other)

    def test_by_the_default_rating_the_order_of_games_makes_no_difference(self, world):
        first, other = by_people(world.campaign, seed=1), by_people(world.campaign, seed=2)
        ratings = lambda t: list(t.ratings.order_by("system").values_list("rating", "rd"))
        assert np.allclose(ratings(first), ratings(other))

    def test_how_games_are_paired_says_nothing_of_peoples_answers(self, world):
        """All of them count, by the mixed model, whatever pairing and end are asked for."""
        usual, other = by_people(world.campaign), by_people(world.campaign, rules=Rules(pairing="round-robin", stop="all"))
        assert queries.alone(other).basis == queries.alone(usual).basis
        ratings = [list(t.ratings.order_by("system").values_list("rating", "low", "high")) for t in (usual, other)]
        assert ratings[0] == ratings[1]

    def test_as_many_games_as_asked_for(self, world):
        assert by_people(world.campaign, games=10).played == 10
        with pytest.raises(Refused, match="Only 144 games follow from the scores of 'Overall'; 145 were asked for"):
            by_people(world.campaign, games=145)

    def test_without_judgments_it_is_refused(self, tmp_path):
        world = World(tmp_path, judged=False)
        with pytest.raises(Refused, match="no snapshot of accepted judgments"):
            start_tournament(world.campaign, "people")

    def test_the_signature_says_what_made_it(self, world):
        tournament = by_people(world.campaign, seed=7)
        said = parse(tournament.signature)
        assert said["judge"] == "people/Overall" and said["comparator"] is None
        assert said["snapshot"] == world.campaign.snapshots.get().name
        assert (said["games"], said["seed"], said["pairing"], said["rating"]) == (96, 7, None, None)
        assert (said["method"], said["ties"]) == ("mixed-model", None)


class TestComparator:
    def test_the_board_follows_the_judge(self, world, version):
        tournament = by_comparator(world.campaign, games=400, rules=PAPER)
        order = [r.system.name for r in tournament.ratings.select_related("system")]
        assert order[0] == "Person" and order[-1] == "Poor" and tournament.games.count() == 400
        table = {r["system"]: r["cells"] for r in head_to_head(queries.alone(tournament))}
        assert table["Fine"][order.index("Plain")][0] == table["Fine"][order.index("Plain")][2] == 0  # ties alone
        assert (tournament.version, tournament.criterion, tournament.settled) == (version, "Overall", tournament.settled)

    def test_beside_it_stand_the_scores_that_it_learned_from_here(self, world, version):
        world.score("Wit", SCORES)
        world.freeze()
        version.settings = {"sources": {"elsewhere": ["Overall", False], "talk": ["Wit", False]}}
        version.save()
        assert start_tournament(world.campaign, "judge").criterion == "Wit"

    def test_the_ratings_are_those_of_the_recorded_games(self, world, version):
        tournament = by_comparator(world.campaign, games=60, rules=PAPER)
        column = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
        played = list(tournament.games.select_related("output_a", "output_b"))
        assert all(g.output_a.context_id == g.output_b.context_id for g in played)
        assert all(g.output_a.system_id != g.output_b.system_id for g in played)
        games = Games(
            [column[g.output_a.system_id] for g in played],
            [column[g.output_b.system_id] for g in played],
            [{"A": 1, "tie": 0, "B": -1}[g.outcome] for g in played],
            [0] * len(played),
        )
        expected = glicko2_sequential.rate(len(column), games)
        for rating in tournament.ratings.all():
            i = column[rating.system_id]
            assert (rating.rating, rating.rd, rating.volatility) == pytest.approx(
                (expected.rating[i], expected.rd[i], expected.volatility[i])
            )

    def test_games_keep_their_probabilities(self, world, version):
        game = by_comparator(world.campaign, games=5).games.first()
        assert (game.p_a, game.p_b) == (0.6, 0.3)

    def test_until_the_papers_order_settles(self, world, version):
        """Its judge ties Fine with Plain for ever, so that their order is kept or is not by the seed alone."""
        tournament = by_comparator(world.campaign, rules=PAPER)
        assert tournament.settled and tournament.settings["ending"] == "settled"
        assert tournament.played == tournament.games.count() >= 2 * 50 * 4 / 2  # two blocks of 50 selections of 4 systems

    def test_no_pair_meets_twice_on_a_context_by_default(self, world, version):
        tournament = by_comparator(world.campaign, games=1000)
        assert tournament.played == 12 * 6 and tournament.settings["ending"] == "all"
        met = [frozenset(pair) for pair in tournament.games.values_list("output_a", "output_b")]
        assert len(set(met)) == 12 * 6

    def test_the_signature_names_the_papers_rules_and_ours(self, world, version):
        paper, ours = by_comparator(world.campaign, games=9, rules=PAPER), by_comparator(world.campaign, games=9)
        asked = start.rules_named("bradley-terry", pairing="round-robin")
        theirs = by_comparator(world.campaign, games=9, rules=asked)
        said = [parse(t.signature) for t in (paper, ours, theirs)]
        assert [(s["rating"], s["ties"], s["pairing"]) for s in said] == [
            ("paper", "ratio0.1", "again"),
            ("glicko2", "half", "random"),
            ("bradley-terry", "davidson", "round-robin"),
        ]

    def test_rules_that_mean_nothing_are_refused(self):
        with pytest.raises(Refused, match="ties of a glicko2 rating must be one of half, drop, not 'davidson'"):
            start.rules_named("glicko2", ties="davidson")

    def test_whether_each_is_above_the_next(self, world, version):
        """Person always beats Fine, Fine and Plain always tie, both always beat Poor: 12 contexts tell all but the tie."""
        board = queries.alone(by_comparator(world.campaign))
        found = board.neighbours
        assert [pair.known for pair in found] == [True, False, True]
        assert (found[0].upper, found[2].lower) == ("Person", "Poor")
        known = {row["system"]: row for row in all_known(board)}
        assert known["Person"]["above"] == ["Fine", "Plain", "Poor"] and known["Poor"]["below"] == ["Person", "Fine", "Plain"]
        assert known["Fine"] == {"system": "Fine", "above": ["Poor"], "below": ["Person"], "open": ["Plain"]}
        ranks = {row.system: (row.rank_low, row.rank_high) for row in queries.board(by_comparator(world.campaign)).standings}
        assert ranks == {"Person": (1, 1), "Fine": (2, 3), "Plain": (2, 3), "Poor": (4, 4)}

    def test_the_same_seed_plays_the_same_games(self, world, version):
        first, again = by_comparator(world.campaign, games=50, seed=3), by_comparator(world.campaign, games=50, seed=3)
        values = lambda t: list(t.games.values_list("number", "output_a", "output_b", "outcome"))
        assert values(first) == values(again) and first.replicates == again.replicates

    def test_a_system_plays_its_last_checkpoint(self, world, version, tmp_path):
        rows = [
            {
                "context_id": r["context_id"],
                "context": r["context"],
                "system": "Poor",
                "checkpoint": f"step {n}",
                "iteration": n,
                "total_iterations": 900,
                "output": f"at {n}",
            }
            for r in world.rows
            if r["system"] == "Poor"
            for n in (100, 900, 500)
        ]
        import_outputs(world.campaign, write(tmp_path, "checkpoints.jsonl", rows))
        playing = entrants.current_entrants(world.campaign).outputs
        assert {o.text for o in playing if o.system.name == "Poor"} == {"at 900"}
        assert len(playing) == 48

    def test_samples_are_drawn(self, world, version, tmp_path):
        rows = [
            {"context_id": r["context_id"], "context": r["context"], "system": "Poor", "sample": 1, "output": "bad again"}
            for r in world.rows
            if r["system"] == "Poor"
        ]
        import_outputs(world.campaign, write(tmp_path, "samples.jsonl", rows))
        tournament = by_comparator(world.campaign, games=200)
        played = Output.objects.filter(
            system__name="Poor", pk__in=[pk for pair in tournament.games.values_list("output_a", "output_b") for pk in pair]
        )
        assert set(played.values_list("sample", flat=True)) == {0, 1}

    def test_a_campaign_nobody_judged_may_be_played(self, world, version, tmp_path):
        (tmp_path / "new").mkdir()
        new = World(tmp_path / "new", slug="new", judged=False)
        tournament = by_comparator(new.campaign, version=version, games=20)
        assert parse(tournament.signature)["snapshot"] == "none" and tournament.snapshot is None
        assert queries.board(tournament).agreement is None

    def test_without_a_comparator_it_is_refused(self, world):
        with pytest.raises(Refused, match="No comparator has been trained on people's judgments of campaign 'talk'"):
            start_tournament(world.campaign, "judge")

    def test_one_system_cannot_play(self, world, version, tmp_path):
        campaign = Campaign.objects.create(slug="alone", title="Alone")
        import_outputs(
            campaign, write(tmp_path, "one.jsonl", [{"context_id": 1, "context": "a", "system": "S", "output": "b"}])
        )
        with pytest.raises(Refused, match="Campaign 'alone' has fewer than two systems, so no game is possible."):
            by_comparator(campaign, version=version)

    @pytest.mark.parametrize("games", [0, -1, 100_001])
    def test_a_number_of_games_out_of_range(self, world, version, games):
        with pytest.raises(Refused, match="number of games"):
            start_tournament(world.campaign, "judge", games=games)


class TestPromoted:
    """A comparator that is promoted plays by itself, where the campaign says so."""

    def promote(self, world, version, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            registry.promote(world.campaign, version, world.alice, reason="It is all we have.")
        return set(Tournament.objects.values_list("basis", "judge__version__name"))

    def test_alone_and_together_with_people(self, world, version, django_capture_on_commit_callbacks):
        started = self.promote(world, version, django_capture_on_commit_callbacks)
        assert started == {("judge", version.name), ("corrected", version.name)}

    def test_not_where_the_campaign_says_no(self, world, version, django_capture_on_commit_callbacks):
        start.set_board(world.campaign, is_public=False, plays_new=False)
        assert self.promote(world, version, django_capture_on_commit_callbacks) == set()

    def test_alone_where_nobody_has_judged(self, tmp_path, world, version, django_capture_on_commit_callbacks):
        (tmp_path / "new").mkdir()
        new = World(tmp_path / "new", slug="new", judged=False)
        version.campaigns.add(new.campaign)
        assert self.promote(new, version, django_capture_on_commit_callbacks) == {("judge", version.name)}


class TestImmutable:
    @pytest.fixture
    def finished(self, world, version):
        return by_comparator(world.campaign, games=10)

    def test_its_row_cannot_be_saved_or_deleted(self, finished):
        finished.seed = 99
        everything = Tournament.objects.all()
        for change in (finished.save, finished.delete, lambda: everything.update(seed=99), everything.delete):
            with pytest.raises(Immutable, match="A finished tournament never changes; play a new one."):
                change()
        finished.refresh_from_db()
        assert finished.seed == 0

    def test_its_games_and_ratings_can_neither_change_nor_grow(self, finished):
        rating, game = finished.ratings.first(), finished.games.first()
        rating.rating, game.outcome = 9999.0, "tie"
        more = Game(tournament=finished, number=11, output_a=game.output_a, output_b=game.output_b, outcome="A")
        for change in (
            rating.save,
            rating.delete,
            game.save,
            more.save,
            lambda: Game.objects.bulk_create([more]),
            lambda: finished.games.update(outcome="tie"),
            finished.ratings.all().delete,
        ):
            with pytest.raises(Immutable):
                change()
        assert finished.games.count() == 10 and not finished.ratings.filter(rating=9999).exists()

    def test_a_whole_campaign_may_go(self, finished, world):
        world.campaign.delete()
        assert not Tournament.objects.exists() and not Game.objects.exists()

    def test_a_renamed_system_keeps_its_name_on_it(self, finished, world):
        world.campaign.systems.filter(name="Fine").update(name="Finer")
        assert "Fine" in {row.system for row in queries.board(finished).standings}

    def test_a_later_board_of_people_does_not_change_it(self, finished, world):
        before = queries.board(finished)
        by_people(world.campaign)
        assert queries.board(finished) == before and before.agreement is None


class TestResumed:
    """What plays is fixed when the tournament is recorded, so a resumed one plays what it would have played."""

    def test_game_for_game_whatever_came_in_between(self, world, version, tmp_path):
        uninterrupted = by_comparator(world.campaign, games=80, seed=4)
        cancelled = start_tournament(world.campaign, "judge", games=80, seed=4, foreground=True)

        def cancel(progress, message):
            raise jobs.Cancelled

        with pytest.raises(jobs.Cancelled):
            playing.play(cancelled, cancel, strict)
        new = [{"context_id": "c90", "context": "new", "system": s, "output": "x"} for s in ("Fine", "Poor", "Fresh")]
        import_outputs(world.campaign, write(tmp_path, "new.jsonl", new))
        world.campaign.systems.filter(name="Plain").update(retired_at=timezone.now())
        resumed = playing.play(cancelled, quiet, strict)
        values = lambda t: list(t.games.values_list("number", "output_a", "output_b", "outcome"))
        assert values(resumed) == values(uninterrupted) and resumed.replicates == uninterrupted.replicates

    def test_a_cancelled_one_starts_again_from_its_page(self, world, sent, client):
        tournament = start_tournament(world.campaign, "people")
        jobs.cancel(tournament.job)
        world.client = client
        page = world.get(world.alice, f"/tournaments/{tournament.pk}/").content.decode()
        assert f'action="/jobs/{tournament.job_id}/retry/"' in page
        world.post(world.alice, f"/jobs/{tournament.job_id}/retry/")
        tasks.play(str(tournament.job_id))
        tournament.refresh_from_db()
        assert tournament.finished_at and tournament.played == 96


class TestOnce:
    def test_a_finished_tournament_never_changes(self, world):
        tournament = by_people(world.campaign)
        world.score("Wit", SCORES)
        world.freeze()
        before = Tournament.objects.filter(pk=tournament.pk).values().get()
        stale = Tournament.objects.get(pk=tournament.pk)
        stale.finished_at = None  # a worker that read the row before it was finished
        assert playing.play(stale, quiet).finished_at == tournament.finished_at
        assert Tournament.objects.filter(pk=tournament.pk).values().get() == before
        assert tournament.played == 96 and tournament.ratings.count() == 4

    def test_a_dead_worker_is_found_and_one_result_remains(self, world, sent):
        tournament = start_tournament(world.campaign, "people", foreground=True)
        Job.objects.update(
            status=Job.Status.RUNNING, holder="dead", attempts=1, lease_until=timezone.now() - timedelta(seconds=1)
        )
        assert jobs.sweep() == 1 and sent == [("leaderboard.tasks.play", str(tournament.job_id))]
        tasks.play(str(tournament.job_id))
        tasks.play(str(tournament.job_id))
        tournament.refresh_from_db()
        assert tournament.finished_at and tournament.played == 96 and tournament.ratings.count() == 4

    def test_a_second_click_plays_nothing_twice(self, world):
        first = start_tournament(world.campaign, "people")
        again = start_tournament(world.campaign, "people")
        assert again == first and again.was_waiting and not first.was_waiting
        assert not start_tournament(world.campaign, "people", only_kept=True).was_waiting

    def test_the_api_answers_a_second_request_with_the_first_one_s_job(self, world):
        world.client.force_login(world.alice)
        asked = {"path": "/api/campaigns/talk/tournaments/", "data": {"basis": "people"}, "content_type": "application/json"}
        first, again = (world.client.post(**asked) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 200) and first.json()["job"]["id"] == again.json()["job"]["id"]
        assert "chosen" not in first.json()  # there is one criterion

    def test_the_api_says_which_criterion_it_took(self, world, monkeypatch):
        monkeypatch.setattr(
            "leaderboard.api_actions.by_default", lambda snapshot, criterion: f"Nobody chose; it is {criterion}."
        )
        world.client.force_login(world.alice)
        asked = {"path": "/api/campaigns/talk/tournaments/", "content_type": "application/json"}
        found = world.client.post(data={"basis": "people"}, **asked).json()
        assert found["chosen"] == "Nobody chose; it is Overall."
        assert "chosen" not in world.client.post(data={"basis": "people", "criterion": "Overall"}, **asked).json()

    def test_one_that_waits_is_not_the_same_once_outputs_have_come(self, world):
        first = start_tournament(world.campaign, "people")
        Output.objects.filter(context__campaign=world.campaign).order_by("pk").last().delete()
        assert start_tournament(world.campaign, "people") == first
        output = Output.objects.filter(context__campaign=world.campaign).order_by("pk").first()
        output.replaced_at = timezone.now()
        output.save()
        assert not start_tournament(world.campaign, "people").was_waiting

    def test_cancelled_on_the_way_leaves_nothing(self, world):
        tournament = start_tournament(world.campaign, "people", foreground=True)

        def cancel(progress, message):
            raise jobs.Cancelled

        with pytest.raises(jobs.Cancelled):
            tasks.run(tournament.job_id, watch=cancel)
        tournament.refresh_from_db()
        assert tournament.finished_at is None and not tournament.games.exists() and not tournament.ratings.exists()
        assert tournament.job.status == Job.Status.CANCELLED
