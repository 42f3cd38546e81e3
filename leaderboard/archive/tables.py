"""What of a campaign goes into its archive: a file for each table, a line for each row. A row is known by its place in its
table, from 1; keys of one database mean nothing in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Field, Model, Q

from annotation.models import (
    Adjudication,
    Annotator,
    AskedFor,
    Assignment,
    AuditEvent,
    Campaign,
    Checkpoint,
    ConsentText,
    Context,
    Criterion,
    DatasheetAnswer,
    FormerName,
    Item,
    ItemReport,
    Output,
    QualityDecision,
    Reference,
    Snapshot,
    SnapshotMark,
    Submission,
    System,
)
from annotation.questions import store
from annotation.snapshots import answers_imported
from evaluator.models import Dialogue, ImportedPair, ImportedScore, Judge, JudgePrompt
from leaderboard.boards import queries
from leaderboard.boards.tree import to_json
from leaderboard.models import ContextResult, Game, OutputResult, SystemRating, Tournament

Numbers = Mapping[type[Model], Mapping[Any, int]]  # by model and key, the row's place in its table
Keys = Mapping[type[Model], Sequence[Any]]  # by model, the keys of its rows in their order
Json = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """name: of its file. campaign: the lookup from a row to its campaign. left: fields that stay behind. later: those that
    older archives lack, and that are then empty or as usual. order: of its rows. is_later: whether older archives lack it all.
    outward: what a field's value is in the file, where it names rows of other tables; inward: back again."""

    name: str
    model: type[Model]
    campaign: str = "campaign"
    left: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    is_later: bool = False
    order: tuple[str, ...] = ("pk",)
    only: Q = field(default_factory=Q)
    outward: Mapping[str, Callable[[Any, Numbers], Any]] = field(default_factory=dict)
    inward: Mapping[str, Callable[[Any, Keys], Any]] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return f"tables/{self.name}.jsonl"

    @cached_property
    def fields(self) -> list[Field]:
        fields = [f for f in self.model._meta.concrete_fields if not f.primary_key and f.name not in self.left]
        return [f for f in fields if f.related_model is not Campaign]

    def rows(self, campaign: Campaign) -> Iterator[Any]:
        rows = self.model._default_manager.filter(self.only, **{self.campaign: campaign.pk})
        return rows.order_by(*self.order).iterator(chunk_size=1000)


def _payload_out(payload: Json, numbers: Numbers) -> Json:
    """Answers as they were sent are by criterion."""
    place = {str(key): str(number) for key, number in numbers[Criterion].items()}
    return {
        part: {place[key]: value for key, value in said.items() if key in place} if isinstance(said, dict) else said
        for part, said in payload.items()
    }


def _payload_in(payload: Json, keys: Keys) -> Json:
    return {
        part: {str(_key(keys, Criterion, int(place))): value for place, value in said.items()}
        if isinstance(said, dict)
        else said
        for part, said in payload.items()
    }


BOUNDS: dict[str, type[Model]] = {"last_output": Output, "last_context": Context}


def _settings_out(settings: Json, numbers: Numbers) -> Json:
    """How far the texts went when the tournament was recorded, and the order of its systems."""
    last = {name: sum(key <= settings.get(name, 0) for key in numbers[model]) for name, model in BOUNDS.items()}
    return settings | last | {"systems": [numbers[System][key] for key in settings.get("systems", [])]}


def _settings_in(settings: Json, keys: Keys) -> Json:
    last = {name: _key(keys, model, settings[name]) if settings[name] else 0 for name, model in BOUNDS.items()}
    return settings | last | {"systems": [_key(keys, System, place) for place in settings["systems"]]}


def board_out(tournament: Tournament, numbers: Numbers) -> Json:
    """Boards of before, which were kept as findings, become trees like today's."""
    board = to_json(queries.stored(tournament))
    return _board(board, numbers[System].__getitem__, {"tournament": numbers[Tournament][tournament.pk], "permalink": ""})


def _board_in(board: Json, keys: Keys) -> Json:
    return _board(board, lambda place: _key(keys, System, place), {})


def _board(board: Json, system: Callable[[int], int], provenance: Json) -> Json:
    def renumbered(standings: list[Json]) -> list[Json]:
        return [row | {"id": system(row["id"])} for row in standings]

    narrow = board.get("narrow") and {**board["narrow"], "standings": renumbered(board["narrow"]["standings"])}
    made = {"standings": renumbered(board["standings"]), "narrow": narrow, "provenance": board["provenance"] | provenance}
    return board | made


def _import_out(detail: Json, numbers: Numbers) -> Json:
    """Without the file's name."""
    return {name: detail[name] for name in ("rows", "new", "criteria") if name in detail}


def _import_in(detail: Json, keys: Keys) -> Json:
    """Of an archive that anybody may have written."""
    criteria = detail.get("criteria", [])
    if not isinstance(detail["new"], dict) or not all(isinstance(name, str) for name in criteria):
        raise TypeError
    return {**_import_out(detail, {}), "rows": int(detail["rows"]), "kind": "answers, as an archive says"}


def _key(keys: Keys, model: type[Model], place: int) -> Any:
    if isinstance(place, bool) or not isinstance(place, int) or not 1 <= place <= len(keys[model]):
        raise IndexError(place)
    return keys[model][place - 1]


LEFT_OF_CAMPAIGN = ("drawn", "created_by", "board_is_public", "deleted_at")
LATER_OF_CAMPAIGN = (
    "pair_points",
    "pair_both_bad",
    "outputs_at_once",
    "best_worst",
    "screened_out_code",
    "failed_checks_code",
    "timed_out_code",
    "check_mark",
)
CAMPAIGN = Table("campaign", Campaign, "pk", left=LEFT_OF_CAMPAIGN, later=LATER_OF_CAMPAIGN)
TABLES = [
    Table("consent_texts", ConsentText),
    Table("criteria", Criterion, later=("asked_if",)),
    Table("datasheet", DatasheetAnswer, left=("written_by",), is_later=True),
    Table("systems", System, later=("cost", "cost_unit")),
    Table("former_names", FormerName, "system__campaign"),
    Table("checkpoints", Checkpoint, "system__campaign", later=("chosen_at",)),
    Table("contexts", Context),
    Table("references", Reference, "context__campaign"),
    Table("outputs", Output, "context__campaign"),
    Table("annotators", Annotator, left=("user", "invitation", "browser", "source", "tally", "unread_replies")),
    Table(
        "items",
        Item,
        left=("cell",),
        later=("further",),
        outward={"further": lambda keys, numbers: [numbers[Output][key] for key in keys]},
        inward={"further": lambda places, keys: [_key(keys, Output, place) for place in places]},
    ),
    Table("assignments", Assignment, "item__campaign", later=("order",)),
    Table(
        "submissions",
        Submission,
        "annotator__campaign",
        order=("assignment", "created_at", "pk"),
        outward={"payload": _payload_out},
        inward={"payload": _payload_in},
    ),
    Table("scores", store.ABOUT_OUTPUT, "criterion__campaign"),
    Table("judgments", store.ABOUT_PAIR, "annotator__campaign"),
    Table("reports", ItemReport, "item__campaign", left=("resolved_by", "replied_by"), later=("reply", "replied_at")),
    Table("adjudications", Adjudication, left=("decided_by",)),
    Table("asked_for", AskedFor, left=("chosen_by",)),
    Table("snapshots", Snapshot, left=("content", "created_by")),
    Table("snapshot_marks", SnapshotMark, "snapshot__campaign"),
    Table(
        "imports",  # when answers were imported: whether there are newer ones than a snapshot has
        AuditEvent,
        left=("user", "subject", "action", "request_id"),
        is_later=True,
        only=answers_imported(),
        outward={"detail": _import_out},
        inward={"detail": _import_in},
    ),
    Table("decisions", QualityDecision, "snapshot__campaign", left=("overruled_by",)),
    Table("judges", Judge, left=("version", "digest", "calls", "tokens_read", "tokens_written")),
    Table("judge_prompts", JudgePrompt, is_later=True),
    Table("judge_scores", ImportedScore),
    Table("judge_pairs", ImportedPair),
    Table("dialogues", Dialogue),
    Table(
        "tournaments",
        Tournament,
        left=("job", "findings"),
        only=Q(finished_at__isnull=False),
        outward={"settings": _settings_out},
        inward={"settings": _settings_in, "board": _board_in},
    ),
    Table("ratings", SystemRating, "tournament__campaign"),
    Table("games", Game, "tournament__campaign"),
    Table("output_results", OutputResult, "tournament__campaign"),
    Table("context_results", ContextResult, "tournament__campaign"),
]

# What stays behind, said in every manifest.
LEFT = [
    "Accounts, passwords, tokens, second factors, researchers, and who of the annotators has an account.",
    "Links of invitation, and what a crowd platform sent with them (its ids of people).",
    "The log of who did what, but for when answers were imported; the archive's import is the next event of the new one.",
    "Whether the boards are public: a campaign that comes from an archive shows them to its researchers alone.",
    "Comparators with their weights and trainings, and what they said: each is taken along as a file of its own.",
    "How programs, reward models and language models are asked, so that no archive makes a server run anything: their past "
    "boards and their imported judgments come along, and they judge no more until somebody sets them up.",
    "Trainings that are watched, with their checkpoints: what was chosen of them is a system's outputs, and comes along.",
    "Jobs, uploaded files, and figures that are worked out again when somebody asks for them.",
]
# Of the tables of the three apps, those that LEFT speaks of, or that stand in the archive under another name.
LEFT_MODELS = {
    "annotation": "User Membership ApiToken KeptResponse Invitation Heartbeat Job JobPart WorkerPulse Upload Calculation",
    "evaluator": "TrainingRun ComparatorVersion RetrainingRule Promotion Utility Reply AnchorSet AnchorAsking JudgesTable "
    "JudgedFile",
    "leaderboard": "Run RunCheckpoint RunOutput RunComparison",
}
ELSEWHERE = {"FrozenAnswers"}  # snapshots/DIGEST.answers.jsonl
RUNS_NOTHING = (Judge.Kind.IMPORTED, Judge.Kind.METRIC)
OF_THE_SERVER = {"command", "url", "key", "extra", "server", "timeout", "connections", "rate", "budget"}  # how it asks a judge


def judge_out(row: Json) -> Json:
    """A judge as it was where it judged, wherever it has been since, without how that server asked it."""
    found = row | row["settings"].get("elsewhere", {})
    settings = {name: value for name, value in found["settings"].items() if name not in OF_THE_SERVER}
    return found | {"settings": settings}


def judge_in(judge: Judge) -> Judge:
    """Imported, unless nothing of what it asks for is run: it keeps its name and its past."""
    if judge.kind not in RUNS_NOTHING:
        judge.settings = {"elsewhere": {"kind": judge.kind, "settings": judge.settings}}
        judge.kind = Judge.Kind.IMPORTED
    judge.digest = Judge.digest_of(judge.kind, judge.settings)
    return judge
