"""The same file through the command, the API, the page and the client: the same rows stored, the same account, right values.

The right values were derived by hand from the small files in `samples/` (each test says how); every file is in the shape of
something that people report about tools of this field, or a minimal sample of a published schema.
"""

import pytest

from annotation.data.importer import import_outputs
from annotation.data.judgments import NO_SIDES
from annotation.models import Campaign, PairwiseJudgment
from tests.annotation.data.doors import DOORS, SAMPLES, everywhere, installation, judgments, outputs, scores

__all__ = ["installation"]
pytestmark = pytest.mark.django_db
COMMON = "common.outputs.jsonl"


class TestScores:
    def test_missing_answers_are_left_out_and_counted(self, installation):
        """36 rows, of which two hold a blank and N/A."""
        rows, _, account = everywhere(installation, "scores", "01_na_answers.scores.csv", scores, on=COMMON)
        assert len(rows) == 34 and account["rows"] == 36
        assert account["left_out"] == {"has no score": 2}
        assert [line for _, line, _ in account["listed"]] == [5, 11]

    def test_a_decimal_comma(self, installation):
        rows, _, _ = everywhere(installation, "scores", "02_decimal_comma.scores.csv", scores, on=COMMON)
        assert [value for *_, value in rows] == [3.5, 4.0]

    def test_one_person_in_seven_spellings(self, installation):
        rows, people, account = everywhere(installation, "scores", "03_annotator_spellings.scores.csv", scores, on=COMMON)
        assert list(people) == ["ann1"] and len(rows) == 6 and account["repeated"] == 6
        assert account["assumed"] == ["The annotator 'ann1' stands for 'ANN1', 'Ann1' too."]

    def test_spellings_are_kept_apart_where_one_says_so(self, installation):
        rows, people, _ = everywhere(
            installation, "scores", "03_annotator_spellings.scores.csv", scores, on=COMMON, spellings_apart=True
        )
        assert set(people) == {"ann1", "ANN1", "Ann1"} and len(rows) == 8

    def test_true_as_a_spreadsheet_writes_it(self, installation):
        _, people, _ = everywhere(installation, "scores", "05_simulated_TRUE.scores.csv", scores, on=COMMON)
        assert people == {"sim1": True, "sim2": True}
        assert all(campaign.is_simulated for campaign in Campaign.objects.all())

    def test_points_with_words_beside_them(self, installation):
        """Means by hand: alpha (5+5+3+5+4+5)/6 = 4.5, beta 4."""
        rows, _, _ = everywhere(installation, "scores", "09_labelstudio_labelled_points.scores.json", scores, on=COMMON)
        means = {s: [row[-1] for row in rows if row[1] == s] for s in ("alpha", "beta")}
        assert len(rows) == 12 and sum(means["alpha"]) / 6 == 4.5 and sum(means["beta"]) / 6 == 4.0

    def test_rejected_answers_and_ground_truths_are_no_persons(self, installation):
        rows, _, account = everywhere(installation, "scores", "20_ls_rejected_annotation.scores.json", scores, on=COMMON)
        assert [row[-2:] for row in rows] == [("1", 5.0)]
        assert account["left_out"] == {"was rejected by a reviewer": 1, "is a ground truth, not a person's answer": 1}

    def test_argillas_responses(self, installation):
        """One person's 4 on the only record, whose text names no system."""
        how = {"criterion": ("quality", 1, 5), "on": "argilla.json", "texts": {"system": "m"}}
        rows, people, _ = everywhere(installation, "scores", "argilla.json", scores, constants={"system": "m"}, **how)
        assert [row[1:] for row in rows] == [("m", "quality", "u1", 4)] and people == {"u1": False}

    def test_every_sheet_is_read(self, installation):
        rows, _, _ = everywhere(installation, "scores", "17c_one_sheet_per_annotator.scores.xlsx", scores, on=COMMON)
        assert [row[-2:] for row in rows] == [("w1", 4.0), ("w2", 2.0)]

    def test_a_column_for_each_criterion(self, installation, tmp_path):
        file = "19_one_column_per_criterion.scores.csv"
        texts = {"context_id": "Story ID", "context": "Prompt", "output": "Story", "system": "Model"}
        for door in DOORS:
            import_outputs(installation.campaign(f"{door}-texts", ("Relevance", 1, 5)), SAMPLES / file, columns=texts)
        columns = {"context_id": "Story ID", "system": "Model", "annotator": "Worker ID"}
        how = {"columns": columns, "aspects": ["Relevance", "Coherence"], "constants": {"scale": "1-5"}}
        for door in DOORS:
            campaign = Campaign.objects.get(slug=f"{door}-texts")
            assert installation.through(door, campaign, "scores", SAMPLES / file, **how)["rows"] == 4
            assert scores(campaign) == [
                ("0", "alpha", "Coherence", "AW1", 5),
                ("0", "alpha", "Relevance", "AW1", 4),
                ("1", "beta", "Coherence", "AW2", 3),
                ("1", "beta", "Relevance", "AW2", 2),
            ]


class TestOutputs:
    def test_a_column_that_numbers_the_rows_is_no_context(self, installation):
        rows, _, account = everywhere(installation, "outputs", "06_id_numbers_rows.outputs.jsonl", outputs)
        assert len({turns for _, turns, _, _ in rows}) == 6 and len(rows) == 18 and account["new"]["contexts"] == 6
        assert account["assumed"] == ["The column id numbers the rows, so that contexts are known by their text."]

    @pytest.mark.parametrize("file", ["07_alpacaeval.outputs.json"])
    def test_alpaca_eval(self, installation, file):
        rows, _, _ = everywhere(installation, "outputs", file, outputs)
        assert [(turns, system) for _, turns, system, _ in sorted(rows, key=lambda row: row[1:3])] == [
            ((f"Do task {n}",), system) for n in range(3) for system in ("m1", "m2")
        ]

    def test_gzip(self, installation):
        rows, _, _ = everywhere(installation, "outputs", "12_outputs.jsonl.gz", outputs)
        assert [row[1:] for row in rows] == [(("q",), "m", "o")]

    def test_utf_16(self, installation):
        rows, _, _ = everywhere(installation, "outputs", "12e_utf16.csv", outputs)
        assert [row[1:] for row in rows] == [(("Café?",), "m", "o")]

    def test_tabs_without_quoting(self, installation):
        rows, _, _ = everywhere(installation, "outputs", "22_unquoted_tsv.outputs.tsv", outputs)
        assert {(turns[0], system): text for _, turns, system, text in rows} == {
            ("Wir gehen", "mt1"): '"We are going',
            ("und siegen.", "mt1"): 'and will win."',
            ("Ende.", "mt1"): "The end.",
            ("Wir gehen", "mt2"): "We go",
            ("und siegen.", "mt2"): "and win.",
            ("Ende.", "mt2"): "End.",
        }

    @pytest.mark.parametrize(
        ("file", "stored", "how"),
        [
            ("alpaca_outputs.json", [(("Q",), "m1", "A")], {}),
            ("inspect.json", [(("Q",), "openai/gpt-x", "R")], {}),
            ("lm_eval_samples.jsonl", [(("Q: prompt",), "m", "R")], {"system": "m"}),
            ("openai_chat.jsonl", [(("Q",), "m", "A")], {"system": "m"}),
            ("argilla.json", [(("Q",), "m", "A")], {"system": "m"}),
            ("arena140k.jsonl", [(("Q",), "m1", "A"), (("Q",), "m2", "B")], {}),
            ("arena55k.jsonl", [(("Q",), "m1", "A"), (("Q",), "m2", "B")], {}),
            (
                "trl_pref.jsonl",
                [(("Q",), "chosen", "A"), (("Q",), "rejected", "B"), (("Q2",), "chosen", "A2"), (("Q2",), "rejected", "B2")],
                {},
            ),
        ],
    )
    def test_files_of_other_tools(self, installation, file, stored, how):
        rows, _, _ = everywhere(installation, "outputs", file, outputs, **how)
        assert sorted(row[1:] for row in rows) == stored


class TestJudgments:
    def test_votes_of_an_arena(self, installation):
        rows, people, account = everywhere(installation, "judgments", "08_arena.judgments.json", judgments)
        assert [row[1:4] for row in rows] == [("m1", "A", "m2"), ("m1", "tie", "m2"), ("m1", "B", "m2"), ("m1", "tie", "m2")]
        assert not any(people.values()) and "Voters are people." in account["assumed"][0]

    @pytest.mark.parametrize("file", ["arena140k.jsonl", "arena55k.jsonl", "mtbench.jsonl"])
    def test_arenas_texts_come_along(self, installation, file):
        rows, people, _ = everywhere(installation, "judgments", file, judgments)
        expected = {"arena140k.jsonl": ["tie"], "arena55k.jsonl": ["A"], "mtbench.jsonl": ["A", "tie"]}
        assert [choice for _, _, choice, _, _ in rows] == expected[file] and not any(people.values())

    def test_rankings_are_their_pairs(self, installation):
        rows, _, account = everywhere(installation, "judgments", "22_rankings.judgments.csv", judgments, on=COMMON)
        assert [(row[0], row[2], row[4]) for row in rows] == [("c1", "A", "p1"), ("c1", "B", "p2"), ("c2", "tie", "p1")]
        assert account["left_out"] == {"has no ranking": 1} and "judgments of its pairs" in account["assumed"][0]

    def test_both_bad_is_a_tie(self, installation):
        rows, _, _ = everywhere(installation, "judgments", "bb.jsonl", judgments)
        assert [row[2] for row in rows] == ["tie", "tie"]

    def test_preference_pairs(self, installation):
        rows, _, _ = everywhere(installation, "judgments", "trl_pref.jsonl", judgments, constants={"annotator": "ann"})
        assert [row[1:] for row in rows] == [("chosen", "A", "rejected", "ann")] * 2

    def test_a_winner_by_its_name(self, installation):
        rows, _, _ = everywhere(installation, "judgments", "23_winner_is_system_name.judgments.jsonl", judgments)
        assert sorted(row[1:4] for row in rows) == [("gpt", "A", "llama"), ("gpt", "B", "llama"), ("gpt", "tie", "llama")]

    def test_a_long_comment_is_cut_and_that_is_said(self, installation):
        _, _, account = everywhere(installation, "judgments", "11_long_reason.judgments.jsonl", judgments)
        assert account["assumed"] == [NO_SIDES.format(1), "1 comments were longer than 500 characters and are cut."]
        assert {len(reason) for (reason,) in PairwiseJudgment.objects.values_list("reason")} == {500}
