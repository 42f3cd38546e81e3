"""Freezing accepted judgments and reading them back.

A snapshot's content is canonical JSON lines (sorted keys, sorted rows, no database ids), so that the same judgments
under the same rule have the same SHA-256 in any database. It holds the texts too: what is trained on a snapshot can
be trained again from the snapshot alone.
"""

import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field

from django.db.models import Q

from annotation.models import Campaign, FormerName, Output, Purpose, Snapshot, Submission
from annotation.questions import registry, store
from annotation.questions.conditions import depends_on_answers, in_words

FORMAT = 1
PART = 2**16  # bytes of compressed lines
WITHDREW = "withdrew after it was frozen."  # how the mark of a person who withdrew ends
# By the type of a line, where its row stands.
LISTS = {
    "criterion": "criteria",
    "output": "outputs",
    "score": "scores",
    "judgment": "judgments",
    "criterion_judgment": "criterion_judgments",
    "unsaid": "unsaid",
}


@dataclass
class SnapshotContent:
    """rule: dict; contexts: {key: turns}; the rest: rows as they stand in the file, less their "type".

    outputs:   {context, system, checkpoint, sample, text, human}
    scores:    {context, system, checkpoint, sample, criterion, annotator, value}
    judgments: {context, a: [system, checkpoint, sample], b: the same, annotator, choice}, on the whole; and both_bad: true
               of a tie in which neither is good; strength: "slightly" or "much" where that was said; ranking: what the ranking
               is called that the pair was in
    criterion_judgments: the same with their criterion
    criteria:  {name, low, high}, and what is not as usual: {kind, best, cannot_say, optional, settings, asked_if}
    unsaid:    who could not say: rows like scores or criterion_judgments, less the answer
    """

    rule: dict = field(default_factory=dict)
    contexts: dict[str, list[str]] = field(default_factory=dict)
    criteria: list[dict] = field(default_factory=list)
    outputs: list[dict] = field(default_factory=list)
    scores: list[dict] = field(default_factory=list)
    judgments: list[dict] = field(default_factory=list)
    criterion_judgments: list[dict] = field(default_factory=list)
    unsaid: list[dict] = field(default_factory=list)

    def sign(self, criterion: str) -> int:
        """1 where higher scores on the criterion are better, -1 where lower ones are."""
        row = next((row for row in self.criteria if row["name"] == criterion), {})
        return registry.kind_named(row.get("kind", "scale")).sign(row.get("best", "high"))

    def asked_only(self, criterion: str) -> dict[str, str]:
        """{"asked_only": the criterion's condition in words}, {} without one: what goes with numbers of its answers."""
        said = self._asked_if(criterion)
        return {"asked_only": in_words(said)} if said else {}

    def is_conditional(self, criterion: str) -> bool:
        """Did an earlier answer about an output decide whether it was asked?"""
        return depends_on_answers(self._asked_if(criterion))

    def _asked_if(self, criterion: str) -> dict:
        return next((row["asked_if"] for row in self.criteria if row["name"] == criterion and "asked_if" in row), {})


def latest_snapshot(campaign: Campaign) -> Snapshot | None:
    """The one accepted last. Its row; its content, which may be large, is read where it is asked for."""
    return campaign.snapshots.defer("content").first()


def answers_imported() -> Q:
    """Of events of the audit log: those of imports that brought answers, with the questions that these are to, where the log
    says it."""
    return Q(action="import", detail__new__has_any_keys=[kind.files for kind in registry.kinds()])


def has_newer_answers(snapshot: Snapshot, criterion: str | None = None) -> bool:
    """Did answers come after it was accepted last, on the pages or by an import? criterion: answers to this question, empty for
    pairs as a whole; None: to any."""
    since, campaign = snapshot.accepted_at, snapshot.campaign
    for event in campaign.audit_events.filter(answers_imported(), created_at__gt=since):
        if criterion is None or criterion in event.detail.get("criteria", [criterion]):
            return True
    given = Submission.objects.filter(annotator__campaign=campaign, created_at__gt=since, retracted_at=None, is_surplus=False)
    given = given.filter(assignment__purpose=Purpose.EVALUATION)
    if criterion is None or not given.exists():
        return given.exists()
    about = {"criterion__name": criterion} if criterion else {"criterion": None}
    return any(rows.filter(**about, submission__in=given, retracted_at=None).exists() for rows in store.both(campaign))


def since_frozen(snapshot: Snapshot | None) -> tuple[str, ...]:
    """What became of its answers and outputs later, in sentences for anybody: those who withdrew are counted and not named."""
    reasons = [] if snapshot is None else list(snapshot.marks.values_list("reason", flat=True))
    others = [reason for reason in reasons if not reason.endswith(WITHDREW)]
    gone = len(reasons) - len(others)
    return (*([f"{gone:,} annotator{'s' if gone > 1 else ''} {WITHDREW}"] if gone else []), *others)


def write(content: SnapshotContent) -> tuple[str, bytes]:
    """(SHA-256 of the canonical lines in hex, the lines zlib-compressed)."""
    lines = [_line("rule", {"format": FORMAT, **content.rule})]
    lines += sorted(_line("context", {"key": key, "turns": turns}) for key, turns in content.contexts.items())
    for kind, name in LISTS.items():
        rows = getattr(content, name)
        lines += sorted(_line(kind, row) for row in rows)
    data = "".join(lines).encode("utf-8")
    return hashlib.sha256(data).hexdigest(), zlib.compress(data, 6)


def _line(kind: str, row: dict) -> str:
    return json.dumps({"type": kind, **row}, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def lines(snapshot: Snapshot) -> bytes:
    """The canonical JSON lines, as downloaded; raises ValueError where they no longer fit the digest."""
    data = zlib.decompress(bytes(snapshot.content))
    if hashlib.sha256(data).hexdigest() != snapshot.digest:
        raise _damaged(snapshot)
    return data


def parts(snapshot: Snapshot) -> tuple[int, Iterator[bytes]]:
    """(their length, the same lines, a part of them unpacked at a time); raises as `lines` does, before the first part."""
    digest, length = hashlib.sha256(), 0
    for part in unpacked(bytes(snapshot.content)):
        digest.update(part)
        length += len(part)
    if digest.hexdigest() != snapshot.digest:
        raise _damaged(snapshot)
    return length, unpacked(bytes(snapshot.content))


def unpacked(data: bytes) -> Iterator[bytes]:
    """What is compressed here, a part at a time."""
    unpacker = zlib.decompressobj()
    for place in range(0, len(data), PART):
        yield unpacker.decompress(data[place : place + PART])
    yield unpacker.flush()


def split_lines(content: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of parts, without their ends; the last one may be empty."""
    rest = b""
    for part in content:
        *whole, rest = (rest + part).split(b"\n")
        yield from whole
    yield rest


def _damaged(snapshot: Snapshot) -> ValueError:
    return ValueError(f"snapshot {snapshot.name} is damaged: its content does not fit its hash")


def read(snapshot: Snapshot) -> SnapshotContent:
    return _content(lines(snapshot).split(b"\n"))


def _content(said: Iterable[bytes]) -> SnapshotContent:
    content = SnapshotContent()
    for row in json.loads(b"[" + b",".join(filter(None, said)) + b"]"):  # at once: a third of the time of line by line
        kind = row.pop("type")
        if kind == "rule":
            content.rule = row
        elif kind == "context":
            content.contexts[row["key"]] = row["turns"]
        else:
            getattr(content, LISTS[kind]).append(row)
    return content


def holds(snapshot: Snapshot, what: str, names: Collection[str]) -> bool:
    """Does it hold answers of an "annotator", or outputs of a "system", that had one of these names then? Canonical
    text is looked for: within a text, quotation marks would be written otherwise. Reading all rows takes 10 times as long."""
    data = lines(snapshot)
    return any(f'"{what}":{json.dumps(name, ensure_ascii=False)}'.encode() in data for name in names)


def former_names(campaign: Campaign) -> dict[int, list[str]]:
    """By a system's id, what it was called before: a snapshot goes on calling it what it was called then."""
    names: dict[int, list[str]] = {}
    for pk, name in FormerName.objects.filter(system__campaign=campaign).values_list("system", "name"):
        names.setdefault(pk, []).append(name)
    return names


def output_names(output: Output, former: dict[int, list[str]]) -> list[tuple]:
    """(context, system, checkpoint, sample) as snapshots may name the output; by its system's name of today first."""
    checkpoint = output.checkpoint.name if output.checkpoint else ""
    names = [output.system.name, *former.get(output.system_id, ())]
    return [(output.context.key, name, checkpoint, output.sample) for name in names]


@dataclass(frozen=True)
class SnapshotDifference:
    """What `new` holds and `old` does not, and the other way round. people: {annotator: (answers gone, answers new)}."""

    rule: list[tuple[str, object, object]]  # (setting, old, new), where they differ
    gone: dict[str, int]  # rows by kind
    come: dict[str, int]
    people: dict[str, tuple[int, int]]
    changed: list[dict]  # answers whose value changed: the row with "before"


KINDS = tuple(LISTS.values())
VALUES = {"scores": "value", "judgments": "choice", "criterion_judgments": "choice"}  # kinds of answers


def difference(old: Snapshot, new: Snapshot) -> SnapshotDifference:
    """Row by row; a score that changed its value counts as changed, not as gone and come."""
    said, now = ({*lines(snapshot).split(b"\n")} for snapshot in (old, new))
    before, after = _content(sorted(said - now)), _content(sorted(now - said))  # what both hold is not looked at
    rule = [(k, before.rule.get(k), after.rule.get(k)) for k in sorted({*before.rule, *after.rule})]
    gone, come, people, changed = {}, {}, {}, []
    for kind in KINDS:
        olds, news = ({_identity(kind, row): row for row in getattr(content, kind)} for content in (before, after))
        left, right = olds.keys() - news.keys(), news.keys() - olds.keys()
        gone[kind], come[kind] = len(left), len(right)
        if kind in VALUES:
            value = VALUES[kind]
            changed += [
                {**row, "kind": kind, "before": olds[key][value], "after": row[value]}
                for key, row in news.items()
                if key in olds and olds[key][value] != row[value]
            ]
            for side, keys, rows in ((0, left, olds), (1, right, news)):
                for key in keys:
                    counts = people.setdefault(rows[key]["annotator"], [0, 0])
                    counts[side] += 1
    return SnapshotDifference(
        [(k, a, b) for k, a, b in rule if a != b],
        gone,
        come,
        {name: tuple(counts) for name, counts in sorted(people.items())},
        changed,
    )


def difference_figures(campaign: Campaign, old: str, new: str) -> dict:
    """`difference` of the snapshots with these digests, as JSON."""
    before, after = (campaign.snapshots.get(digest=digest) for digest in (old, new))
    return asdict(difference(before, after))


def _identity(kind: str, row: dict) -> str:
    """A row's canonical line less the answer it holds."""
    return _line(kind, {k: v for k, v in row.items() if k != VALUES.get(kind)})
