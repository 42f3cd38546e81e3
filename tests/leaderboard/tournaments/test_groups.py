"""Boards on contexts that are not independent: whole groups are drawn and counted."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from annotation.assessment.dependence import group_by
from leaderboard.boards import queries, wording
from leaderboard.boards.estimates import Forecast
from leaderboard.rating import ranking, rules
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.rules import Rules
from leaderboard.rating.tournament import run
from leaderboard.tournaments import context_groups, play, rate, standings
from leaderboard.tournaments.entrants import current_entrants
from leaderboard.tournaments.start import start_tournament
from tests.leaderboard.played import by_comparator, by_people, quiet

pytestmark = pytest.mark.django_db


def put_in_groups(world, of_each: int) -> None:
    """c00, c01, ... in groups of so many."""
    for number, context in enumerate(world.campaign.contexts.order_by("pk")):
        context.group = f"g{number // of_each}"
        context.save()


class Moody:
    """Prefers one half of the systems in the first half of the groups, the other half elsewhere."""

    def __init__(self, outputs):
        high = {"Person", "Fine"}
        self.likes = {o.pk: (o.system.name in high) == (o.context.key < "c08") for o in outputs}

    def outcomes(self, a, b):
        return np.array([int(self.likes[i]) - int(self.likes[j]) for i, j in zip(a, b)])

    def probabilities(self, a, b):
        return np.array([[0.6, 0.1, 0.3]] * len(a))


def moody(version, outputs, report):
    return Moody(outputs)


def by_moody(world):
    rows = start_tournament(world.campaign, "judge", foreground=True, rules=Rules(stop="all"))
    return play.play(rows, quiet, moody)


def figures(tournament) -> list[tuple]:
    columns = ("system", "rating", "rd", "low", "high", "rank_low", "rank_high", "games")
    return list(tournament.ratings.order_by("system").values_list(*columns))


def test_a_context_without_a_group_is_its_own(world):
    world.campaign.contexts.filter(key__in=["c01", "c03"]).update(group="x")
    world.campaign.contexts.filter(key="c02").update(group="y")
    there = current_entrants(world.campaign)
    assert there.groups[:6].tolist() == [0, 1, 2, 1, 3, 4] and there.units(np.array([0, 1, 3, 3])) == 2
    draws = rate.draws_of(there)
    assert draws.shape == (rate.REPLICATES, 12) and (draws[:, 1] == draws[:, 3]).all()
    assert (draws[:, 1] != draws[:, 2]).any()


@pytest.mark.parametrize("play_one", [by_moody, lambda world: by_people(world.campaign)], ids=["comparator", "people"])
def test_a_board_without_groups_is_what_it_was_to_the_last_digit(world, version, play_one):
    before = play_one(world)
    put_in_groups(world, 1)
    after = play_one(world)
    assert figures(after) == figures(before) and after.replicates == before.replicates
    shown = [replace(queries.alone(board), provenance=None) for board in (before, after)]
    assert shown[0] == shown[1] and shown[0].population.groups is None


def test_a_board_without_groups_resamples_contexts(world, version):
    """By `context_draws` and with as many degrees of freedom as there are contexts, less one."""
    board = by_moody(world)
    there = current_entrants(world.campaign)
    number = {output.pk: i for i, output in enumerate(there.outputs)}
    games = rate.between_systems(
        there,
        rate.Games(
            *np.array([(number[g.output_a_id], number[g.output_b_id]) for g in board.games.all()]).T,
            np.array([{"A": 1, "tie": 0, "B": -1}[g.outcome] for g in board.games.all()]),
            np.array([there.context_of[number[g.output_a_id]] for g in board.games.all()]),
        ),
    )
    drawn = rules.replicates(4, games, context_draws(12, rate.REPLICATES, rate.RESAMPLING_SEED), Rules(stop="all"))
    low, high = ranking.intervals(rules.standings(4, games), drawn, 12)
    assert [(row[3], row[4]) for row in figures(board)] == list(zip(low.tolist(), high.tolist()))


def test_intervals_are_wider_where_the_luck_of_a_system_is_its_groups(world, version):
    alone = by_moody(world)
    put_in_groups(world, 4)
    together = by_moody(world)
    for (*_, low, high, _, _, _), (*_, wide_low, wide_high, _, _, _) in zip(figures(alone), figures(together), strict=True):
        assert wide_low < low < high < wide_high
    assert [row[1] for row in figures(together)] == [row[1] for row in figures(alone)]  # the ratings stay
    played = queries.alone(together).population
    assert (played.contexts, played.groups) == (12, 3)


def test_samples_count_their_groups_too(world, version):
    put_in_groups(world, 4)
    board = by_comparator(world.campaign, level="sample")
    assert queries.alone(board).population.groups == 3


def test_the_model_of_peoples_answers_has_a_term_for_groups(world):
    terms = lambda board: {variance.name for variance in queries.alone(board).basis.people.variances}
    assert "topic" not in terms(by_people(world.campaign))
    put_in_groups(world, 4)
    board = by_people(world.campaign)
    assert {"group", "topic"} <= terms(board) and queries.alone(board).population.groups == 3


def by_two_texts(world) -> None:
    """Two texts, of six contexts each."""
    for number, context in enumerate(world.campaign.contexts.order_by("pk")):
        words = ["a ship sails over the sea", "butter and flour for a cake"][number % 2]
        context.turns = [words]
        context.save()


def moved_by_text(strength: float) -> SimpleNamespace:
    """A reading whose contexts move 4 systems by topic."""
    moved = np.random.default_rng(0).normal(size=(12, 4))
    moved[::2] += strength * np.array([1, -1, 1, -1])
    return SimpleNamespace(by_context=moved)


def test_contexts_that_are_alike_and_judged_alike_are_groups_that_nobody_declared(world):
    by_two_texts(world)
    there, doubts = context_groups.grouped(current_entrants(world.campaign), moved_by_text(6))
    assert there.units(np.arange(12)) == 2 and len(set(there.groups[::2])) == 1
    assert "the 12 contexts count as 2 groups" in doubts[0].text and "declare groups" in doubts[0].text
    plain = current_entrants(world.campaign)
    assert context_groups.grouped(plain, moved_by_text(0)) == (plain, ())


def test_a_declared_group_stands_and_copies_stay_together(world):
    by_two_texts(world)
    put_in_groups(world, 1)
    declared = current_entrants(world.campaign)
    assert context_groups.grouped(declared, moved_by_text(6)) == (declared, ())
    world.campaign.contexts.update(group="")
    world.campaign.contexts.filter(key__in=["c00", "c01"]).update(group="copies of c00")
    there, _ = context_groups.grouped(current_entrants(world.campaign), moved_by_text(6))
    assert there.units(np.arange(12)) == 1  # one copy has each topic


def test_a_researcher_who_lets_contexts_count_apart_is_warned(world):
    by_two_texts(world)
    group_by(world.campaign, "none", world.alice)
    plain = current_entrants(world.campaign)
    there, (doubt,) = context_groups.grouped(plain, moved_by_text(6))
    assert there == plain and doubt.kind == "apart" and "only as much as 2 groups" in doubt.text
    group_by(world.campaign, "copies", world.alice)
    assert context_groups.grouped(plain, moved_by_text(6))[1][0].kind == "texts"


def test_the_page_and_the_files_say_so(world, version):
    by_moody(world)
    page = world.get(world.alice, "/c/talk/leaderboard/").content.decode()
    assert "They hold for contexts like these" in page and "groups" not in page.split('id="play"')[0]
    put_in_groups(world, 4)
    board = queries.board(by_moody(world))
    page = world.get(world.alice, "/c/talk/leaderboard/").content.decode()
    assert "12 contexts in 3 groups" in page
    assert "resampling the groups of contexts. They hold for groups of contexts like these" in page
    assert (board.population.contexts, board.population.groups) == (12, 3)
    assert wording.population(board) == "groups of contexts like these"


@pytest.mark.parametrize(("units", "expected"), [(12, Forecast("contexts", 10)), (3, Forecast("groups", 3))])
def test_a_forecast_counts_what_is_independent(monkeypatch, units, expected):
    """36 games on 12 contexts, in 3 groups or none; for 30 more games, 10 contexts or 2.5 groups."""
    monkeypatch.setattr(standings.ranking, "games_to_part", lambda *given, **named: [(1, 2, 30)])
    known = SimpleNamespace(ranking=None)
    rating = SimpleNamespace(rating=np.array([2.0, 1.0]))
    rated = SimpleNamespace(standings=rating, count=36, contexts=12, units=units, narrow=None, known=known)
    assert standings.forecasts(rated, of_pairs=False) == {(0, 1): expected}
    assert standings.forecasts(rated, of_pairs=True) == {(0, 1): Forecast("judgments", 30)}


def test_a_tournament_does_not_end_by_what_only_single_contexts_would_say():
    """One system wins on all contexts: many contexts tell that, two groups of them do not."""
    contexts = {(0, 1): range(40)}
    judge = lambda first, second, context, rng: np.where(first == 0, 1, -1) * np.where(context % 5 == 0, -1, 1)
    assert run(2, contexts, judge).ending == "settled"
    assert run(2, contexts, judge, groups=np.arange(40) // 20).ending == "all"
