"""Each shape, without a database: what one row of a tool's file holds.

The samples are minimal files with the field names that the tools' documentation and code have (each shape's `address`).
"""

import json

import pytest

from annotation.data.shapes.registry import SHAPES, shape_of
from annotation.data.shapes.shape import LeftOut, Surroundings
from annotation.data.shapes.values import point
from core.rows import BadField


def held(fields: dict, kind: str = "outputs", **around) -> tuple[str, list[tuple]]:
    """(the shape's name, [(kind, fields or reason)])"""
    shape = shape_of(kind, fields)
    assert shape is not None
    entries = list(shape.entries(fields, Surroundings(**around)))
    assert {entry.kind for entry in entries} <= {*shape.kinds}
    return shape.name, [(e.kind, e.reason if isinstance(e, LeftOut) else e.fields) for e in entries]


def chat(*texts: str) -> list[dict]:
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


def test_names_and_addresses_are_given_once():
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)
    assert all(shape.address.startswith("http") for shape in SHAPES)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (4, 4),
        ("4", 4),
        ("3.5", 3.5),
        (["2"], 2),
        ("scale_4", 4),
        ("5 - excellent", 5),
        ("5: good", 5),
        ("good (4)", 4),
        ("10 points", 10),
        ("2 or 3", "2 or 3"),
        ("4/5", "4/5"),
        ("excellent", "excellent"),
        (["1", "2"], None),
        ([], None),
        ("", None),
        (True, None),
    ],
)
def test_points_of_a_scale(written, meant):
    assert point(written) == meant


class TestArenas:
    VOTE = {"id": "x1", "model_a": "m1", "model_b": "m2", "winner": "both_bad", "evaluation_session_id": "s1"}

    def test_140k(self):
        parts = [{"role": "user", "content": [{"type": "text", "text": "Q", "image": None}]}]
        sides = {
            f"conversation_{side}": [*parts, {"role": "assistant", "content": [{"type": "text", "text": text}]}]
            for side, text in (("a", "A"), ("b", "B"))
        }
        name, (a, b, vote) = held(self.VOTE | sides)
        assert name == "Arena"
        assert a == ("outputs", {"context_id": "x1", "context": chat("Q"), "group": "s1", "system": "m1", "output": "A"})
        assert b[1]["system"] == "m2" and b[1]["output"] == "B"
        assert vote[0] == "judgments" and vote[1]["choice"] == "both_bad" and vote[1]["annotator"] == "s1"

    def test_55k_lists_are_turns(self):
        row = {"id": 1, "model_a": "m1", "model_b": "m2", "prompt": '["Q"]', "response_a": '["A"]', "response_b": '["B"]'}
        row |= {"winner_model_a": 0, "winner_model_b": 0, "winner_tie": 1}
        name, (a, _, vote) = held(row)
        assert name == "Arena 55k" and a[1]["context"] == ["Q"] and a[1]["output"] == "A"
        assert vote[1]["choice"] == "tie" and vote[1]["annotator"] == "voter 1"

    def test_mt_benchs_second_turn(self):
        row = {"question_id": 82, "model_a": "m1", "model_b": "m2", "winner": "tie", "judge": "expert_1", "turn": 2}
        row |= {"conversation_a": chat("Q", "A", "Qb", "Ab"), "conversation_b": chat("Q", "B", "Qb", "Bb")}
        _, (a, b, vote) = held(row)
        assert a[1]["context"] == [chat("Q")[0], chat("Qb")[0]] and (a[1]["output"], b[1]["output"]) == ("Ab", "Bb")
        assert a[1]["context_id"] == "82, turn 2" and a[1]["group"] == "82"
        assert a[1]["published"] == {"history": chat("Q", "A", "Qb")}
        assert vote[1]["annotator"] == "expert_1"

    def test_mt_benchs_language_models_are_no_people(self):
        row = {
            "question_id": 81,
            "model_a": "m1",
            "model_b": "m2",
            "winner": "model_a",
            "judge": ["gpt-4", "pair-v2"],
            "turn": 1,
        }
        row |= {"conversation_a": chat("Q", "A"), "conversation_b": chat("Q", "B")}
        _, (*_, vote) = held(row)
        assert vote[0] == "judge_pairs" and vote[1]["judge"] == "gpt-4 pair-v2" and vote[1]["choice"] == "model_a"

    def test_other_questions_on_the_two_sides_are_refused(self):
        row = self.VOTE | {"conversation_a": chat("Q", "A"), "conversation_b": chat("R", "B")}
        with pytest.raises(BadField, match="other turns of the user"):
            held(row)


class TestJudges:
    def test_alpaca_evals_preference_is_a_chance(self):
        """1 is output_1, 2 is output_2: 1.99 gives the second 0.99."""
        row = {"instruction": "Q", "output_1": "A", "generator_1": "m1", "output_2": "B", "generator_2": "m2"}
        row |= {"annotator": "gpt", "preference": 1.99}
        _, (*_, said) = held(row)
        assert said[0] == "judge_pairs" and said[1]["judge"] == "gpt"
        assert (said[1]["a"], said[1]["tie"], said[1]["b"]) == pytest.approx((0.01, 0, 0.99))
        for tie in (0, 1.5):
            assert held(row | {"preference": tie})[1][-1][1]["tie"] == 1

    def test_alpaca_evals_people(self):
        row = {"instruction": "Q", "output_1": "A", "generator_1": "m1", "output_2": "B", "generator_2": "m2"}
        _, (*_, said) = held(row | {"annotator_index": 3, "preference": 2})
        assert said == ("judgments", said[1]) and said[1]["annotator"] == "3" and said[1]["choice"] == "B"

    @pytest.mark.parametrize("column", ["context_id", "question_id", "id", "idx"])
    def test_alpaca_evals_contexts_may_have_ids(self, column):
        row = {column: 7, "instruction": "Q", "input": "I", "output_1": "A", "generator_1": "m1", "output_2": "B"}
        row |= {"generator_2": "m2", "annotator_index": 3, "preference": 2}
        for _, fields in held(row)[1]:
            name = "context_id" if "context_id" in (column, *fields) else "id"
            assert fields[name] == 7 and fields["context"] == "Q\n\nI"

    def test_arena_hards_two_games(self):
        """Game 0: the model is B and A wins, so it loses; game 1: the model is A and wins. Half each."""
        row = {"uid": "1", "judge": "j", "model": "m1", "baseline": "m0", "games": [{"score": "A>B"}, {"score": "A>>B"}]}
        assert held(row) == (
            "Arena-Hard judgments",
            [
                (
                    "judge_pairs",
                    {"context_id": "1", "system_a": "m1", "system_b": "m0", "judge": "j", "a": 0.5, "tie": 0.0, "b": 0.5},
                )
            ],
        )

    def test_lm_evals_metrics_are_judges(self):
        row = {
            "doc_id": 0,
            "doc": {},
            "target": "T",
            "arguments": {"gen_args_0": {"arg_0": "Q: ", "arg_1": {}}},
            "resps": [["R"]],
        }
        row |= {"filtered_resps": ["r"], "metrics": ["exact_match"], "exact_match": 0.0, "doc_hash": "h"}
        _, entries = held(row, file="x.zip/my__model/samples_t.jsonl")
        known = {"context_id": "h", "context": "Q: ", "system": "my__model"}
        assert entries == [
            ("outputs", known | {"references": ["T"], "output": "R", "sample": 0}),
            ("judge_scores", known | {"judge": "exact_match", "score": 0}),
        ]
        row |= {"resps": [["R", "S"]], "filter": "majority"}
        _, entries = held(row, file="x.zip/my__model/samples_t.jsonl")
        texts = [("outputs", known | {"references": ["T"], "output": text, "sample": n}) for n, text in enumerate("RS")]
        assert entries == [*texts, ("judge_scores", "is of several outputs together")]

    def test_marks_by_hand_in_promptfoo_are_peoples(self):
        result = {"promptIdx": 0, "testIdx": 0, "provider": {"id": "m"}, "vars": {"a": "x", "b": [1]}, "score": 1}
        result |= {"response": {"output": {"k": 1}}, "namedScores": {"tone": 0.5}}
        result |= {"gradingResult": {"componentResults": [{"pass": True, "score": 1, "assertion": {"type": "human"}}]}}
        name, entries = held({"results": [result, result | {"response": None}]})
        known = {"context": "a: x\nb: [1]", "system": "m", "sample": 0}
        assert name == "promptfoo results"
        assert entries == [
            ("outputs", known | {"output": '{"k": 1}'}),
            ("scores", known | {"aspect": "Overall", "score": 1, "scale": [0, 1]}),
            ("judge_scores", "has a person's mark in the place of the score"),
            ("judge_scores", known | {"judge": "tone", "score": 0.5}),
            ("outputs", "has no output; the provider gave none"),
            ("judge_scores", "is the score of no output; the provider gave none"),
        ]

    def test_a_promptfoo_test_without_prompt_and_variables_is_known_by_its_name_or_number(self):
        result = {"promptIdx": 0, "testIdx": 2, "provider": "m", "gradingResult": {"pass": True}, "score": 1}
        result |= {"response": {"output": "R"}}
        named = result | {"testCase": {"description": "polite refusal"}}
        _, entries = held({"results": [result, named]})
        assert [fields["context"] for kind, fields in entries if kind == "outputs"] == ["Test 2", "polite refusal"]

    def test_inspect(self):
        sample = {"id": 1, "epoch": 2, "input": "Q", "target": "T", "output": {"completion": "R"}}
        sample["scores"] = {"match": {"value": "C"}, "grade": {"value": {"style": 3, "fact": "?"}}}
        name, entries = held({"eval": {"model": "x/y"}, "samples": [sample]})
        known = {"context_id": "1", "context": "Q", "system": "x/y", "sample": 1}
        assert name == "Inspect log"
        assert entries == [
            ("outputs", known | {"output": "R", "references": ["T"]}),
            ("judge_scores", known | {"judge": "match", "score": 1.0}),
            ("judge_scores", known | {"judge": "grade/style", "score": 3}),
            ("judge_scores", "has no number of the scorer grade/fact"),
        ]


class TestPreferences:
    def test_trl_with_a_prompt_in_the_chats(self):
        row = {"chosen": chat("Q", "A"), "rejected": chat("Q", "B")}
        _, (a, b, said) = held(row)
        assert a[1] == {"context": chat("Q"), "system": "chosen", "output": "A"} and b[1]["system"] == "rejected"
        assert said[0] == "judgments" and said[1]["choice"] == "A" and "annotator" not in said[1]

    def test_trl_unpaired(self):
        _, (text, said) = held({"prompt": "Q", "completion": "A", "label": False})
        assert text == ("outputs", {"context": "Q", "output": "A"})
        assert said[1]["score"] == 0 and said[1]["scale"] == [0, 1] and said[1]["aspect"] == "label"

    def test_a_chat_that_ends_with_the_answer(self):
        assert held({"messages": chat("Q", "A")})[1] == [("outputs", {"context": chat("Q"), "output": "A"})]


class TestQueues:
    def test_argilla(self):
        record = {"id": "r1", "fields": {"prompt": "Q", "response": "A"}, "metadata": {"model": "m1"}}
        record["responses"] = {
            "quality": [
                {"value": 4, "user_id": "u1", "status": "submitted"},
                {"value": 1, "user_id": "u2", "status": "discarded"},
            ]
        }
        record["suggestions"] = {"quality": {"value": 5, "agent": "gpt"}}
        _, entries = held(record)
        known = {"prompt": "Q", "response": "A", "model": "m1"}
        assert entries == [
            ("outputs", known),
            ("scores", known | {"annotator": "u1", "aspect": "quality", "score": 4}),
            ("scores", "was not submitted (its status is discarded)"),
            ("judge_scores", known | {"judge": "gpt", "score": 5}),
        ]

    def test_argillas_table(self):
        row = {"prompt": "Q", "response": "A", "model": "m", "quality.responses": [4], "quality.responses.users": ["u1"]}
        assert (
            "scores",
            {"prompt": "Q", "response": "A", "model": "m", "annotator": "u1", "aspect": "quality", "score": 4},
        ) in held(row)[1]

    def test_label_studio_leaves_out_what_is_no_persons_answer(self):
        def annotation(**more) -> dict:
            return {"completed_by": 1, "result": [{"from_name": "q", "type": "rating", "value": {"rating": 5}}]} | more

        task = {"data": {"system": "a", "text": "x"}}
        task["annotations"] = [
            annotation(was_cancelled=True),
            annotation(ground_truth=True),
            annotation(last_action="rejected"),
            annotation(reviews=[{"accepted": False}]),
            annotation(reviews=[{"accepted": False}, {"accepted": True}]),
        ]
        _, (_, *answers) = held(json.loads(json.dumps(task)))
        assert [what if isinstance(what, str) else what["score"] for _, what in answers] == [
            "was skipped by the annotator",
            "is a ground truth, not a person's answer",
            "was rejected by a reviewer",
            "was rejected by a reviewer",
            5,
        ]

    def test_mechanical_turk(self):
        row = {"WorkerId": "W1", "AssignmentStatus": "Approved", "Input.context_id": "c1", "Input.system": "a"}
        row |= {"Answer.Quality": "4", "Answer.Style": ""}
        known = {"context_id": "c1", "system": "a"}
        assert held(row)[1] == [
            ("outputs", known),
            ("scores", known | {"annotator": "W1", "aspect": "Quality", "score": 4}),
            ("scores", "has no answer to Style"),
        ]
        assert held(row | {"AssignmentStatus": "Rejected"})[1][1] == ("scores", "was rejected by the requester")
