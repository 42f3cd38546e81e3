"""The files of answers that there are, by what they are called. They are here so that files are recognised without Django;
`registry.register` adds those of kinds that are not."""

from annotation.questions.columns import PAIR_FIELDS, SCALE_FIELDS, AnswerFile
from annotation.questions.spans.columns import SPANS, SPANS_FILE

FILES: dict[str, AnswerFile] = {
    "scores": AnswerFile(1, SCALE_FIELDS, "people's scores"),
    "judgments": AnswerFile(2, PAIR_FIELDS, "people's judgments of pairs"),
    SPANS: SPANS_FILE,
}
