"""What the package truescore makes of the same answers: tests/golden/truescore.json, which holds the script that made it."""

import json
from pathlib import Path

import numpy as np
import pytest

from annotation.quality.gwet import gwet_ac
from annotation.quality.kappa import cohen_kappa
from annotation.quality.krippendorff import alpha
from annotation.quality.people.suspicion import holm

GOLDEN = json.loads((Path(__file__).resolve().parents[2] / "golden/truescore.json").read_text(encoding="utf-8"))
SCORES = np.array([[float(x) if x != "." else np.nan for x in text] for text in GOLDEN["data"].values()])  # (people, outputs)


def test_agreement_and_corrected_p_values_are_the_same():
    one, other = SCORES[:2]
    good = SCORES[:2] >= 3
    counts = np.stack([(~good).sum(axis=0), good.sum(axis=0)], axis=1)  # (outputs, no and yes)
    found = {
        "cohen": cohen_kappa(*good.astype(int)),
        "cohen of points": cohen_kappa(one, other),
        "quadratic": cohen_kappa(one, other, "quadratic"),
        "ac1": gwet_ac(counts),
        **{level: alpha(SCORES, level) for level in ("nominal", "ordinal", "interval")},
        "holm": holm(GOLDEN["p"]),
    }
    assert found.keys() == GOLDEN["found"].keys()
    for name, value in GOLDEN["found"].items():
        assert found[name] == pytest.approx(value, abs=1e-9), name
