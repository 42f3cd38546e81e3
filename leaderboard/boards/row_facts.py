"""What the row of a tournament says for its board, whenever it was played: the one place that reads who judged."""

from collections.abc import Mapping
from typing import Any, Literal

from annotation.models import Criterion
from annotation.questions.conditions import in_words
from annotation.questions.registry import kind_named
from core.errors import Refused
from leaderboard.boards.basis import BoardJudge, BoardRefit, BoardSetting, BoardVerdict, Calibration, Gate, JudgeUsage
from leaderboard.boards.board import BoardQuestion, Method, MethodName, Provenance
from leaderboard.boards.estimates import Estimate
from leaderboard.models import Tournament

BasisKind = Literal["people", "judge", "corrected"]
PEOPLE = Tournament.Basis.PEOPLE
BY_GAMES: dict[str, MethodName] = {"glicko2": "glicko2", "by-game": "glicko2-by-game", "bradley-terry": "bradley-terry"}


def basis_kind(tournament: Tournament) -> BasisKind:
    kinds: dict[str, BasisKind] = {"people": "people", "judge": "judge", "corrected": "corrected"}
    return kinds[tournament.basis]


def reads_answers(tournament: Tournament) -> bool:
    """Is it rated from all of people's answers by a mixed model, and not from games?"""
    return tournament.basis == PEOPLE and not tournament.wanted_games and tournament.rules().rates_by_default


def judge(tournament: Tournament, gate: list[dict] | None = None, used: JudgeUsage | None = None) -> BoardJudge | None:
    """None where people alone judged. gate: what its comparator was asked."""
    row, refit = tournament.judge, tournament.settings.get("refit")
    if row is None:
        return None
    if tournament.version:
        refitted = refit and _refit(refit)
        return BoardJudge(name=tournament.version.name, kind=row.kind, refit=refitted, gate=_gate(gate or []))
    record: Mapping[str, Any] = tournament.settings.get("judge_record", {})
    return BoardJudge(
        name=row.name,
        kind=row.kind,
        reads=record.get("reads", ""),
        settings=tuple(BoardSetting(name, str(value)) for name, value in (record.get("settings") or {}).items()),
        unjudged=record.get("unjudged", 0),
        refit=refit and _refit(refit),
        calibration=_calibration(record.get("calibration")),
        used=used,
    )


def _refit(found: Mapping[str, Any]) -> BoardRefit:
    return BoardRefit(**{name: found[name] for name in ("snapshot", "pairs", "scale", "theta", "tie_threshold")})


def _calibration(found: Mapping[str, Any] | None) -> Calibration | None:
    if not found:
        return None
    ends = [found[name] for name in ("as_it_came", "refitted")]
    before, after = (Estimate(end["error"], end.get("low"), end.get("high")) for end in ends)
    return Calibration(found["refitted"]["pairs"], before, after)


def _gate(asked: list[dict]) -> Gate:
    reasons = tuple(question["answer"] for question in asked if not question["passed"])
    return Gate(not reasons if asked else None, reasons)


def question(tournament: Tournament) -> BoardQuestion:
    if not tournament.criterion:
        return BoardQuestion("", "pair", unit="share")
    scale = Criterion.objects.filter(campaign=tournament.campaign_id, name=tournament.criterion).first()
    if scale is None:
        return BoardQuestion(tournament.criterion, "scale", unit="points")
    best: Any = scale.best
    high = scale.high if kind_named(scale.kind).has_upper_end else None
    return BoardQuestion(
        tournament.criterion, "scale", unit="points", low=scale.low, high=high, best=best, asked_only=in_words(scale.asked_if)
    )


def verdict(tournament: Tournament) -> BoardVerdict | None:
    """On people's answers to the board's question, by the snapshot. None where none was frozen, or nobody asked."""
    if tournament.snapshot is None:
        return None
    name = tournament.criterion or None
    found = [d for d in tournament.snapshot.decisions.select_related("criterion") if _about(d) == name]
    if not found:
        return None
    decision = min(found, key=lambda one: one.on_pairs)
    alpha = decision.report.get("alpha_before", decision.report.get("alpha"))
    reason = decision.overrule_reason or decision.report.get("reason") or ""
    reliable = (decision.report.get("reliability") or {}).get("coefficient")
    rule = decision.report.get("rule", "agreement")
    alpha, reliable = (None if value is None else round(value, 4) for value in (alpha, reliable))
    return BoardVerdict(decision.verdict, decision.is_usable, alpha, reason, rule, reliable)


def _about(decision) -> str | None:
    return decision.criterion.name if decision.criterion else None


def method(tournament: Tournament, kind: str | None, scale: float | None = None, model: MethodName | None = None) -> Method:
    """What made its numbers. kind: of people's answers, where these were read; model: of these, where the kind does not say."""
    name = model or method_name(tournament, kind)
    rules, looks = tournament.rules(), tournament.settings.get("looks", 1)
    if name in ("mixed-model", "joint-mixed-model", "corrected-mixed-model"):
        return Method(name, scale=scale and round(scale, 4), looks=looks)
    if name in ("bradley-terry-mixed-model", "plackett-luce"):
        return Method(name, ties=rules.ties, looks=looks)
    return Method(name, rules.rating, rules.ties, rules.pairing if tournament.plays_itself else "once", looks=looks)


def method_name(tournament: Tournament, kind: str | None) -> MethodName:
    if reads_answers(tournament):
        return "mixed-model" if kind == "scores" else "bradley-terry-mixed-model"
    return "prediction-powered" if basis_kind(tournament) == "corrected" else BY_GAMES[tournament.rules().rating]


def campaign_looks(tournament: Tournament) -> int | None:
    """How many snapshots had a board of this question by people, this one's too. None where people had no part."""
    if basis_kind(tournament) == "judge" or tournament.snapshot_id is None:
        return None
    boards = Tournament.objects.filter(campaign=tournament.campaign_id, criterion=tournament.criterion, basis=tournament.basis)
    boards = boards.filter(finished_at__isnull=False, judge=tournament.judge_id)
    if tournament.finished_at:
        boards = boards.filter(finished_at__lte=tournament.finished_at)
    earlier = boards.order_by().exclude(snapshot=tournament.snapshot_id).values("snapshot").distinct().count()
    return earlier + 1


def provenance(tournament: Tournament) -> Provenance:
    """Of a finished one."""
    if tournament.finished_at is None:
        raise Refused("A tournament has a board when it is finished.")
    return Provenance(
        campaign=tournament.campaign.slug,
        tournament=tournament.pk,
        permalink=tournament.get_absolute_url(),
        signature=tournament.signature,
        snapshot=tournament.snapshot.name if tournament.snapshot else None,
        seed=tournament.seed,
        level=tournament.level,  # type: ignore[arg-type]
        finished_at=tournament.finished_at.isoformat(),
        rests_on=tournament.played,
        ending=tournament.settings.get("ending"),
        settled=tournament.settled,
    )
