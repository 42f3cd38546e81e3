"""A judge's comparisons as scores of outputs, by hand and by a tiny comparator of each architecture."""

import numpy as np
import pytest

from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.training.train import fit
from evaluator.judges.protocol import Preferences
from evaluator.judges.texts import Text
from evaluator.metaevaluation.comparison_scores import WAYS, Contestants, scored
from evaluator.metaevaluation.correlation import pearson
from leaderboard.rating.glicko2 import update_single
from tests.evaluator.comparator.conftest import judged, settings, tiny_encoder  # noqa: F401


class ByLength:
    """Prefers the longer output; remembers what it was given to read."""

    kind = "pairwise"

    def __init__(self):
        self.seen = []

    def compare(self, texts_a, texts_b, *, on_progress=None):
        assert all(a.context == b.context for a, b in zip(texts_a, texts_b, strict=True))
        self.seen += list(zip(texts_a, texts_b))
        ahead = np.array([np.sign(len(a.output) - len(b.output)) for a, b in zip(texts_a, texts_b)])
        return Preferences.likeliest(np.stack([ahead > 0, ahead == 0, ahead < 0], axis=1).astype(float))


class Utilities:
    """The same as a pointwise judge."""

    kind = "pointwise"

    def utilities(self, texts, *, on_progress=None):
        return np.array([float(len(text.output)) for text in texts])

    def preferences(self, utility_a, utility_b):
        ahead = np.sign(utility_a - utility_b)
        return Preferences.likeliest(np.stack([ahead > 0, ahead == 0, ahead < 0], axis=1).astype(float))


# Two contexts; the third system is a person.
TEXTS = [Text((c,), o) for c, outputs in (("one", ["a", "bb", "cccc"]), ("two", ["aa", "b", "ccc"])) for o in outputs]
FIELD = Contestants(TEXTS, np.array([False, False, True] * 2), np.array([0, 1, 2] * 2))


def test_points_by_hand():
    """References are the machine-written a, bb, aa, b. "a" ties with "b" and loses twice: 1/3 of a point; "bb" beats two and
    ties with one: 7/3; a person's "cccc" beats all four: 3."""
    found = scored("points", ByLength(), FIELD)
    assert found.scores == pytest.approx([1 / 3, 7 / 3, 3, 7 / 3, 1 / 3, 3])
    assert found.games == 4 * 3 + 2 * 4
    assert scored("points", Utilities(), FIELD).scores.tolist() == found.scores.tolist()
    assert scored("points", Utilities(), FIELD).read == 6


def test_what_a_judge_of_pairs_reads_is_counted():
    """Of 14 different pairs six are of one context, less those of a person with a person; the others are read in both."""
    judge = ByLength()
    found = scored("points", judge, FIELD)
    assert found.read == len(judge.seen) == len(set(judge.seen))
    pairs = {frozenset((a, b)) for a in range(6) for b in (0, 1, 3, 4) if a != b}
    same = sum((min(pair) < 3) == (max(pair) < 3) for pair in pairs)
    assert found.read == same + 2 * (len(pairs) - same)


def test_a_sample_rating_by_hand():
    """Two outputs and one game: Glicko-2's first period of a winner and a loser who start alike."""
    found = scored("sample rating", ByLength(), Contestants(TEXTS[:2], np.zeros(2, bool), np.array([0, 1])), plays=1)
    won, lost = (update_single(1500, 350, 0.06, 1500, 350, score)[0] for score in (1, 0))
    # Glickman 2012: g = 0.6690, E = 1/2, v = 8.936; phi' = sqrt(1 / (1 / (phi^2 + sigma^2) + 1 / v)): 1662.3
    assert won == pytest.approx(1662.3, abs=0.1) and lost == pytest.approx(1337.7, abs=0.1)
    assert found.scores == pytest.approx([lost, won]) and (found.games, found.read) == (1, 1)


def test_ten_thousand_plays_put_outputs_in_order():
    found = scored("sample rating", ByLength(), FIELD)
    assert found.games == 10_000 and found.read <= 6 + 2 * 9  # each pair once, however often it plays
    order = np.array([len(text.output) for text in TEXTS])
    assert pearson(np.argsort(np.argsort(found.scores)), order) > 0.9
    assert scored("sample rating", Utilities(), FIELD).scores.tolist() == found.scores.tolist()


def test_systems_play_on_contexts_they_share():
    found = scored("system rating", ByLength(), FIELD)
    first, second, person = found.scores[:3]
    assert found.scores.tolist() == [first, second, person] * 2  # an output has its system's rating
    assert person > max(first, second) and abs(first - second) < 150  # each of the two wins one context
    assert found.read == 6 and found.games >= 150  # three pairs in two contexts; 50 selections of each system, twice
    assert scored("system rating", Utilities(), FIELD).scores.tolist() == found.scores.tolist()


def test_what_cannot_play_is_refused():
    with pytest.raises(ValueError, match="at least two outputs"):
        scored("sample rating", Utilities(), Contestants(TEXTS[:1], np.zeros(1, bool), np.zeros(1, int)))
    with pytest.raises(ValueError, match="same context"):
        scored("system rating", ByLength(), Contestants([TEXTS[0], TEXTS[4]], np.zeros(2, bool), np.array([0, 1])))
    with pytest.raises(ValueError, match="no way 'elo'"):
        scored("elo", ByLength(), FIELD)


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["utility", "joint"])
def test_a_tiny_comparator_plays_all_three(architecture, settings, judged, tmp_path):  # noqa: F811
    """Trained on "good" before neither before "bad"; 12 contexts play, out of fold."""
    from dataclasses import replace

    texts, pairs, scores = judged
    chosen = replace(settings, architecture=architecture, folds=2, epochs=8)
    fit(Examples(texts, pairs, scores=scores), chosen, 0, tmp_path / "version")
    field = Contestants(texts[:36], np.zeros(36, bool), np.arange(36) % 3)
    judge = load(tmp_path / "version")
    for way in WAYS:
        found = scored(way, judge, field, plays=400, references=10)
        assert pearson(found.scores, scores[:36]) > 0.5, way
        assert found.read == 36 if architecture == "utility" else found.read >= 36
