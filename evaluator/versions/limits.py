"""The first line of a card: what its own figures say that the comparator does not know."""

from typing import Any

from evaluator.metaevaluation.robustness import FEWEST_CASES, SMALLEST_SHARE


def limits(metrics: dict[str, Any]) -> str:
    """In sentences, of a version's metrics; "" where they say of nothing that it is not known."""
    attacks, said = metrics.get("attacks") or [], []
    right, longer = (metrics.get(name) for name in ("heldout_pairwise_accuracy", "longer_is_better_accuracy"))
    low, high = metrics.get("heldout_pairwise_interval") or (None, None)
    if right is not None and longer is not None and low is not None and low <= longer:
        agreed = f"{right:.0%} ({low:.0%} to {high:.0%})"
        said.append(
            f"It is not known to be better than “longer is better”: it agrees with {agreed} of people's clear preferences,"
            f" that rule with {longer:.0%}."
        )
    worst: dict[str, float] = {}
    few = {row["attack"]: row["n"] for row in attacks if row["n"] < FEWEST_CASES}
    for row in attacks:
        if row["attack"] not in few:
            worst[row["attack"]] = min(row["share"], worst.get(row["attack"], 1.0))
    if fooled := sorted((share, name) for name, share in worst.items() if share < SMALLEST_SHARE):
        told = ", ".join(f"{name} ({share:.0%})" for share, name in fooled)
        said.append(f"It does not tell a good output from these in {SMALLEST_SHARE:.0%} of cases: {told}.")
    if few:
        told = ", ".join(f"{name} ({n})" for name, n in few.items())
        said.append(f"Of these attacks there were under {FEWEST_CASES} cases, too few to say: {told}.")
    for row in [*(metrics.get("correlations") or []), *(metrics.get("transfer") or [])]:
        beside = row.get("above_cosine")
        if beside and beside["low"] <= 0:
            word = "below" if beside["high"] < 0 else "not known to be above"
            where = row.get("campaign") or row.get("title") or "another campaign"
            said.append(f"On {where}, it is {word} the untrained cosine with {beside['cosine']}.")
    return " ".join(said)
