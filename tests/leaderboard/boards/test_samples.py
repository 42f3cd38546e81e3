"""From a board down to the texts: shares by hand, the contexts where people and the comparator part, and their pages."""

import pytest

from leaderboard.boards import samples
from tests.evaluator.world import SCORES, World
from tests.leaderboard.played import by_comparator, by_people

pytestmark = pytest.mark.django_db
PAGE, QUARREL = "/c/talk/leaderboard/samples/", "/c/quarrel/leaderboard/samples/"
# The judge of these tests always gives P(first better), P(tie), P(second better) = 0.6, 0.1, 0.3.
EXPECTED = 0.6 + 0.1 / 2


@pytest.fixture
def quarrel(tmp_path, client):
    """Two contexts; on c01 somebody judges one pair against the judge's expectation, on c00 one with it."""
    (tmp_path / "quarrel").mkdir()
    world = World(tmp_path / "quarrel", client, contexts=2, slug="quarrel", judged=False)
    world.judge(
        [("c00", "Fine", "Poor", "Ann", "A"), ("c01", "Fine", "Poor", "Ann", "B"), ("c01", "Fine", "Poor", "Bob", "tie")]
    )
    world.freeze()
    return world


@pytest.fixture
def board(quarrel, version):
    version.campaigns.set([quarrel.campaign])
    return by_comparator(quarrel.campaign, version=version, criterion="")


class TestShares:
    def test_peoples_by_hand(self, quarrel, board):
        """c00: Fine beat Poor. c01: Fine lost once and tied once, so 0.25 against 0.75."""
        share = {
            (r.context.key, r.system.name): (r.people, r.people_games)
            for r in board.outputs.select_related("context", "system")
        }
        assert share["c00", "Fine"] == (1.0, 1) and share["c00", "Poor"] == (0.0, 1)
        assert share["c01", "Fine"] == (0.25, 2) and share["c01", "Poor"] == (0.75, 2)
        assert share["c00", "Person"] == (None, 0)

    def test_disagreement_by_hand(self, quarrel, board):
        """The judge expects 0.65 of whoever comes first, which in people's games is the lower-numbered system."""
        first = min(quarrel.campaign.systems.filter(name__in=["Fine", "Poor"]), key=lambda s: s.pk).name
        points = {"Fine": [1.0, 0.0, 0.5], "Poor": [0.0, 1.0, 0.5]}[first]  # c00; c01, twice
        found = {r.context.key: (r.games, r.disagreement) for r in board.contexts.select_related("context")}
        assert found["c00"] == (1, pytest.approx(abs(EXPECTED - points[0])))
        assert found["c01"] == (2, pytest.approx((abs(EXPECTED - points[1]) + abs(EXPECTED - points[2])) / 2))

    def test_the_comparators_shares_come_to_a_half(self, quarrel, board):
        for context in quarrel.campaign.contexts.all():
            shares = [r.comparator for r in board.outputs.filter(context=context)]
            assert len(shares) == 4 and sum(shares) / 4 == pytest.approx(0.5)

    def test_where_people_judge_there_is_no_comparator(self, quarrel):
        board = by_people(quarrel.campaign, criterion="")
        assert not board.outputs.exclude(comparator=None).exists()
        assert {r.disagreement for r in board.contexts.all()} == {None}


class TestPages:
    def test_the_greatest_quarrel_first(self, quarrel, board):
        order = [row.disagreement for row in samples.contexts(board)]
        assert order == sorted(order, reverse=True) and len(order) == 2
        html = quarrel.get(quarrel.alice, QUARREL).content.decode()
        assert html.index(samples.contexts(board)[0].context.key) < html.index(samples.contexts(board)[1].context.key)

    def test_one_context_with_everything_said_about_it(self, quarrel, board):
        context = quarrel.campaign.contexts.get(key="c01")
        html = quarrel.get(quarrel.alice, f"{QUARREL}{context.pk}/").content.decode()
        for row in quarrel.rows:
            assert (row["output"] in html) == (row["context_id"] == "c01")
        assert "over 2 games that people judged" in html and "<svg" in html and "style=" not in html
        assert samples.judgments(context) == [{"a": "Fine", "b": "Poor", "won": 0, "tied": 1, "lost": 1}]

    def test_scores_by_criterion(self, world):
        world.score("Wit", {name: 2 for name in SCORES}, annotators=["Ann"])
        world.freeze()
        by_people(world.campaign, criterion="Overall")
        context = world.campaign.contexts.get(key="c00")
        found = samples.scores(context)[context.outputs.get(system__name="Fine").pk]
        assert found == {"Overall": {"mean": 4.0, "n": 2}, "Wit": {"mean": 2.0, "n": 1}}
        html = world.get(world.alice, f"{PAGE}{context.pk}/").content.decode()
        assert "4.00" in html and "Wit" in html

    def test_an_earlier_tournament_by_name_and_no_other_campaigns(self, world, tmp_path):
        board = by_people(world.campaign)
        (tmp_path / "other").mkdir()
        other = World(tmp_path / "other", world.client, slug="other")
        foreign = by_people(other.campaign)
        assert world.get(world.alice, f"{PAGE}?tournament={board.pk}").status_code == 200
        assert world.get(world.alice, f"{PAGE}?tournament={foreign.pk}").status_code == 404
        assert world.get(world.alice, f"{PAGE}{other.campaign.contexts.first().pk}/").status_code == 404

    def test_before_anything_was_played(self, world):
        assert "No board yet" in world.get(world.alice, PAGE).content.decode()
        assert world.get(world.alice, f"{PAGE}{world.campaign.contexts.first().pk}/").status_code == 404

    def test_best_and_worst_contexts(self, quarrel):
        board = by_people(quarrel.campaign, criterion="")
        fine = quarrel.campaign.systems.get(name="Fine")
        best, worst = samples.best_and_worst(board, fine)
        assert [r.context.key for r in best] == ["c00", "c01"] and worst == []
        html = quarrel.get(quarrel.alice, f"/c/quarrel/systems/{fine.pk}/").content.decode()
        assert "100% of the points" in html and "25% of the points" in html

    def test_as_many_queries_for_many_contexts_as_for_few(
        self, world, django_assert_num_queries, django_assert_max_num_queries
    ):
        by_people(world.campaign, games=5)
        world.client.force_login(world.alice)
        with django_assert_max_num_queries(15 + 11) as few:
            assert world.client.get(PAGE).status_code == 200
        by_people(world.campaign)
        with django_assert_num_queries(len(few)):
            assert world.client.get(PAGE).status_code == 200


def test_contexts_are_found_by_their_id(world):
    by_people(world.campaign)
    page = world.get(world.alice, f"{PAGE}?q=c03").content.decode()
    assert ">c03</a>" in page and ">c04</a>" not in page
