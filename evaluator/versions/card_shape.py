"""What the metrics of a card that comes from elsewhere must look like, so that a page can show them."""

NUMBER, MAYBE, TEXT, FLAG = "a number", "a number or null", "a text", "true or false"
MAYBE_TEXT = "a text or null"
OF_WHOM = {"population": MAYBE_TEXT, "annotators": MAYBE}  # whom an interval speaks of; cards of before do not say
PAIRWISE = {"accuracy": NUMBER, "low": NUMBER, "high": NUMBER, "pairs": NUMBER} | OF_WHOM
CALIBRATION = {"error": NUMBER, "low": NUMBER, "high": NUMBER, "pairs": NUMBER}
CORRELATION = {
    "outputs": NUMBER,
    "contexts": NUMBER,
    "pearson": NUMBER,
    "pearson_interval": [NUMBER],
    "spearman": NUMBER,
    "spearman_interval": [NUMBER],
} | OF_WHOM
ABOVE_COSINE = {"cosine": TEXT, "pearson": NUMBER, "above": NUMBER, "low": NUMBER, "high": NUMBER}
JUDGE = {"pairwise": PAIRWISE, "correlation": CORRELATION}
CEILING = {
    "pairwise_accuracy": MAYBE,
    "pairwise_interval": [NUMBER],
    "pairs": NUMBER,
    "pearson": MAYBE,
    "spearman": MAYBE,
} | OF_WHOM
EVERY = "*"  # in a dict: whatever the keys are called

SHAPE = {
    "heldout_pairwise_accuracy": MAYBE,
    "heldout_pairwise_interval": [MAYBE],
    "heldout_population": MAYBE_TEXT,
    "heldout_annotators": MAYBE,
    "heldout_three_way_accuracy": MAYBE,
    "longer_is_better_accuracy": MAYBE,
    "texts": MAYBE,
    "units": MAYBE,
    "tie_threshold": MAYBE,
    "references": MAYBE,
    "base": {"name": TEXT, "sha256": TEXT, "contexts": NUMBER, "known": NUMBER},
    "cut_contexts": MAYBE,
    "cut_outputs": MAYBE,
    "device": MAYBE_TEXT,
    "peak_memory": MAYBE,
    "measuring_seconds": MAYBE,
    "calibration_error": MAYBE,
    "calibration": CALIBRATION,
    "longer": PAIRWISE,
    "reliability": [{"said": NUMBER, "right": NUMBER, "n": NUMBER}],
    "correlations": [{"campaign": TEXT, "above_cosine": ABOVE_COSINE} | CORRELATION],
    "criteria": [
        {"name": TEXT, "accuracy": MAYBE, "low": MAYBE, "high": MAYBE, "clear_pairs": NUMBER, "longer": MAYBE, "scale": NUMBER}
        | OF_WHOM
    ],
    "flips": {"share": NUMBER, "low": NUMBER, "high": NUMBER, "n": NUMBER},
    "attacks": [
        {"attack": TEXT, "other_words": FLAG, "share": NUMBER, "low": NUMBER, "high": NUMBER, "n": NUMBER, "answers": NUMBER}
    ],
    "transfer": [
        {
            "title": TEXT,
            "criterion": TEXT,
            "snapshot": TEXT,
            "above_cosine": ABOVE_COSINE,
            "similarity": NUMBER,
            "simulated": FLAG,
            "outputs": NUMBER,
            "of_outputs": NUMBER,
            "contexts": NUMBER,
            "pairs": NUMBER,
            "calibration": CALIBRATION,
            "comparator": JUDGE,
            "cosine": JUDGE,
            "longer": JUDGE,
        }
    ],
    "supervision": {"accuracy": MAYBE, "low": MAYBE, "high": MAYBE, "three_way": MAYBE, "clear_pairs": NUMBER, "longer": MAYBE},
    "not_measured": [{"title": TEXT, "why": TEXT}],
    "ties": {"macro_f1": NUMBER, "rate": NUMBER, "above_never": [NUMBER], "above_majority": [NUMBER], "above_random": [NUMBER]},
    "consistency": {
        "flips": MAYBE,
        "flips_interval": [NUMBER],
        "pairs": NUMBER,
        "circular": MAYBE,
        "circular_interval": [NUMBER],
        "triples": NUMBER,
    },
    "ceilings": {EVERY: {EVERY: CEILING}},
    "sources": {EVERY: NUMBER},
    "learnt_from": {EVERY: NUMBER},
}


def first_wrong(metrics: dict) -> str | None:
    """The name of a figure that is not of its shape; None where all that are there fit. What SHAPE does not name is shown
    nowhere and left alone; a record or a list may be missing or null, the fields of a record that is there may not, nor
    anything under a key of EVERY."""
    return next((name for name, shape in SHAPE.items() if name in metrics and not _fits(metrics[name], shape)), None)


def _fits(value, shape) -> bool:
    if isinstance(shape, list):
        fits = lambda one: shape[0] == MAYBE if one is None else _fits(one, shape[0])
        return value is None or (isinstance(value, list) and all(map(fits, value)))
    if isinstance(shape, dict) and EVERY in shape:
        return isinstance(value, dict) and all(one is not None and _fits(one, shape[EVERY]) for one in value.values())
    if isinstance(shape, dict):
        return value is None or (isinstance(value, dict) and all(_fits(value.get(key), part) for key, part in shape.items()))
    if isinstance(value, bool) or value is None:
        return shape == FLAG if value is not None else shape in (MAYBE, MAYBE_TEXT)
    return (
        isinstance(value, str) if shape in (TEXT, MAYBE_TEXT) else shape in (NUMBER, MAYBE) and isinstance(value, int | float)
    )
