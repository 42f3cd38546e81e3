"""What kinds of questions write of a snapshot's answers in the shapes of other tools."""

from collections import defaultdict
from collections.abc import Iterator

from annotation.assessment import snapshot_contents
from annotation.questions import registry
from annotation.questions.kind import KeptAnswer, Kind
from core.errors import Refused
from leaderboard.publication.published import Published, slugs


def files(of: Published) -> dict[str, bytes]:
    """Of what the filter kept, "cannot say" left out; none of a snapshot that is too old to have a record."""
    try:
        return {path: text.encode() for kind in registry.kinds() if kind.writes for path, text in _written(of, kind)}
    except Refused:
        return {}


def _written(of: Published, kind: Kind) -> Iterator[tuple[str, str]]:
    by_question: dict[str, list[KeptAnswer]] = defaultdict(list)
    for row in snapshot_contents.rows(of.snapshot, kind.files):
        if row["kept"] is not False and not row.get("cannot_say"):
            by_question[row["aspect"]].append(_with_texts(of, row))
    slug_of = slugs(sorted(by_question))
    for question, answers in by_question.items():
        for path, write in kind.writes.items():
            yield path.format(slug_of[question]), write(question, answers)


def _with_texts(of: Published, row: dict) -> KeptAnswer:
    place = row["context_id"], row["system"], row["checkpoint"] or "", row["sample"]
    return KeptAnswer(row, _system(row), of.content.contexts[row["context_id"]], of.texts[place])


def _system(row: dict) -> str:
    sample = f" sample {row['sample']}" if row["sample"] else ""
    return row["system"] + (f" {row['checkpoint']}" if row["checkpoint"] else "") + sample
