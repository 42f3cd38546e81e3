"""A jury: several judges that answer together, by the mean of their probabilities or by vote.

Panels of small models from different families agree with people better than one large model, and lean less to their own
(Verga et al. 2024, "Replacing Judges with Juries"). Whoever says nothing of a pair is counted; at least half must answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from core.errors import Refused
from evaluator.judges.protocol import Judge, Numbers, OnProgress, Preferences
from evaluator.judges.texts import Text

WAYS = ("mean", "vote")
UNJUDGED = 0.05  # of the pairs that were asked about: beyond this share nothing follows from the rest


@dataclass(frozen=True)
class Juror:
    """One of its judges. preferences: of a pointwise one, what its utilities mean for each other; None: as it says itself."""

    name: str
    judge: Judge
    preferences: Callable[[Numbers, Numbers], Preferences] | None = None

    def compare(self, texts_a: Sequence[Text], texts_b: Sequence[Text], on_progress: OnProgress | None) -> Preferences:
        """NaN and "" where it says nothing."""
        if self.judge.kind == "pairwise":
            return self.judge.compare(texts_a, texts_b, on_progress=on_progress)
        u = np.asarray(self.judge.utilities([*texts_a, *texts_b], on_progress=on_progress), dtype=float)
        a, b = u[: len(texts_a)], u[len(texts_a) :]
        known = np.isfinite(a) & np.isfinite(b)  # (n,)
        said = (self.preferences or self.judge.preferences)(a[known], b[known])
        probabilities, choices = np.full((len(known), 3), np.nan), np.full(len(known), "", dtype="<U3")
        probabilities[known], choices[known] = said.probabilities, said.choices
        return Preferences(probabilities, choices)


@dataclass
class Jury:
    """Follows `protocol.PairwiseJudge`. by: of WAYS."""

    jurors: Sequence[Juror]
    by: str
    kind: Literal["pairwise"] = "pairwise"
    _missing: dict[str, int] = field(default_factory=dict)  # pairs that each said nothing of
    _pairs: int = 0
    _unjudged: int = 0

    @property
    def each_pair_costs(self) -> bool:
        return any(getattr(juror.judge, "each_pair_costs", False) for juror in self.jurors)

    @property
    def settings(self) -> dict[str, Any]:
        jurors = {juror.name: dict(getattr(juror.judge, "settings", {})) for juror in self.jurors}
        return {"by": self.by, "jurors": jurors}

    @property
    def used(self) -> dict[str, Any]:
        """What its language models took together, and of how many pairs each juror said nothing."""
        spent = [used for juror in self.jurors if "calls" in (used := dict(getattr(juror.judge, "used", {})))]
        names = ("calls", "kept", "prompt_tokens", "completion_tokens", "replies_without_usage", "cost")
        counted: dict[str, Any] = {name: sum(used[name] for used in spent) for name in names} if spent else {}
        why = {f"{name} said nothing": count for name, count in self._missing.items() if count}
        return counted | {"pairs_of_jury": self._pairs, "unjudged": self._unjudged, "why_unjudged": why}

    def check(self) -> None:
        """Raises Refused where too few answered on more pairs than may stay unjudged."""
        if self._unjudged > UNJUDGED * self._pairs:
            named = ", ".join(f"{name} ({count:,})" for name, count in self._missing.items() if count)
            raise Refused(
                f"Fewer than half of the jury answered on {self._unjudged:,} of {self._pairs:,} pairs, more than"
                f" {UNJUDGED:.0%}. Who said nothing: {named}."
            )

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        said = []
        for i, juror in enumerate(self.jurors):
            watch = _share(on_progress, i, len(self.jurors))
            one = juror.compare(texts_a, texts_b, watch)
            self._missing[juror.name] = self._missing.get(juror.name, 0) + int((~one.judged).sum())
            said.append(one)
        together = joined(said, self.by)
        self._pairs, self._unjudged = self._pairs + len(texts_a), self._unjudged + int((~together.judged).sum())
        return together


def joined(said: Sequence[Preferences], by: str) -> Preferences:
    """What m judges say of n pairs together. By mean: the mean of the probabilities of those that answered, and the likeliest
    answer. By vote: the shares of A, tie and B among their choices; a side is chosen that has more votes than both others.
    NaN and "" where fewer than half answered."""
    judged = np.array([one.judged for one in said])  # (m, n)
    if by == "vote":
        each = np.array([np.stack([one.choices == side for side in ("A", "tie", "B")], axis=-1) for one in said], dtype=float)
    else:
        each = np.array([np.where(one.judged[:, None], one.probabilities, 0.0) for one in said])  # (m, n, 3)
    count = judged.sum(axis=0)  # (n,)
    enough = 2 * count >= len(said)
    p = np.full((len(count), 3), np.nan)
    p[enough] = each.sum(axis=0)[enough] / count[enough, None]
    return Preferences.likeliest(p)


def _share(on_progress: OnProgress | None, i: int, n: int) -> OnProgress | None:
    return on_progress and (lambda done, *what: on_progress((i + done) / n, *what))
