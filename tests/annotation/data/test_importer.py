"""Importing: what comes in, what is refused and with which words, and that a refusal leaves nothing behind."""

import json

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Context, LikertScore, Output, PairwiseJudgment, System
from annotation.models.corpus import key_from
from core.errors import ImportRefused, Refused

pytestmark = pytest.mark.django_db
STEPS = "checkpoint 'step-500'; checkpoint 'step-900'"


@pytest.fixture
def campaign():
    return create_campaign(slug="talk", pairwise=True)


def output(system="parrot", context="c1", text="hi there", **more):
    return {"context_id": context, "context": ["hello", "hi"], "system": system, "output": text, **more}


def score(system="parrot", annotator="ann", value=4, **more):
    row = {"context_id": "c1", "system": system, "aspect": "Overall", "scale": [1, 5], "annotator": annotator}
    return {**row, "score": value, **more}


def pair(choice="A", **more):
    row = {"context_id": "c1", "context": ["hello", "hi"], "system_a": "zebra", "output_a": "za", "system_b": "ape"}
    return {**row, "output_b": "ab", "annotator": "ann", "choice": choice, **more}


@pytest.fixture
def file(tmp_path):
    def write(*rows, name="rows.jsonl", raw=None):
        path = tmp_path / name
        path.write_bytes(raw if raw is not None else b"".join(json.dumps(r).encode() + b"\n" for r in rows))
        return path

    return write


def refusal(importer, campaign, path):
    with pytest.raises(ImportRefused) as refused:
        importer(campaign, path)
    return str(refused.value)


class TestOutputs:
    def test_systems_contexts_outputs_and_references_are_created(self, campaign, file):
        rows = [output(references=["good day"], knowledge="facts"), output("human", text="well met", sample=0)]
        result = import_outputs(campaign, file(*rows), human_systems=["human"])
        assert result.new == {"systems": 2, "contexts": 1, "references": 1, "outputs": 2, "items": 3}  # 2 scores, 1 pair
        context = Context.objects.get()
        assert (context.turns, context.metadata) == (["hello", "hi"], {"knowledge": "facts"})
        assert list(System.objects.values_list("name", "is_human")) == [("human", True), ("parrot", False)]

    def test_the_same_file_twice_changes_nothing(self, campaign, file):
        path = file(output(), output("human", text="x"))
        import_outputs(campaign, path)
        assert import_outputs(campaign, path).new == {}
        assert Output.objects.count() == 2

    def test_checkpoints_and_samples_are_told_apart(self, campaign, file):
        rows = [output(iteration=i, total_iterations=9, sample=s, text=f"{i}{s}") for i in (3, 9) for s in (0, 1)]
        import_outputs(campaign, file(*rows))
        outputs = set(Output.objects.values_list("checkpoint__name", "checkpoint__iteration", "sample", "text"))
        assert outputs == {("3", 3, 0, "30"), ("3", 3, 1, "31"), ("9", 9, 0, "90"), ("9", 9, 1, "91")}

    def test_a_byte_order_mark_is_welcome(self, campaign, file):
        import_outputs(campaign, file(raw=b"\xef\xbb\xbf" + json.dumps(output()).encode()))
        assert Output.objects.get().text == "hi there"

    def test_csv_with_a_dialogue_and_a_line_break(self, campaign, file):
        raw = b'context_id,context,system,output\r\nc1,"[""a"", ""b""]",parrot,"two\nlines"\r\nc2,one text,parrot,\r\n'
        import_outputs(campaign, file(raw=raw, name="rows.csv"))
        assert list(Context.objects.values_list("turns", flat=True)) == [["a", "b"], ["one text"]]
        assert list(Output.objects.values_list("text", flat=True)) == ["two\nlines", ""]

    def test_a_dry_run_stores_nothing(self, campaign, file):
        assert import_outputs(campaign, file(output()), dry_run=True).new["outputs"] == 1
        assert Output.objects.count() == Context.objects.count() == 0

    def test_an_unknown_human_system_is_refused(self, campaign, file):
        with pytest.raises(ImportRefused, match="no row has the system 'nobody'"):
            import_outputs(campaign, file(output()), human_systems=["nobody"])
        assert Output.objects.count() == 0


GOOD = json.dumps(output()).encode() + b"\n"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (GOOD + b'{"context_id": \n', "rows.jsonl, line 2: is not JSON"),
        (GOOD + b"[1, 2]\n", "rows.jsonl, line 2: expected a JSON object, found a list"),
        (GOOD + json.dumps({"context_id": "c2", "context": ["x"]}).encode(), "line 2, field 'system': is missing"),
        (GOOD + json.dumps(output(text="other")).encode(), "line 2, field 'output': differs from the output"),
        (GOOD + json.dumps(output(context=["x"])).encode(), "line 2, field 'context_id': expected text, found a list"),
        (GOOD + json.dumps({**output("b"), "context": "no"}).encode(), "line 2, field 'context': differs from the text"),
        (GOOD + json.dumps(output(sample=-1)).encode(), "line 2, field 'sample': expected a whole number from 0, found -1"),
        (GOOD + '{"output": "caf\u00e9"}'.encode("latin-1"), "line 2: is not UTF-8 (byte 0xE9 at position 16)"),
        (GOOD + b'{"output": "a\\ud800"}', "line 2, field 'output': holds half of a surrogate pair"),
        (GOOD + b'{"output": "a\\u0000"}', "line 2, field 'output': holds a NUL character"),
        (GOOD + b'{"sample": Infinity}', "line 2: is not valid (Infinity is not a number"),
        (GOOD + b'{"system": "a", "system": "b"}', "line 2, field 'system': stands twice in one row"),
        (GOOD + b"[" * 100_000, "line 2: is nested too deeply"),
        (GOOD + b'{"output": "' + b"x" * 50_000_000 + b'"}', "line 2: is longer than 8 MB"),
        (b"", "rows.jsonl: is empty"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line_and_leaves_nothing(campaign, file, raw, expected):
    assert expected in refusal(import_outputs, campaign, file(raw=raw))
    assert Output.objects.count() == Context.objects.count() == System.objects.count() == 0


def test_a_folder_and_a_missing_file_are_refused(campaign, tmp_path):
    assert "is a folder" in refusal(import_outputs, campaign, tmp_path)
    assert "can't be opened" in refusal(import_outputs, campaign, tmp_path / "none.jsonl")


def test_every_error_of_a_file_is_listed(campaign, file):
    with pytest.raises(ImportRefused) as refused:
        import_outputs(campaign, file({"context_id": "c1"}, output(), {"context": ["x"]}))
    assert [(e.line, e.field) for e in refused.value.errors] == [(1, "context"), (3, "system")]
    assert str(refused.value).endswith("(and 1 more error; nothing was imported)")


class TestScores:
    @pytest.fixture(autouse=True)
    def outputs(self, campaign, file):
        import_outputs(campaign, file(output()))

    def test_new_criteria_and_annotators_are_created(self, campaign, file):
        result = import_scores(campaign, file(score(), score(annotator="ben", value=2.5)))
        assert result.new == {"criteria": 1, "annotators": 2, "scores": 2}
        assert list(LikertScore.objects.values_list("annotator__name", "value")) == [("ann", 4.0), ("ben", 2.5)]
        assert import_scores(campaign, file(score(), score(annotator="ben", value=2.5))).new == {}

    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            (score(value=6), "field 'score': is 6, outside the scale 1 to 5 of 'Overall'"),
            (score(value="high"), "field 'score': expected a number, found \"high\""),
            (score(value=True), "field 'score': expected a number, found true"),
            (score("nobody"), "field 'system': 'nobody' is no system of this campaign"),
            (score(context_id="c9"), "field 'context_id': 'c9' is no context of this campaign"),
            (score(sample=3), "field 'system': 'parrot' has no output for context_id 'c1' (sample 3); there are: sample 0"),
            (score(aspect="New", scale=None), "field 'scale': is missing, and 'New' is a new criterion"),
            (score(scale=[0, 1], value=1), "field 'scale': is 0 to 1, but criterion 'Overall' has the scale 1 to 5"),
            (score(value=3), "field 'score': is 3, but 'ann' already gave this output 4"),
        ],
    )
    def test_a_wrong_row_is_refused_and_nothing_is_half_imported(self, campaign, file, row, expected):
        assert f"line 2, {expected}" in refusal(import_scores, campaign, file(score(), row))
        assert LikertScore.objects.count() == campaign.annotators.count() == campaign.criteria.count() == 0

    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            (score("lstm"), f"(without a checkpoint); there are: {STEPS}"),
            (score("lstm", checkpoint="step-700"), f"(checkpoint 'step-700'); there are: {STEPS}"),
            (score("parrot", checkpoint="step-500"), "(checkpoint 'step-500'); there are: without a checkpoint"),
            (score("lstm", checkpoint="step-500", sample=1), "(checkpoint 'step-500', sample 1); there are: checkpoint 'st"),
            (score("lstm", context_id="c2"), "'lstm' has no output for context_id 'c2'\n"),
        ],
    )  # fmt: skip
    def test_a_score_of_no_output_says_which_there_are(self, campaign, file, row, expected):
        """Who scored a system by its name alone has to learn that its outputs are those of checkpoints."""
        steps = [output("lstm", text=f"at {n}", checkpoint=f"step-{n}") for n in (500, 900)]
        import_outputs(campaign, file(*steps, output(context="c2", text="x")))
        assert expected in f"{refusal(import_scores, campaign, file(row))}\n".replace("; nothing was imported", "")

    def test_simulated_annotators_mark_the_campaign(self, campaign, file):
        import_scores(campaign, file(score()), simulated=True)
        campaign.refresh_from_db()
        assert campaign.is_simulated and campaign.annotators.get().is_simulated


class TestJudgments:
    def test_a_row_brings_its_texts_and_is_stored_in_one_order(self, campaign, file):
        import_judgments(campaign, file(pair("A"), pair("tie", annotator="ben")))
        first = PairwiseJudgment.objects.get(annotator__name="ann")
        assert (first.output_a.system.name, first.output_b.system.name) == ("ape", "zebra")
        assert (first.choice, first.shown_swapped) == ("B", True)  # zebra, shown on the left, won
        assert PairwiseJudgment.objects.get(annotator__name="ben").choice == "tie"

    def test_the_mirrored_row_is_the_same_judgment(self, campaign, file):
        mirrored = pair("B", system_a="ape", output_a="ab", system_b="zebra", output_b="za")
        import_judgments(campaign, file(pair("A")))
        assert import_judgments(campaign, file(mirrored)).new == {}

    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            (pair("maybe"), "field 'choice': expected A, tie or B, found \"maybe\""),
            (pair("B"), "field 'choice': is not what 'ann' already said about this pair"),
            (pair(system_b="zebra", output_b="za"), "field 'system_b': names the same output as system_a"),
            (pair(output_a="other"), "field 'output_a': differs from the output"),
        ],
    )
    def test_a_wrong_row_is_refused(self, campaign, file, row, expected):
        assert f"line 2, {expected}" in refusal(import_judgments, campaign, file(pair("A"), row))
        assert PairwiseJudgment.objects.count() == Output.objects.count() == 0


class TestKnownAnswers:
    """Rows with a purpose are checks of people, not part of the evaluation."""

    @pytest.fixture(autouse=True)
    def criteria(self, campaign):
        campaign.criteria.create(name="Overall", low=1, high=5)

    def gold(self, purpose="gold", context="g1", **expected):
        return output("check", context, purpose=purpose, expected=expected or {"scores": {"Overall": 5}})

    def test_an_output_with_a_purpose_becomes_that_kind_of_item(self, campaign, file):
        rows = [output(), self.gold(), self.gold("training", "t1", scores={"Overall": [1, 2]}, feedback="Rude.")]
        assert import_outputs(campaign, file(*rows)).new["known answers"] == 2
        items = {item.purpose: item for item in campaign.items.filter(other=None)}
        assert items["gold"].expected == {"scores": {"Overall": [5]}} and items["evaluation"].output.system.name == "parrot"
        assert items["training"].expected == {"scores": {"Overall": [1, 2]}, "feedback": "Rude."}
        assert import_outputs(campaign, file(*rows)).new == {}

    def test_in_csv_the_expected_answer_is_json(self, campaign, file):
        raw = b'context_id,context,system,output,purpose,expected\ng,hi,check,yo,gold,"{""scores"": {""Overall"": 4}}"\n'
        import_outputs(campaign, file(raw=raw, name="gold.csv"))
        assert campaign.items.get().expected == {"scores": {"Overall": [4]}}

    def test_a_pair_with_a_purpose_is_a_check_of_pairs_whichever_way_round_it_stands(self, campaign, file):
        row = {k: v for k, v in pair().items() if k not in ("annotator", "choice")} | {"purpose": "gold"}
        import_judgments(campaign, file(row | {"expected": {"choice": "A"}}))
        item = campaign.items.get()
        assert (item.output.system.name, item.other.system.name) == ("ape", "zebra")
        assert item.purpose == "gold" and item.expected == {"choice": "B"} and not PairwiseJudgment.objects.exists()
        assert import_judgments(campaign, file(row | {"expected": {"choice": "A"}})).new == {}

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"purpose": "silver"}, "field 'purpose': expected gold, training, qualification or evaluation"),
            ({"purpose": None}, "field 'purpose': is missing, and expected is given"),
            ({"expected": None}, "field 'expected': Give the right score"),
            ({"expected": {"scores": {"Overall": 9}}}, "field 'expected': Overall: 9 is not a point of its scale"),
            ({"expected": {"scores": {"Wit": 1}}}, "field 'expected': 'Wit' is not a criterion"),
        ],
    )
    def test_a_wrong_one_is_refused(self, campaign, file, change, expected):
        assert f"line 2, {expected}" in refusal(import_outputs, campaign, file(output(), self.gold() | change))
        assert Output.objects.count() == 0

    def test_what_was_judged_does_not_become_a_check(self, campaign, file):
        import_outputs(campaign, file(output()))
        import_scores(campaign, file(score()))
        with pytest.raises(Refused, match="stays in the evaluation"):
            import_outputs(campaign, file(output(purpose="gold", expected={"scores": {"Overall": 5}})))


class TestPairsInDetail:
    def test_a_criterion_a_reason_and_the_shown_side_are_kept(self, campaign, file):
        campaign.criteria.create(name="Wit")
        about_wit = pair("B", aspect="Wit", reason="Drier.", shown_left="B")
        rows = [pair("A"), about_wit, pair("A", annotator="ben", shown_left=None)]
        import_judgments(campaign, file(*rows))
        wit = PairwiseJudgment.objects.get(criterion__name="Wit")
        assert (wit.choice, wit.reason, wit.shown_swapped) == ("A", "Drier.", False)  # stored the other way round
        assert PairwiseJudgment.objects.get(annotator__name="ben").shown_swapped is None
        assert import_judgments(campaign, file(*rows)).new == {}
        assert "is not a criterion of this campaign" in refusal(import_judgments, campaign, file(pair(aspect="Wisdom")))


class TestColumns:
    """The file calls its fields something else."""

    NAMES = {"context_id": "id", "context": "prompt", "system": "model", "output": "reply"}

    @pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
    def test_named_columns_are_read_and_unwanted_ones_are_not(self, campaign, file, name):
        if name.endswith("csv"):
            raw = b'id,prompt,model,reply,output,sample\n7,"[""a"", ""b""]",parrot,hi,other,not a number\n'
        else:
            raw = b'{"id": "7", "prompt": ["a", "b"], "model": "parrot", "reply": "hi", "output": 1, "sample": "none"}\n'
        import_outputs(campaign, file(raw=raw, name=name), columns=self.NAMES | {"sample": ""})
        output = Output.objects.get()
        assert (output.context.key, output.context.turns, output.system.name, output.text) == ("7", ["a", "b"], "parrot", "hi")

    def test_a_field_that_only_later_rows_have_is_read(self, campaign, file):
        rows = [output(), output("ape", "c2", references=["well"])]
        import_outputs(campaign, file(*rows), columns={"output": "output", "system": "system"})
        assert Context.objects.get(key="c2").references.get().text == "well"

    def test_an_error_names_the_files_own_column(self, campaign, file):
        raw = b"id,prompt,model,reply\n7,a,,hi\n"
        with pytest.raises(ImportRefused, match="line 2, field 'model': is missing"):
            import_outputs(campaign, file(raw=raw, name="rows.csv"), columns=self.NAMES)


class TestMeanwhile:
    def test_what_somebody_wrote_while_the_file_was_read_is_met(self, campaign, file):
        path, other = file(*(output(context=f"c{n}") for n in range(500)), name="a.jsonl"), file(output(), name="b.jsonl")
        import_outputs(campaign, path, watch=lambda rows: import_outputs(campaign, other))
        assert Output.objects.count() == 500 and Output.objects.filter(context__key="c1").count() == 1

    def test_what_differs_by_then_is_refused(self, campaign, file):
        path = file(*(output(context=f"c{n}") for n in range(500)), name="a.jsonl")
        other = file(output(text="another reply"), name="b.jsonl")
        with pytest.raises(ImportRefused, match="line 2, field 'output': differs"):
            import_outputs(campaign, path, watch=lambda rows: import_outputs(campaign, other))
        assert Output.objects.count() == 1


class TestGroups:
    """Contexts that share a topic or a source document."""

    def test_every_row_of_a_context_names_the_same_group(self, campaign, file):
        rows = [output(group="charter"), output("human", group="charter"), output(context="c2", group=7), output(context="c3")]
        import_outputs(campaign, file(*rows))
        assert list(Context.objects.values_list("key", "group")) == [("c1", "charter"), ("c2", "7"), ("c3", "")]
        assert import_outputs(campaign, file(*rows)).new == {}

    def test_in_csv_an_empty_cell_is_no_group(self, campaign, file):
        raw = b"context_id,context,system,output,cluster\nc1,hello,parrot,hi,charter\nc2,hello,parrot,hi,\n"
        import_outputs(campaign, file(raw=raw, name="rows.csv"), columns={"group": "cluster"})
        assert list(Context.objects.values_list("group", flat=True)) == ["charter", ""]

    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ("charter", "letters", "is 'letters', but context_id 'c1' has the group 'charter'"),
            ("charter", None, "is missing, but context_id 'c1' has the group 'charter'"),
            (None, "letters", "is 'letters', but context_id 'c1' has no group"),
            ("charter", ["letters"], "expected text, found a list"),
            ("charter", "x" * 201, "is 201 characters long; at most 200 are allowed"),
        ],
    )
    @pytest.mark.parametrize("kind", ["outputs", "judgments"])
    def test_another_one_is_refused_with_file_line_and_field(self, campaign, file, kind, first, second, expected):
        importer, rows = {
            "outputs": (import_outputs, [output(group=first), output("human", group=second)]),
            "judgments": (import_judgments, [pair(group=first), pair(annotator="ben", group=second)]),
        }[kind]
        assert f"rows.jsonl, line 2, field 'group': {expected}" in refusal(importer, campaign, file(*rows))
        assert not Context.objects.exists()

    @pytest.mark.parametrize("stored", ["charter", ""])
    def test_a_later_file_need_not_repeat_it_and_can_not_change_it(self, campaign, file, stored):
        import_outputs(campaign, file(output(group=stored or None)))
        import_outputs(campaign, file(output("human")))
        assert "line 1, field 'group': is 'letters', but context_id 'c1' has" in refusal(
            import_outputs, campaign, file(output("third", group="letters"))
        )
        assert Context.objects.get().group == stored and Output.objects.count() == 2


def test_a_context_without_a_name_is_called_by_its_last_words():
    turns = ["Hello.", "How do I " + "a" * 70]
    assert Context(key=key_from(turns), turns=turns).title == "“How do I " + "a" * 50 + "…”"  # 60 characters
    assert Context(key="17", turns=turns).title == "17"
    assert Context(key=key_from([]), turns=[]).title == key_from([])
