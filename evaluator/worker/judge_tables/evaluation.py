"""Every judge whose inputs exist, set beside the people of a campaign's accepted judgments."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType

import numpy as np

from annotation import jobs, parts
from core.errors import Refused
from core.version import code_version
from evaluator.judge_tables.exports import PAIRS
from evaluator.judges.protocol import OnProgress
from evaluator.metaevaluation.judges_table import JudgeAnswers, JudgeRow, as_json, from_rows, rows_of
from evaluator.models import JudgesTable
from evaluator.worker.judge_tables.candidates import Candidate, candidates
from evaluator.worker.judge_tables.material import Material, material
from evaluator.worker.players import at_work
from evaluator.worker.registration import json_ready

Progress = Callable[[float, str], None]
NO_INPUT = "has no input here"


def evaluate(
    known: Material,
    judges: Sequence[Candidate],
    annotators: str,
    seed: int,
    progress: Progress = lambda done, said: None,
    own: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict:
    """The table with everything that it takes to get it again. annotators: a key of `alternative_annotator.EPSILON`; own: the
    systems of a judge's own family, by its name. Raises Refused for a system that the snapshot has not."""
    families = {name: known.numbers_of(systems) for name, systems in own.items()}
    told = []
    able = [one for one in judges if one.answer is not None]
    for i, candidate in enumerate(able):
        progress(0.9 * i / len(able), f"{candidate.name} judges")
        told.append(asked(known, candidate, annotators, seed, families.get(candidate.name, ())))
    progress(0.9, "Comparing them with people")
    return record_of(known, judges, told, annotators, seed)


def asked(known: Material, candidate: Candidate, annotators: str, seed: int, own: tuple[int, ...] = ()) -> dict:
    """What the table needs of one judge, as JSON: its answers and its rows, or why it refused. Raises Refused where it is not
    optional."""
    start = time.monotonic()
    assert candidate.answer is not None
    try:
        said = candidate.answer()
    except Refused as refused:
        if not candidate.optional:
            raise
        return {"absent": {"judge": candidate.name, "why": str(refused).rstrip(".")}}
    said = replace(said, name=candidate.name, seconds=round(time.monotonic() - start, 3), own=own)
    rows = {scope: asdict(row) for scope, row in rows_of(known.people, said, annotators, seed).items()}
    told: dict = json_ready({"answers": said.as_json(), "rows": rows})
    return told


def record_of(known: Material, judges: Sequence[Candidate], told: Sequence[dict], annotators: str, seed: int) -> dict:
    """The table's record. told: what `asked` gave for the judges that can answer, in their order."""
    absent = [{"judge": one.name, "why": one.why or NO_INPUT} for one in judges if one.answer is None]
    absent += [one["absent"] for one in told if "absent" in one]
    said = [one for one in told if "absent" not in one]
    answers = [JudgeAnswers.from_json(one["answers"]) for one in said]
    rows = [{scope: JudgeRow.from_json(row) for scope, row in one["rows"].items()} for one in said]
    found = from_rows(known.people, answers, rows, annotators, seed)
    return json_ready(
        {
            "campaign": known.campaign.slug,
            "snapshot": known.snapshot.name,
            "digest": known.snapshot.digest,
            "criterion": known.basis.criterion or PAIRS,
            "warning": known.basis.warning,
            "simulated": known.snapshot.is_simulated,
            "annotators": annotators,
            "seed": seed,
            "code": code_version(),
            "units": len(np.unique(known.people.units)),
            "tables": {scope: as_json(one) for scope, one in found.items()},
            "without": absent,
        }
    )


def part_work(table: JudgesTable, known: Material | None = None) -> parts.Work:
    """What asks one judge of a table: {"judge": its name} -> as `asked` gives it."""
    known = known or material(table.campaign, table.criterion, table.snapshot.digest)

    def work(part: dict, report: Progress) -> dict:
        report(0.0, "")
        watch = lambda done, said, _: report(done, said)
        able = {one.name: one for one in _candidates(table, known, part["judge"], watch) if one.answer is not None}
        if part["judge"] not in able:
            raise Refused(f"{part['judge']} has changed since this table was asked for. Ask for it again.")
        return asked(known, able[part["judge"]], table.annotators, table.seed)

    return work


def work_out(claim: jobs.Claim, table: JudgesTable) -> dict:
    """The record of a table, its judges asked by all workers together, a part for each."""
    known = material(table.campaign, table.criterion, table.snapshot.digest)
    judges = _candidates(table, known)
    works = [{"judge": one.name} for one in judges if one.answer is not None]
    told = parts.share(claim, lambda: works, part_work(table, known), "Asking the judges", (0.0, 0.9))
    claim.report(0.9, "Comparing them with people")
    record = record_of(known, judges, told, table.annotators, table.seed)
    return record | ({"options": [word for name in table.judges for word in ("--set-up", name)]} if table.judges else {})


def _candidates(table: JudgesTable, known: Material, only: str = "", watch: OnProgress | None = None) -> list[Candidate]:
    """With the table's further judges; only: of these the one of that name is loaded."""
    rows = table.campaign.judges.filter(name__in=[name for name in table.judges if only in ("", name)])
    others = [(row.name, at_work(row, known.basis.criterion, table.seed, known)) for row in rows.order_by("name")]
    found = candidates(known, others, seed=table.seed, watch=watch)
    further = {name for name, _ in others}  # one whose budget is spent ends no table
    return [replace(one, optional=True) if one.name in further else one for one in found]
