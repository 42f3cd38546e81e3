"""Any judge plays a tournament and judges files: here one that gives each output a number, and one that reads two together."""

import json

import numpy as np
import pytest

from annotation.outcome import Outcome
from core.errors import ImportRefused, Refused
from evaluator.judges.protocol import Preferences, preferences, utilities, verdicts_on
from evaluator.judges.texts import Text
from evaluator.roster import judge_of
from evaluator.worker.comparators import verdicts_of
from evaluator.worker.judged_files import compare_file, score_file
from leaderboard.models import Game
from leaderboard.tournaments.play import play
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import write
from tests.leaderboard.played import quiet, version  # noqa: F401


class Length:
    """Longer is better."""

    kind = "pointwise"

    def utilities(self, texts, *, on_progress=None):
        return np.array([len(text.output) for text in texts], dtype=float)

    def preferences(self, utility_a, utility_b):
        p = 1 / (1 + np.exp(utility_b - utility_a))
        return Preferences.likeliest(np.stack([0.9 * p, np.full(len(p), 0.1), 0.9 * (1 - p)], axis=1))


class Last:
    """The output whose last word comes later in the alphabet is better; the same word ties."""

    kind = "pairwise"

    def compare(self, texts_a, texts_b, *, on_progress=None):
        words = [(a.output.split()[-1], b.output.split()[-1]) for a, b in zip(texts_a, texts_b)]
        answers = {1: (0.7, 0.2, 0.1), 0: (0.2, 0.6, 0.2), -1: (0.1, 0.2, 0.7)}
        return Preferences.likeliest(np.array([answers[(a > b) - (a < b)] for a, b in words]).reshape(-1, 3))


JUDGES = {"pointwise": Length(), "pairwise": Last()}
BETTER = {"pointwise": lambda output: len(output), "pairwise": lambda output: output.split()[-1]}
TEXTS = {9: Text(("Hi",), "a b"), 4: Text(("Hi",), "abcdef a"), 7: Text(("Hi",), "z c"), 5: Text(("Bye",), "a b")}


@pytest.mark.parametrize("kind", JUDGES)
class TestAny:
    def test_verdicts_swap_with_the_sides(self, kind):
        said = verdicts_on(JUDGES[kind], TEXTS)
        a, b = [9, 4, 7, 9], [4, 9, 9, 7]
        assert said.outcomes(a, b).tolist() == (-said.outcomes(b, a)).tolist()
        assert said.probabilities(a, b) == pytest.approx(said.probabilities(b, a)[:, ::-1])
        expected = {"pointwise": [-1, 1, 0, 0], "pairwise": [1, -1, 1, -1]}[kind]
        assert said.outcomes(a, b).tolist() == expected

    def test_positions_say_the_same_as_ids(self, kind):
        texts = list(TEXTS.values())
        answers = preferences(JUDGES[kind], texts, [0, 2], [1, 0])
        assert answers.outcomes.tolist() == verdicts_on(JUDGES[kind], TEXTS).outcomes([9, 7], [4, 9]).tolist()
        assert answers.swapped().outcomes.tolist() == (-answers.outcomes).tolist()
        assert answers.swapped().probabilities == pytest.approx(answers.probabilities[:, ::-1])

    def test_no_pair_is_no_trouble(self, kind):
        assert verdicts_on(JUDGES[kind], {}).probabilities([], []).shape == (0, 3)

    @pytest.mark.django_db
    def test_it_plays_a_whole_tournament(self, kind, world, version):  # noqa: F811
        judging = lambda version, outputs, report: verdicts_of(JUDGES[kind], outputs, report)
        tournament = play(
            start_tournament(world.campaign, "judge", judge_of(world.campaign, version), foreground=True), quiet, judging
        )
        better = BETTER[kind]
        games = Game.objects.filter(tournament=tournament).select_related("output_a", "output_b")
        assert len(games) == tournament.played > 0 and tournament.ratings.count() == 4
        for game in games:
            a, b = better(game.output_a.text), better(game.output_b.text)
            assert game.outcome == (Outcome.A if a > b else Outcome.B if a < b else Outcome.TIE).value
            assert (game.p_a > game.p_b) == (a > b) and (game.p_a < game.p_b) == (a < b)

    def test_it_judges_a_file_of_pairs(self, kind, tmp_path):
        rows = [
            {"context": ["Hi"], "output_a": "a b", "output_b": "abcdef a"},
            {"context": ["Hi"], "output_a": "b", "output_b": "b"},
        ]
        out = tmp_path / "out.jsonl"
        assert compare_file(JUDGES[kind], write(tmp_path, "in.jsonl", rows), out) == 2
        judged = [json.loads(line) for line in out.read_text().splitlines()]
        assert judged[0]["predicted_choice"] == {"pointwise": "B", "pairwise": "A"}[kind]
        assert judged[1]["p_a"] == judged[1]["p_b"] and rows[0].items() <= judged[0].items()

    def test_it_scores_a_file(self, kind, tmp_path):
        rows = [{"context": list(text.context), "output": text.output} for text in TEXTS.values() if text.context == ("Hi",)]
        out = tmp_path / "out.jsonl"
        assert score_file(JUDGES[kind], write(tmp_path, "in.jsonl", rows), out) == 3
        judged = [json.loads(line) for line in out.read_text().splitlines()]
        expected = {"pointwise": [3.0, 8.0, 3.0], "pairwise": [0.5, 0.2, 0.8]}[kind]  # of 0.8, 0.2 for won, lost
        assert [row["score"] for row in judged] == pytest.approx(expected)
        assert [set(row) for row in judged] == [{"context", "output", "score"}] * 3


def test_a_judge_of_pairs_stays_within_a_context(tmp_path):
    with pytest.raises(Refused, match="compares outputs of one context only"):
        verdicts_on(Last(), TEXTS).outcomes([9], [5])
    assert utilities(Last(), [TEXTS[5]]).tolist() == [0.5]  # nobody to meet
    rows = write(tmp_path, "in.jsonl", [{"context": ["Hi"], "output": "a"}])
    with pytest.raises(ImportRefused):
        score_file(Last(), rows, tmp_path / "out.jsonl")


def test_no_side_is_chosen_that_is_not_the_likeliest():
    p = np.array([[0.5, 0.2, 0.3], [0.2, 0.2, 0.6], [0.4, 0.2, 0.4], [0.4, 0.4, 0.2]])
    assert Preferences.likeliest(p).choices.tolist() == ["A", "B", "tie", "tie"]
