"""What must be said wherever a judges' table goes, or what `transfer_judges` gives: on pages, in files, by commands and the
API."""

from collections.abc import Iterable
from typing import Any

from annotation.models import Criterion, Snapshot
from annotation.questions.conditions import untold
from annotation.snapshots import since_frozen
from evaluator.versions.limits import PARTED, may_have_groups

SIMULATED = "SIMULATED: a program made these judgments."
FOLDS = f"The held-out figures {PARTED}; evaluate again."  # of comparators and metrics that learn, and ties of others
OLD = "These figures come from an earlier snapshot. Newer judgments have been accepted since; evaluate again."


def cautions(record: dict[str, Any]) -> list[str]:
    """Of a judges' table, or of figures over several campaigns, where each sentence names its campaign."""
    if "campaigns" not in record:
        return _of_one(record)
    return [f"{one['campaign']}: {text}" for one in record["campaigns"] for text in _of_one(one)]


def _of_one(about: dict[str, Any]) -> list[str]:
    rows = [row for table in about.get("tables", {}).values() for row in table["rows"]]
    doubts = dict.fromkeys(row["settings"]["doubt"] for row in rows if "doubt" in (row.get("settings") or {}))
    simulated = [SIMULATED] if about["simulated"] else []
    return [
        *doubts,
        *simulated,
        *filter(None, [about["warning"], about.get("untold"), about.get("folds")]),
        *about.get("since", []),
    ]


def as_of_now(record: dict[str, Any]) -> dict[str, Any]:
    """The same with `since`, what became of its snapshots later, `untold`, when its criterion is asked, `folds`, whether these
    may have parted groups (`units` came with those that keep them), and `cautions`, all that must be said with it; so has what
    it says of several campaigns, in `transfer` or alone."""
    if "campaigns" in record:
        now = record | {"campaigns": _since(record["campaigns"])}
    else:
        now = {**record, **_since([record])[0]}
    now |= {"transfer": as_of_now(record["transfer"])} if "transfer" in record else {}
    return now | {"cautions": cautions(now)}


def _since(about: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        one
        | {
            "since": _became(one["campaign"], one["snapshot"]),
            "untold": _untold(one["campaign"], one.get("criterion", "")),
            "folds": FOLDS if "units" not in one and may_have_groups([one["campaign"]]) else "",
        }
        for one in about
    ]


def _untold(slug: str, criterion: str) -> str:
    asked = Criterion.objects.filter(campaign__slug=slug, campaign__deleted_at=None, name=criterion).first()
    return untold(criterion, asked.asked_if) if asked else ""


def _became(slug: str, name: str) -> list[str]:
    snapshots = Snapshot.objects.filter(campaign__slug=slug, campaign__deleted_at=None).defer("content")
    newest, used = snapshots.first(), snapshots.filter(digest__startswith=name).first()
    return [*([OLD] if newest != used else []), *since_frozen(used)]
