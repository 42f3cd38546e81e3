"""The account of any file balances, whatever tool wrote it: read = stored + there already + left out, each counted by how the
file was made and not by the importer. And damaged rows of every shape are refused in words."""

import io
import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.files import Reading
from annotation.data.importer import import_file, import_outputs
from annotation.data.shapes.registry import SHAPES, shape_of
from annotation.models import Campaign, LikertScore, Output, PairwiseJudgment
from core.errors import ImportRefused, RowError
from evaluator.models import ImportedPair, ImportedScore
from tests.annotation.data.malformed import FUZZ_CASES, malformed_file
from tests.annotation.data.stores import check_said
from tests.annotation.data.tool_rows import CONTEXTS, TOOLS, outputs

pytestmark = pytest.mark.django_db
DAMAGED = FUZZ_CASES or 10  # of each shape
MODELS = {"outputs": Output, "scores": LikertScore, "judgments": PairwiseJudgment, "spans": LikertScore}
MODELS |= {"judge_scores": ImportedScore, "judge_pairs": ImportedPair}


def lines(rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_every_shape_has_rows_whose_content_is_known():
    assert {shape.name for shape in SHAPES if shape.kinds} == TOOLS.keys()
    for name, tool in TOOLS.items():
        shape = shape_of(tool.kind, tool.full(0))
        assert shape is not None and shape.name == name and tool.kind in shape.kinds


@pytest.mark.parametrize("name", TOOLS)
@settings(
    max_examples=4,
    phases=(Phase.explicit, Phase.generate),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_read_is_stored_and_there_already_and_left_out(tmp_path, name, data):
    tool = TOOLS[name]
    numbers = st.integers(0, CONTEXTS - 1)
    drawn = data.draw(st.lists(st.tuples(numbers, st.booleans()), max_size=8, unique=tool.once))
    rows = [(0, False)] + [(n, empty and tool.empty is not None) for n, empty in drawn]
    if tool.once:
        rows = list(dict.fromkeys((n, False) for n, _ in rows))
    campaign = create_campaign(
        slug=f"talk-{Campaign.objects.count()}", criteria=[CriterionSpec("Quality", 1, 5)], pairwise=True
    )
    texts = tmp_path / "texts.jsonl"
    texts.write_bytes(lines(outputs()))
    import_outputs(campaign, texts)
    file = tmp_path / "rows.jsonl"
    file.write_bytes(lines(tool.empty(n) if empty else tool.full(n) for n, empty in rows))
    before = MODELS[tool.kind].objects.count()
    done = import_file(campaign, tool.kind, file, **tool.how)

    answered = [n for n, empty in rows if not empty]
    there = {n for n in answered} if name == "HELM scenario state" else set()  # its model is one of the campaign's
    stored, left_out = len(set(answered) - there), len(rows) - len(answered) + tool.beside * len(answered)
    read = len(rows) + tool.beside * len(answered)
    assert MODELS[tool.kind].objects.count() - before == stored == done.new.get(tool.kind, 0)
    assert (done.rows, sum(done.left_out.values())) == (read, left_out)
    assert done.repeated == read - stored - left_out
    assert len(done.listed) == left_out
    again = import_file(campaign, tool.kind, file, **tool.how)
    assert again.new.get(tool.kind, 0) == 0 and again.repeated == done.rows - left_out


@pytest.mark.parametrize("name", TOOLS)
def test_damaged_rows_are_refused_in_words(name):
    """No file of a tool ends in anything but rows and sentences that name file, place and field."""
    tool, refused = TOOLS[name], 0
    document = [tool.full(0), tool.full(1), *([tool.empty(2)] if tool.empty else [])]
    for number in range(DAMAGED):
        content = malformed_file(f"{name} {number}", "a.jsonl", document, lines)
        errors: list[RowError] = []
        try:
            list(Reading(tool.kind, None, on_error=errors.append).rows(io.BytesIO(content), "a.jsonl"))
        except ImportRefused as error:
            errors += error.errors
        if errors:
            refused += 1
            check_said([vars(error) for error in errors[:200]], "a.jsonl")
    assert refused >= DAMAGED // 10
