"""People and comparator on one board, outputs as players, and whether the order holds under other choices."""

import io
import re
from dataclasses import replace
from html import unescape

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import AuditEvent
from core.errors import Refused
from evaluator.judges.texts import context_key
from evaluator.roster import judge_of
from leaderboard.boards import queries
from leaderboard.boards.basis import AnswersLeftOut
from leaderboard.boards.board import Population
from leaderboard.rating.games import Games
from leaderboard.rating.prediction_powered import correct, transport
from leaderboard.rating.rules import PAPER, Rules
from leaderboard.signature import parse
from leaderboard.tournaments import active_selection, entrants, people_games, rate, start
from leaderboard.tournaments.context_results import meetings
from tests.evaluator.world import SCORES, World
from tests.leaderboard.played import Strict, by_comparator, by_people, calibrated

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


class TestCalibrated:
    def test_it_is_what_correct_gives_for_these_answers(self, world, version):
        """People's answers and games, the comparator's outcomes of the same games, and of every pair on every context."""
        board = calibrated(world.campaign)
        there = entrants.entrants_of(board)
        people = people_games.people_games(there, board.snapshot, "Overall", 0)
        judge = Strict(there.outputs)

        def decided(a, b):
            outcome = judge.outcomes([there.outputs[i].pk for i in a], [there.outputs[j].pk for j in b])
            return rate.between_systems(there, Games(a, b, outcome, there.context_of[a]))

        everything = decided(*meetings(there))
        assert len(everything) == 12 * 6
        reading = people_games.read_answers(there, people_games.people_answers(there, board.snapshot, "Overall"))
        of_judge = decided(people.first, people.second)
        of_people, draws = rate.between_systems(there, people), rate.draws_of(there)
        expected = correct(reading, of_people, of_judge, everything, draws)
        shown = {r.system_id: r.rating for r in board.ratings.all()}
        assert [shown[s.pk] for s in there.systems] == pytest.approx(expected.reading.rating.tolist())
        assert queries.board(board).method.name == "corrected-mixed-model"
        assert "|method:corrected-mixed-model|rating:none|" in board.signature
        said = queries.board(board).basis.people.worth
        assert said.judgments == len(people) == 144 and said.games == 72
        assert said.worth == round(144 * expected.worth)
        assert {t.system: t.verdict for t in said.transport} == dict(
            zip(rate.names(there), transport(expected, of_judge, draws))
        )

    def test_a_judge_that_says_nothing_of_contexts_changes_nothing(self, world, version):
        """Strict prefers the same systems on every context, so it has no luck to take off: the board is people's."""
        together, people = queries.board(calibrated(world.campaign)), queries.board(by_people(world.campaign))
        assert together.basis.people.worth.weight == 0
        rating = lambda board: {row.system: row.rating for row in board.standings}
        assert rating(together) == pytest.approx(rating(people))
        margins = [sorted(pair.margin for pair in board.differences) for board in (together, people)]
        assert margins[0] == pytest.approx(margins[1])

    def test_it_says_where_a_comparator_had_a_say_in_what_people_judged(self, world, version):
        doubts = lambda board: " ".join(one.text for one in queries.board(board).doubts)
        assert "had a say" not in doubts(calibrated(world.campaign))
        chosen = {"campaign": world.campaign, "action": active_selection.IN_ORDER["systems"]}
        AuditEvent.objects.create(**chosen, detail={"comparator": "one of before"})
        assert "had a say" not in doubts(calibrated(world.campaign, seed=2))  # after the snapshot
        world.campaign.snapshots.update(created_at=timezone.now())  # the audit log itself can't be changed
        assert "A comparator chose which pairs people" in doubts(calibrated(world.campaign, seed=3))
        assert "had a say" not in doubts(by_people(world.campaign))

    def test_what_people_said_where_the_comparator_was_taught_it_is_left_out(self, world, version, client):
        """Of 12 contexts with 12 games each the comparator learned from one elsewhere."""
        keys = [context_key(turns) for turns in world.campaign.contexts.order_by("pk").values_list("turns", flat=True)]
        board = calibrated(world.campaign, lambda text: context_key(text.context) == keys[0])
        there = entrants.entrants_of(board)
        people = people_games.people_games(there, board.snapshot, "Overall", 0)
        assert (people.context == 0).sum() == 12
        said = queries.board(board).basis.people
        assert (said.worth.judgments, said.left_out, board.played) == (132, (AnswersLeftOut("learnt", 12, 144),), 132)
        by_people(world.campaign)
        html = world.get(world.alice, "/c/talk/leaderboard/beside/").content.decode()
        told = "12 of 144 games of people are left out, because the comparator learned from their contexts in other campaigns."
        assert told in html
        out = io.StringIO()
        call_command("leaderboard", "talk", "--basis", "corrected", stdout=out)
        assert told in out.getvalue()
        with pytest.raises(Refused, match="learned from every context of people's scores of 'Overall'"):
            calibrated(world.campaign, lambda text: context_key(text.context) in keys, seed=2)

    def test_it_speaks_of_people_in_general(self, world, version, client):
        """Two annotators can speak of themselves only; with four who disagree, others may be expected to as well."""
        few = queries.board(calibrated(world.campaign))
        assert few.population == Population("annotators", 2, 12) and few.narrow is None
        html = world.get(world.alice, few.provenance.permalink).content.decode()
        assert "With only 2 annotators, the board cannot generalise to other people." in html
        world.score("Overall", {"Person": 3, "Fine": 5, "Plain": 4, "Poor": 1}, annotators=("Cid", "Dan"))
        world.freeze()
        shown = calibrated(world.campaign, seed=1)
        general, only = queries.board(shown), queries.board(shown, population="annotators")
        assert general.population == Population("people", 4, 12) and general.narrow is not None
        assert only.population.kind == "annotators"
        for wide, narrow in zip(general.standings, only.standings, strict=True):
            assert wide.rating == narrow.rating
            assert wide.high - wide.low >= narrow.high - narrow.low
        assert general.neighbours[0].margin >= only.neighbours[0].margin
        assert parse(shown.signature)["population"] == "people"
        permalink = f"/tournaments/{shown.pk}/"
        html = world.get(world.alice, permalink).content.decode()
        assert "Intervals hold for people like these 4 annotators, on contexts like these." in html
        html = world.get(world.alice, f"{permalink}?population=annotators").content.decode()
        assert "Intervals hold for these 4 annotators only, on contexts like these." in html
        for address in (
            f'"{permalink}?population',
            *(f"/tournaments/{shown.pk}.{kind}?population" for kind in ("csv", "tex", "svg")),
        ):
            assert f"{address}=annotators" in html
        world.campaign.board_is_public = True
        world.campaign.save()
        page = world.get(world.alice, "/c/talk/leaderboard/?basis=corrected&population=annotators").content.decode()
        frame = re.search(r'<iframe src="http://testserver(\S+)"', unescape(page))[1]
        assert "population=annotators" in frame and "these 4 annotators only" in world.get(world.alice, frame).content.decode()
        csv = world.get(world.alice, f"/tournaments/{shown.pk}.csv").content.decode()
        assert "contexts and people like these (annotators: 4)" in csv

    def test_another_rating_speaks_of_these_annotators(self, world, version):
        world.score("Overall", {"Person": 3, "Fine": 5, "Plain": 4, "Poor": 1}, annotators=("Cid", "Dan"))
        world.freeze()
        board = calibrated(world.campaign, rules=Rules("bradley-terry", "davidson"))
        assert queries.board(board).narrow is None and parse(board.signature)["population"] == "annotators"
        html = world.get(world.alice, f"/tournaments/{board.pk}/").content.decode()
        assert "Intervals hold for these 4 annotators only" in html

    def test_its_signature_and_its_place_beside_the_others(self, world, version, client):
        by_people(world.campaign), by_comparator(world.campaign)
        board = calibrated(world.campaign)
        said = parse(board.signature)
        assert (said["judge"], said["comparator"], said["pairing"]) == ("calibrated/Overall", version.name, None)
        html = world.get(world.alice, "/c/talk/leaderboard/beside/").content.decode()
        for judge in ("people", "the comparator", "people and the comparator together"):
            assert judge in html
        assert html.count("Spearman") and html.count("line-3") > 1

    def test_the_command_prints_it(self, world, version):
        calibrated(world.campaign)
        out = io.StringIO()
        call_command("leaderboard", "talk", "--basis", "corrected", stdout=out)
        assert "144 games judged by people carry as much information" in out.getvalue()

    def test_it_needs_people_and_an_order_free_rating(self, world, version):
        with pytest.raises(Refused, match="does not depend on the order of games"):
            start.start_tournament(world.campaign, "corrected", rules=PAPER)

    def test_without_judgments_it_is_refused(self, tmp_path, version):
        (tmp_path / "new").mkdir()
        new = World(tmp_path / "new", slug="new", judged=False)
        with pytest.raises(Refused, match="no snapshot of accepted judgments"):
            start.start_tournament(new.campaign, "corrected", judge_of(new.campaign, version))


class TestSamples:
    def test_outputs_of_all_contexts_meet(self, world, version):
        board = by_comparator(world.campaign, level="sample", games=600, rules=PAPER)
        games = board.games.select_related("output_a", "output_b")
        assert board.games.count() == 600 and any(g.output_a.context_id != g.output_b.context_id for g in games)
        assert board.outputs.filter(rating=None).count() == 0 and board.outputs.count() == 48
        assert parse(board.signature)["rating"] == "paper-samples"

    def test_a_systems_rating_is_the_mean_of_its_outputs(self, world, version):
        board = by_comparator(world.campaign, level="sample", games=600)
        for row in board.ratings.all():
            mine = board.outputs.filter(system_id=row.system_id).values_list("rating", flat=True)
            assert row.rating == pytest.approx(sum(mine) / 12)
        assert [r.name for r in board.ratings.all()][0] == "Person"

    def test_points_against_references_by_hand(self, world, version):
        """The references are all 36 machine-written outputs, as there are fewer than 50. Person beats each: 3 points.
        Fine and Plain meet 23 of their like (1 point) and 12 of Poor (3): 59 / 35. Poor draws with 11 of its like."""
        board = by_comparator(world.campaign, level="sample", games=100)
        found = {row.system: row.points for row in queries.board(board).three_scores}
        assert found["Person"] == 3.0
        assert found["Fine"] == found["Plain"] == pytest.approx((23 * 1 + 12 * 3) / 35, abs=5e-4)
        assert found["Poor"] == pytest.approx(11 / 35, abs=5e-4)

    def test_it_stands_beside_the_systems_rating_and_is_never_the_newest_board(self, world, version):
        systems = by_comparator(world.campaign)
        board = by_comparator(world.campaign, level="sample", games=200)
        assert queries.latest(world.campaign) == systems
        rating = {r.name: r.rating for r in systems.ratings.all()}
        for row in queries.board(board).three_scores:
            assert row.rating == pytest.approx(rating[row.system], abs=0.06)
        html = world.get(world.alice, f"/tournaments/{board.pk}/").content.decode()
        assert "Three scores" in html
        assert f"/tournaments/{board.pk}/" in world.get(world.alice, "/c/talk/leaderboard/beside/").content.decode()

    def test_people_cannot_be_asked_about_two_contexts(self, world):
        with pytest.raises(Refused, match="compares outputs of several contexts"):
            start.start_tournament(world.campaign, "people", level="sample")


class TestStability:
    def test_another_seed_and_other_rules_on_the_page(self, world, version):
        by_comparator(world.campaign, games=40)
        names = {row.name for row in queries.alone(queries.latest(world.campaign)).stability}
        assert "Another seed (1)" in names and "Bradley-Terry, fitted ties" in names and len(names) == 4
        html = world.get(world.alice, "/c/talk/leaderboard/beside/").content.decode()
        assert "Another seed (1)" in html and "Robustness of the order" in html

    def test_what_the_filter_dropped_counts_unless_it_is_left_out(self, tmp_path):
        """Cid's lone scores are filtered out: 4 systems on 12 contexts, 5 people, of whom one disagrees about every output."""
        world = World(tmp_path, judged=False)
        world.score("Overall", SCORES, annotators=("Ann", "Bob", "Bea", "Ben"))
        world.score("Overall", {"Person": 1, "Fine": 1, "Plain": 1, "Poor": 5}, annotators=("Cid",))
        world.freeze()
        board = by_people(world.campaign)
        there = entrants.entrants_of(board)
        assert len(people_games.answers_of(board, there)) == 12 * 4 * 5
        assert len(people_games.people_games(there, board.snapshot, "Overall", 0)) == 12 * 6 * 5
        found = next(row for row in queries.alone(board).stability if row.name == "Only what the filter kept")
        assert found.tau == 1.0 and found.order[0] == "Person"  # one against four changes no rank
        assert queries.board(board).basis.people.answers == 240 and not queries.board(board).basis.people.left_out

    def test_only_what_the_filter_kept_is_as_unsure_as_all_answers(self, tmp_path, client):
        world = World(tmp_path, client, judged=False)
        world.score("Overall", SCORES, annotators=("Ann", "Bob", "Bea", "Ben"))
        world.score("Overall", {"Person": 1, "Fine": 1, "Plain": 1, "Poor": 5}, annotators=("Cid",))
        world.freeze()
        every, kept = by_people(world.campaign), by_people(world.campaign, only_kept=True)
        there = entrants.entrants_of(kept)
        assert (len(people_games.answers_of(kept, there)), people_games.answers_of(kept, there).dropped) == (192, 48)
        said = queries.board(kept)
        assert (said.basis.people.answers, said.basis.people.left_out) == (192, (AnswersLeftOut("filter", 48, 240),))
        assert said.population.kind == "annotators"
        width = lambda board: [row.high - row.low for row in sorted(board.standings, key=lambda row: row.system)]
        assert width(said) == pytest.approx(width(queries.board(every, population="annotators")), abs=0.2)
        html = world.get(world.alice, kept.get_absolute_url()).content.decode()
        assert "48 of 240" in html
        with pytest.raises(Refused, match="Only people's board"):
            calibrated(world.campaign, only_kept=True)

    def test_what_is_kept_is_frozen(self, world):
        board = by_people(world.campaign)
        before = queries.board(board)
        world.score("Overall", {"Person": 1, "Fine": 2, "Plain": 3, "Poor": 5}, annotators=("Cid", "Dan", "Eva"))
        now = queries.board(board)
        assert now.newer_than and replace(now, newer_than="") == before  # that there are newer ones is said today
