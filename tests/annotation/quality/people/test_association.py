import numpy as np
import pytest

from annotation.quality.answer_arrays import Answers
from annotation.quality.people.association import association
from annotation.quality.people.constancy import constancy

CUTS = np.array([-1.2, -0.4, 0.4, 1.2])


def campaign(seed, severity, outputs=600):
    """Everybody scores every output: a normal quality and normal noise, both of SD 1, less the severity, cut into 1 to 5."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=outputs) + rng.normal(size=(len(severity), outputs)) - np.array(severity)[:, None]
    return 1.0 + np.searchsorted(CUTS, seen)


def test_severity_and_ceilings_leave_the_association_as_it_is():
    scores = campaign(0, [0, 0, 0, 1.5, -2.5])
    z, error = association(Answers.of_table(scores), 5)
    r = np.tanh(z)
    assert (np.abs(z[3:] - z[:3].mean()) < 3 * error[3:]).all()
    lenient = np.corrcoef(scores[4], scores[:4].mean(axis=0))[0, 1]
    assert lenient < r[4] - 0.1  # the plain correlation is lower, since nearly all scores are the top one
    assert error[4] > error[:3].max()  # and so less is known


def test_error_is_the_spread_over_campaigns():
    drawn = [association(Answers.of_table(campaign(seed, [0, 0, 0, 1], outputs=100)), 4) for seed in range(60)]
    z, error = (np.array(one) for one in zip(*drawn))
    # An SD of 60 has a relative error of 9%; the error is not below it, and at most a third above.
    assert (z.std(axis=0, ddof=1) / error.mean(axis=0)).tolist() == pytest.approx([0.9] * 4, abs=0.3)


def test_who_reads_the_scale_upside_down_does_not_blur_the_others():
    scores = campaign(1, [0, 0, 0, 0, 0])
    z, _ = association(Answers.of_table(scores), 5)
    scores[0] = 6 - scores[0]
    turned, _ = association(Answers.of_table(scores), 5)
    assert turned[0] == pytest.approx(-z[0], abs=0.05)
    without, _ = association(Answers.of_table(scores[1:]), 4)
    assert turned[1:] == pytest.approx(without, abs=0.02)


def test_undefined():
    scores = campaign(2, [0, 0, 0], outputs=50)
    scores[1] = 3
    z, error = association(Answers.of_table(scores), 4)
    assert np.isnan([z[1], z[3], error[1], error[3]]).all() and np.isfinite([z[0], z[2]]).all()


def test_nobody_honest_gives_the_middle_always_but_the_lenient_give_the_top():
    scores = campaign(0, [0, 0.5, -0.5, 1, -1, 0], outputs=100)
    scores[5] = 3
    share, p = constancy(Answers.of_table(scores), 7)
    assert share[5] == 1.0 and p[5] < 1e-9 and (p[:5] > 0.01).all() and np.isnan(p[6])
    lenient = campaign(0, [0, 1, -1, 1.5, -1.5, -2.5], outputs=100)
    share, p = constancy(Answers.of_table(lenient), 6)
    assert share[5] > 0.7 and p.min() > 0.01
