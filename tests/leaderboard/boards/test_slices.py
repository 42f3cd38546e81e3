"""A board on the contexts of one category alone."""

from leaderboard.boards import charts
from leaderboard.boards.slices import asked_slice, headline, on_slice, slices
from tests.leaderboard.boards.example import ANT, example


def test_a_slice_has_the_ratings_of_its_contexts_and_nothing_of_the_whole_board():
    """The example rates Ant alone on sport: 1520 (1480 to 1560), rank 1 to 2."""
    board = example()
    sport = asked_slice(board, "topic: sport")
    assert slices(board) == [sport] and asked_slice(board, "topic: film") is None
    of = on_slice(board, sport)
    assert [(row.system, row.rating, row.low, row.high, row.rank_high) for row in of.standings] == [(ANT, 1520, 1480, 1560, 2)]
    assert of.differences == () and of.narrow is None and of.standings[0].own is None and of.standings[0].best is None
    said = "On topic: sport (20 contexts), Ant & Co_50% has the highest rating, 1520 (1480 to 1560)."
    assert headline(of, sport) == f"{said} Only answers on these contexts count here."


def test_it_is_drawn_in_the_colour_that_the_system_has_everywhere():
    board = example()
    (drawn,) = charts.slices(board.categories[0], {row.system: row.id for row in board.standings})
    assert drawn["chart"]["rows"][0]["mark"].colour == charts.colour(1) and drawn["more"] == 0
