"""What a row of each kind of file holds, and by which other names files call it."""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.data.spellings import INVISIBLE
from annotation.questions.answer_files import FILES
from annotation.questions.columns import Field, maybe


def _sides(letter: str, number: str, place: str) -> tuple[str, ...]:
    texts = ("output", "response", "text", "answer", "completion", "story", "summary", "translation")
    return (*(f"{t}_{letter}" for t in texts), *(f"{t}{number}" for t in texts), *(f"{t}_{number}" for t in texts), place)


CONTEXT_ID = Field(
    "context_id",
    "which input this answers",
    others=("id", "dialog_id", "dialogue_id", "item_id", "seg_id", "segment_id", "doc_id"),
)
CONTEXT = Field(
    "context",
    "the input: a text, or a JSON list of turns or of chat messages {role, content}",
    others=("source", "src", "input", "prompt", "question", "instruction", "messages", "conversation", "article"),
)
ANNOTATOR = Field(
    "annotator",
    "the annotator's pseudonym",
    others=(
        "annotator_id",
        "annotator_name",
        "rater",
        "rater_id",
        "worker",
        "worker_id",
        "workerid",
        "user",
        "user_id",
        "participant_id",
        "prolific_pid",
        "responseid",
        "judge",
    ),
)
SAMPLE = maybe("sample", "a number, if a system has several outputs for one input")
CHECKPOINT = maybe("checkpoint", "the training checkpoint that wrote it", "step")
GROUP = maybe(
    "group", "a topic or source document that several inputs share; intervals resample whole groups", "cluster", "group_id"
)
SIMULATED = maybe("simulated", "true if a program made it")
ANSWERED_AT = maybe("answered_at", "when it was answered, like 2026-01-31T12:00:00+00:00; default: at the import")
PURPOSE = maybe("purpose", "gold, training or qualification, for rows with a known answer")
EXPECTED = maybe("expected", 'the known answer: {"scores": {criterion: [values]}, "feedback": text}; for pairs {"choice": "A"}')

SYSTEM = ("model", "system_id", "generator", "sys", "system_name", "model_name")
KNOWN_BY_TEXT = replace(CONTEXT_ID, required=False, about="the input's id; without it, inputs are matched by their text")

OUTPUTS = [
    KNOWN_BY_TEXT,
    CONTEXT,
    Field("system", "which system wrote it", others=SYSTEM),
    Field(
        "output",
        "what it wrote",
        others=(
            *("response", "reply", "text", "hypothesis", "generation", "prediction", "answer", "completion", "hyp"),
            *("translation", "mt", "summary", "target", "tgt"),  # target last: beside a prediction it is the reference
        ),
    ),
    maybe("human_written", "true if people wrote what this system has; it then serves as reference, too"),
    maybe("system_cost", "what the system costs: one number, the same in all its rows"),
    maybe("system_cost_unit", "the unit of all systems' costs, as US dollars per 1,000 outputs"),
    maybe("references", "human-written answers: a text or a JSON list", "reference", "ref", "gold", "target"),
    GROUP,
    CHECKPOINT,
    maybe("iteration", "how far that checkpoint's training was"),
    maybe("total_iterations", "length of the whole training"),
    maybe("chosen_at", "when somebody chose that this checkpoint plays, and not the newest one"),
    SAMPLE,
    maybe("logprob", "natural logarithm of its probability, as its generator gives it", "log_probability"),
    maybe("knowledge", "facts shown with the input"),
    maybe("metadata", "anything else, a JSON object"),
    PURPOSE,
    EXPECTED,
]
ABOUT_OUTPUT = [
    CONTEXT_ID,
    replace(CONTEXT, required=False, about="the input, where no context_id says which it is"),
    Field("system", "whose output was scored", others=SYSTEM),
    Field("aspect", "the criterion", others=("criterion", "dimension", "quality")),
    ANNOTATOR,
]
WHICH_OUTPUT = [CHECKPOINT, maybe("iteration", "how far that checkpoint's training was"), SAMPLE, SIMULATED, ANSWERED_AT]
ABOUT_PAIR = [
    KNOWN_BY_TEXT,
    CONTEXT,
    Field("system_a", "the system called A", others=("model_a", "system1", "model1", "system_1", "model_1")),
    Field("output_a", "what A wrote", others=_sides("a", "1", "left")),
    Field("system_b", "the system called B", others=("model_b", "system2", "model2", "system_2", "model_2")),
    Field("output_b", "what B wrote", others=_sides("b", "2", "right")),
    ANNOTATOR,
]
WHICH_PAIR = [
    GROUP,
    maybe("sample_a", "A's sample"),
    maybe("sample_b", "B's sample"),
    maybe("checkpoint_a", "A's checkpoint"),
    maybe("checkpoint_b", "B's checkpoint"),
    SIMULATED,
    ANSWERED_AT,
    PURPOSE,
    EXPECTED,
]
JUDGE = Field("judge", "the judge's name", others=("metric", "grader", "scorer", "annotator", "evaluator"))
# What programs said, by what such files are called: (what the page calls them, their fields). `importer.register` adds who
# stores them.
JUDGE_FILES: dict[str, tuple[str, list[Field]]] = {
    "judge_scores": (
        "Judges' scores: what programs said of outputs already here",
        [
            KNOWN_BY_TEXT,
            replace(CONTEXT, required=False, about="the input, where no context_id says which it is"),
            Field("system", "whose output was scored", others=SYSTEM),
            JUDGE,
            Field("score", "a number; higher is better", others=("rating", "value")),
            maybe("best", "low: the lowest score is the best, and scores are stored with the sign turned"),
            CHECKPOINT,
            SAMPLE,
        ],
    ),
    "judge_pairs": (
        "Judges' pairs: what programs said of two outputs already here",
        [
            KNOWN_BY_TEXT,
            replace(CONTEXT, required=False, about="the input, where no context_id says which it is"),
            replace(ABOUT_PAIR[2], about="the system called A"),
            replace(ABOUT_PAIR[4], about="the system called B"),
            JUDGE,
            maybe("choice", "A, tie or B, where no probabilities are given", "preference", "winner", "judgment"),
            maybe("a", "the probability that A is better", "p_a"),
            maybe("tie", "the probability of a tie", "p_tie"),
            maybe("b", "the probability that B is better", "p_b"),
            *[field for field in WHICH_PAIR if field.name.startswith(("sample", "checkpoint"))],
        ],
    ),
}
# What our own exports have beside the fields of an import.
EXPORTED = {"criterion", "group", "published", "guarded", "seconds", "active_seconds", "kept", "dropped_by"}
JUDGES_ARE_PEOPLE = (
    "The column judge names annotators, who are people. If programs answered, import the file as what judges said."
)
FOR_CHECKS = {"annotator", "choice"}  # what a row with a known answer of a pair does without


def kinds_of_files() -> list[str]:
    """What a file may hold: outputs, answers to a kind of question, or what judges said."""
    return ["outputs", *FILES, *JUDGE_FILES]


def in_words(what: str, number: int = 2) -> str:
    """A kind of file, or so many of what it holds, as pages write it."""
    words = what.replace("_", " ")
    return words if number != 1 else {"criteria": "criterion"}.get(words, words.removesuffix("s"))


def fields_of(what: str) -> list[Field]:
    """What a row of a file of this kind holds."""
    if what in JUDGE_FILES:
        return JUDGE_FILES[what][1]
    if what not in FILES:
        return OUTPUTS
    sides, own = FILES[what].sides, FILES[what].fields
    about, which = (ABOUT_PAIR, WHICH_PAIR) if sides == 2 else (ABOUT_OUTPUT, WHICH_OUTPUT)
    return [*about, *own, *which]


def answer_field(what: str) -> str:
    """That which holds the answer itself; empty for outputs."""
    if what in FILES:
        return FILES[what].fields[0].name
    return {"judge_scores": "score", "judge_pairs": "choice"}.get(what, "")


def known_columns(what: str) -> set[str]:
    """What an importer reads of a row: the fields, the comment that came with them, and what our own exports have."""
    texts = {field.name for field in [*OUTPUTS, *ABOUT_PAIR]} if what in JUDGE_FILES else set()  # which came as outputs
    return {field.name for field in fields_of(what)} | EXPORTED | texts | ({"reason"} if what in FILES else set())


def constants_of(what: str) -> tuple[str, ...]:
    """What may be the same for all rows, and then need not be a column."""
    if what in JUDGE_FILES:
        return tuple(f.name for f in fields_of(what) if f.name in ("system", "system_a", "system_b", "judge", "best"))
    if what not in FILES:
        return ()
    sides, own = FILES[what].sides, FILES[what].fields
    about_output = (
        "system",
        "aspect",
        "annotator",
        *(field.name for field in own if field.name in ("scale", "best", "suggestion")),
    )
    return ("system_a", "system_b", "annotator", "choice_scale") if sides == 2 else about_output


def guess(kind: str, columns: list[str], sample: Sequence[Mapping[str, Any]] = ()) -> dict[str, str]:
    """{field: column} for the fields whose column its name gives away; no column is used twice. sample: the first rows, which
    may show that a column called id numbers the rows."""
    by_plain_name = {plain(column): column for column in reversed(columns)}
    columns_by_field: dict[str, str] = {}
    for field in fields_of(kind):  # exact names first, so that another field's second name can't take them
        if field.name in by_plain_name:
            columns_by_field[field.name] = by_plain_name[field.name]
    for field in fields_of(kind):
        for other in field.others:
            column = by_plain_name.get(other)
            if field.name not in columns_by_field and column and column not in columns_by_field.values():
                columns_by_field[field.name] = column
    if numbers_rows(columns_by_field, sample):
        del columns_by_field["context_id"]
    return columns_by_field


def rivals(kind: str, there: Sequence[str], guessed: Mapping[str, str], columns: Mapping[str, str]) -> list[str]:
    """What must be said of columns that are taken for a field by one of its other names, where another column that is taken for
    none has such a name, too. columns: what is taken in the end."""
    said = []
    for field in fields_of(kind):
        column = columns.get(field.name, "")
        others = [name for name in there if plain(name) in field.others and name not in columns.values()]
        if plain(column) in field.others and others and column == guessed.get(field.name):
            said.append(f"The column {column} is taken for {field.name}; {', '.join(others)} may be it, too.")
    return said


def numbers_rows(columns: Mapping[str, str], sample: Sequence[Mapping[str, Any]]) -> bool:
    """Does the column taken for context_id, under another name, differ in each row, while several systems answer one text, or
    several rows are about one pair of texts?"""
    key, context, system = (columns.get(name, "") for name in ("context_id", "context", "system"))
    pair = [columns.get(name, name) for name in ("system_a", "output_a", "system_b", "output_b")]
    about = [system] if system else pair
    if not (key and context) or plain(key) == "context_id" or not all(name in row for row in sample for name in about):
        return False
    keys = [str(row.get(key)) for row in sample]
    rows_of: dict[str, list[str]] = {}
    for row in sample:
        rows_of.setdefault(str(row.get(context)), []).append(str([row[name] for name in about]))
    repeats = [len(set(said)) > 1 if system else len(set(said)) < len(said) for said in rows_of.values()]
    return len(set(keys)) == len(keys) and any(repeats)


def plain(column: str) -> str:
    """As columns are compared: without case, width, composition and invisible characters."""
    text = unicodedata.normalize("NFKC", column).translate(INVISIBLE)
    return text.strip().lower().replace(" ", "_").replace("-", "_")


def missing(kind: str, columns: dict[str, str], given: Collection[str] = ()) -> list[str]:
    """The required fields that no column holds and that are not given beside the file."""
    required = [field.name for field in fields_of(kind) if field.required and field.name not in given]
    if columns.get("context") and "context_id" in required:  # outputs that are there are known by their input's text too
        required.remove("context_id")
    elif columns.get("context_id"):  # and texts that are there by their names
        required = [name for name in required if name not in ("context", "output_a", "output_b")]
    return [name for name in required if not columns.get(name) and not (columns.get("purpose") and name in FOR_CHECKS)]


def without_criteria(guessed: Mapping[str, str], there: Sequence[str], criteria: Sequence[str]) -> dict[str, str]:
    """What was guessed of scores, without a column of criteria that is called as one of the campaign's: where no other holds
    scores, it holds those on that criterion."""
    rest = {field: column for field, column in guessed.items() if field != "aspect"}
    holds_scores = guessed.get("aspect") in columns_of_criteria(rest, there, criteria)
    return rest if holds_scores and plain(guessed["aspect"]) != "aspect" else dict(guessed)


def columns_of_criteria(columns: Mapping[str, str], there: Sequence[str], criteria: Sequence[str]) -> list[str]:
    """Of scores without a column that says score or criterion: the columns that are called as criteria of the campaign are."""
    if columns.get("score") or columns.get("aspect"):
        return []
    names = {plain(name) for name in criteria}
    return [column for column in there if plain(column) in names]
