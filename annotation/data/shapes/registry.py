"""All shapes, in the order in which a file's first row is held against them."""

from annotation.data.shapes.alpaca_eval import ALPACA_ANNOTATIONS, ALPACA_LEADERBOARD, ALPACA_OUTPUTS
from annotation.data.shapes.arena import ARENA, ARENA_55K, COMPARIA
from annotation.data.shapes.arena_hard import ARENA_HARD, ARENA_HARD_ANSWERS
from annotation.data.shapes.argilla import ARGILLA, ARGILLA_TABLE
from annotation.data.shapes.autoarena import AUTOARENA
from annotation.data.shapes.chat import BATCH, CHAT, CHOICES, LABELLED, PREFERENCE
from annotation.data.shapes.conversations import CONVERSATIONS
from annotation.data.shapes.crowd import MTURK
from annotation.data.shapes.deepeval import DEEPEVAL, DEEPEVAL_CASES
from annotation.data.shapes.harness import HELM, INSPECT, INSPECT_SAMPLE, LM_EVAL, LM_EVAL_RESULTS
from annotation.data.shapes.label_studio import LABEL_STUDIO, LABEL_STUDIO_TABLE
from annotation.data.shapes.pairs import PAIRS
from annotation.data.shapes.potato import POTATO
from annotation.data.shapes.promptfoo import PROMPTFOO, PROMPTFOO_LINES
from annotation.data.shapes.rankings import RANKINGS, RANKS, has_texts
from annotation.data.shapes.shape import JUDGMENTS, OUTPUTS, Fields, Shape
from annotation.data.shapes.spans import APPRAISE, MQM
from annotation.data.shapes.survey import DOCCANO, PROLIFIC, QUALTRICS, WIDE

SHAPES = (
    LABEL_STUDIO,
    LABEL_STUDIO_TABLE,
    POTATO,
    ARGILLA,
    ARGILLA_TABLE,
    MTURK,
    QUALTRICS,
    PROLIFIC,
    DOCCANO,
    MQM,
    APPRAISE,
    COMPARIA,
    ARENA,
    ARENA_55K,
    ALPACA_ANNOTATIONS,
    ALPACA_OUTPUTS,
    ALPACA_LEADERBOARD,
    ARENA_HARD,
    ARENA_HARD_ANSWERS,
    AUTOARENA,
    LM_EVAL,
    LM_EVAL_RESULTS,
    INSPECT,
    INSPECT_SAMPLE,
    HELM,
    PROMPTFOO,
    PROMPTFOO_LINES,
    DEEPEVAL,
    DEEPEVAL_CASES,
    BATCH,
    CHOICES,
    PREFERENCE,
    LABELLED,
    CONVERSATIONS,
    CHAT,
    WIDE,
)


def shape_of(kind: str, fields: Fields) -> Shape | None:
    """Whose file it is, by its first row; None for a file of rows with the fields' own columns."""
    if shape := next((shape for shape in SHAPES if shape.recognises(fields)), None):
        return shape
    if kind == JUDGMENTS or kind == OUTPUTS and has_texts(fields):  # else a column called rank may be anything
        return next((shape for shape in (RANKINGS, RANKS) if shape.recognises(fields)), None)
    return PAIRS if kind == OUTPUTS and PAIRS.recognises(fields) else None
