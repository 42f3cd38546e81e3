"""What a snapshot's files are made from: what people said, output by output, and the boards that rest on it."""

import math
import re
import statistics
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from django.conf import settings

from annotation import snapshots
from annotation.models import Campaign, QualityDecision, Snapshot
from annotation.outcome import Outcome
from annotation.snapshots import SnapshotContent, since_frozen
from leaderboard.boards import queries
from leaderboard.boards.board import Board
from leaderboard.boards.cautions import became, cautions, not_accepted
from leaderboard.models import Tournament

Place = tuple[str, str, str, int]  # context, system, checkpoint, sample, as a snapshot names an output


@dataclass(frozen=True)
class Rating:
    """What people said of one output on one question, as far as the filter kept it: the mean of so many values, on the scale,
    or as a share of points against others (a win 1, a tie a half). error: of the mean; None of fewer than two."""

    place: Place
    question: str  # a criterion; "" for pairs on the whole
    value: float
    values: int
    annotators: int
    error: float | None


@dataclass(frozen=True)
class Published:
    campaign: Campaign
    snapshot: Snapshot
    content: SnapshotContent
    boards: list[Board]
    ratings: list[Rating]

    @property
    def simulated(self) -> bool:
        return self.snapshot.is_simulated

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """By question, as a rating names it: what was decided about people's answers to it, and why where they are not
        accepted."""
        said = {
            d: d.verdict if d.is_usable else f"not accepted: {d.report.get('reason') or d.verdict}" for d in self._decisions
        }
        return {d.what if d.criterion else "": text for d, text in said.items()}

    @cached_property
    def _decisions(self) -> list[QualityDecision]:
        return list(self.snapshot.decisions.select_related("criterion"))

    @cached_property
    def warnings(self) -> list[str]:
        """What must be said of the answers, whether a board rests on them or not, and of the boards; each once."""
        on_boards = {board.question.criterion for board in self.boards if board.basis.people}
        said = [
            not_accepted(_answers_of(decision), decision.report.get("reason") or decision.verdict)
            for decision in self._decisions
            if not decision.is_usable and (decision.on_pairs or _criterion(decision) not in on_boards)
        ]
        said += [became(self.snapshot.name, since_frozen(self.snapshot))]
        said += [one.text for board in self.boards for one in cautions(board)]
        return list(filter(None, dict.fromkeys(said)))

    @cached_property
    def texts(self) -> dict[Place, str]:
        return {(o["context"], o["system"], o["checkpoint"], o["sample"]): o["text"] for o in self.content.outputs}


def _answers_of(decision: QualityDecision) -> str:
    if decision.criterion is None:
        return "The judgments of pairs"
    return f"The {'judgments' if decision.on_pairs else 'scores'} of {decision.what}"


def _criterion(decision: QualityDecision) -> str:
    """As a board names its question."""
    return decision.criterion.name if decision.criterion else ""


def published(snapshot: Snapshot) -> Published:
    """The snapshot with the boards of systems that rest on it, in the order in which they were finished."""
    content = snapshots.read(snapshot)
    finished = queries.finished(snapshot.campaign).filter(snapshot=snapshot, level=Tournament.Level.SYSTEM)
    boards = [queries.board(tournament) for tournament in finished.order_by("finished_at", "pk")]
    return Published(snapshot.campaign, snapshot, content, boards, list(_ratings(content)))


def _ratings(content: SnapshotContent) -> Iterator[Rating]:
    said: dict[tuple[str, Place], list[tuple[float, str]]] = defaultdict(list)
    for row in content.scores:
        place = row["context"], row["system"], row["checkpoint"], row["sample"]
        said[row["criterion"], place].append((row["value"], row["annotator"]))
    for row in [*content.judgments, *content.criterion_judgments]:
        points = Outcome(row["choice"]).points
        question = f"{row['criterion']} (pairs)" if "criterion" in row else ""
        for side, value in (("a", points), ("b", 1 - points)):
            said[question, (row["context"], *row[side])].append((value, row["annotator"]))
    for (question, place), answers in sorted(said.items()):
        values, people = sorted(value for value, _ in answers), {who for _, who in answers}
        mean, error = _mean(tuple(values))
        yield Rating(place, question, mean, len(values), len(people), error)


@lru_cache(maxsize=10_000)
def _mean(values: tuple[float, ...]) -> tuple[float, float | None]:
    """(the mean, its error), exact whatever their order is. Most outputs share their values with others: five answers on five
    points are one of 126 sets."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return statistics.fmean(values), error


def slug(name: str) -> str:
    """A part of a path on any system, of any name."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^\w.-]+", "-", plain).strip(".-")[:80] or "x" + name.encode().hex()[:16]


def slugs(names: list[str]) -> dict[str, str]:
    """One for each, no two the same."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        short, n = slug(name), 2
        while short.lower() in {other.lower() for other in found.values()}:
            short, n = f"{slug(name)}-{n}", n + 1
        found[name] = short
    return found


def address(path: str) -> str:
    """Of a page, where the installation knows its own; empty where it does not."""
    return f"{settings.SITE_URL}{path}" if settings.SITE_URL else ""
