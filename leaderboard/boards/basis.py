"""Whose judgments a board rests on: people's, a judge's, or people's corrected by a judge."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from leaderboard.boards.estimates import Estimate, Name

HELD_BACK = "Held back, since it shows people's answers as examples. The judge's page has it, for the campaign's researchers."


@dataclass(frozen=True)
class BoardSetting:
    name: str
    value: str


@dataclass(frozen=True)
class BoardRefit:
    """How a judge's scores became answers: scale, theta and tie threshold, fitted on people's pairs."""

    snapshot: str
    pairs: int
    scale: float
    theta: float
    tie_threshold: float


@dataclass(frozen=True)
class Calibration:
    """How far a judge's probabilities are off, over these pairs of people: as they came, and after the refit."""

    pairs: int
    as_it_came: Estimate
    refitted: Estimate


@dataclass(frozen=True)
class JudgeUsage:
    """What a judge took of which each pair costs: calls, replies kept from before, tokens read and written, the cost, and how
    many of so many pairs it answered the other way round when the sides changed; no pairs where it scored outputs. unjudged:
    pairs or outputs that it was asked about and said nothing of, why, and of which systems; other_models: who answered in the
    place of the model that was asked; server: what its server takes."""

    calls: int = 0
    kept: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    flips: int = 0
    pairs: int = 0
    replies_without_usage: int = 0
    unjudged: int = 0
    why_unjudged: str = ""
    unjudged_systems: str = ""
    other_models: str = ""
    server: str = ""


@dataclass(frozen=True)
class Gate:
    """What a comparator was asked before it might serve. passed: None where it was not asked; reasons: what it failed."""

    passed: bool | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoardJudge:
    """kind: of `evaluator.Judge`; reads: "pointwise" or "pairwise", "" where it is not known; unjudged: outputs that it says
    nothing of, which do not play."""

    name: str
    kind: str
    reads: str = ""
    settings: tuple[BoardSetting, ...] = ()
    unjudged: int = 0
    refit: BoardRefit | None = None
    calibration: Calibration | None = None
    used: JudgeUsage | None = None
    gate: Gate | None = None

    def without_answers(self) -> BoardJudge:
        """Anybody may read a board, and texts and people's answers are for researchers: without the prompt of a language model
        that is shown examples of them, alone or in a jury."""
        settings = _without_answers({one.name: one.value for one in self.settings})
        return replace(self, settings=tuple(BoardSetting(*one) for one in settings.items()))


def _without_answers(settings: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(settings)
    if "asked" in found and found.get("examples"):
        found["asked"] = HELD_BACK
    jurors = found.get("jurors")
    if isinstance(jurors, dict):
        found["jurors"] = {name: _without_answers(own) for name, own in jurors.items()}
    elif jurors and "'examples'" in jurors:  # as a board keeps them: the same as Python writes it
        found["jurors"] = str({name: _without_answers(own) for name, own in ast.literal_eval(jurors).items()})
    return found


@dataclass(frozen=True)
class BoardVerdict:
    """What was decided about people's answers when they were frozen. usable: accepted, tentatively or by a researcher. rule:
    "agreement", "reliability" or "zhao-2020"; reliability: the generalizability coefficient of the systems' means."""

    verdict: str
    usable: bool
    alpha: float | None = None
    reason: str = ""
    rule: str = "agreement"
    reliability: float | None = None


@dataclass(frozen=True)
class AnswersLeftOut:
    """Answers that do not count, of how many. why: their outputs no longer take part, a filter dropped them, the judge
    learned from their contexts in other campaigns (games), or they are the other kind of answer, which makes all less sure."""

    why: Literal["outputs", "filter", "learnt", "wider"]
    count: int
    of: int | None = None


@dataclass(frozen=True)
class Variance:
    """Of a term of the mixed model, on the scores' scale or in squared logits."""

    name: str
    value: float


@dataclass(frozen=True)
class Transport:
    """Whether the judge errs on a system as on the others: PASS, FAIL or INCONCLUSIVE."""

    system: Name
    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE"]


@dataclass(frozen=True)
class BoardWorth:
    """What a judge is worth beside people: its weight, from 0; so many of their games say as much as `worth` would without it;
    by_chance: what an uninformative judge can reach; games: how many the judge decided; transport: of each
    system, none on boards from games."""

    weight: float
    judgments: int
    worth: int
    saved: int
    games: int
    by_chance: float
    transport: tuple[Transport, ...] = ()


@dataclass(frozen=True)
class BoardPeople:
    """Whose answers the board rests on. kind: "scores", "pairs" or "both". rankings: that the pairs were in, where people
    ranked several outputs at once."""

    annotators: int | None = None
    kind: Literal["scores", "pairs", "both"] | None = None
    answers: int | None = None
    verdict: BoardVerdict | None = None
    left_out: tuple[AnswersLeftOut, ...] = ()
    variances: tuple[Variance, ...] = ()
    worth: BoardWorth | None = None
    rankings: int | None = None


@dataclass(frozen=True)
class BoardBasis:
    """Whose judgments: people's, a judge's, or people's corrected by a judge."""

    kind: Literal["people", "judge", "corrected"]
    judge: BoardJudge | None = None
    people: BoardPeople | None = None
    simulated: bool = False
