"""The same file through the command, the API and the page: the same rows stored, the same account, the right values.

The right values were derived by hand from the small files in `samples/` (each test says how); every file is in the shape of
something that people report about tools of this field, or a minimal sample of a published schema.
"""

import io
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs, options_of
from annotation.models import Annotator, Campaign, LikertScore, Output, PairwiseJudgment, Upload, User
from annotation.people.tokens import make_token

pytestmark = pytest.mark.django_db
SAMPLES = Path(__file__).parent / "samples"
DOORS = ("command", "api", "page")
FLAGS = {
    "systems": "--system-column",
    "aspects": "--criterion-column",
    "raters": "--annotator-column",
    "human_systems": "--human-system",
}
ACCOUNT = ("rows", "new", "repeated", "left_out", "listed", "elsewhere", "assumed")


class Installation:
    """A researcher with an empty campaign, and the three doors to it."""

    def __init__(self, client):
        self.client = client
        self.user = User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)

    def campaign(self, slug: str, criterion=("Quality", 1, 5), outputs: str = "", **settings) -> Campaign:
        campaign = create_campaign(slug=slug, criteria=[CriterionSpec(*criterion)], user=self.user, pairwise=True, **settings)
        if outputs:
            import_outputs(campaign, SAMPLES / outputs)
        return campaign

    def through(self, door: str, campaign: Campaign, kind: str, file: Path, **how) -> dict:
        assert how.keys() <= {*options_of(kind)}
        account = getattr(self, f"_{door}")(campaign, kind, file, how)
        return {name: account[name] for name in ACCOUNT if account.get(name) or name == "new"}

    def _command(self, campaign, kind, file, how) -> dict:
        arguments = []
        for name, value in how.items():
            if name in ("columns", "constants"):
                for field, said in value.items():
                    arguments += [f"--{name[:-1]}", f"{field}={said}"]
            elif isinstance(value, list):
                arguments += [part for one in value for part in (FLAGS[name], one)]
            else:
                arguments += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
        out = io.StringIO()
        call_command(f"import_{kind}", campaign.slug, str(file), *arguments, "--json", stdout=out)
        return json.loads(out.getvalue())

    def _api(self, campaign, kind, file, how) -> dict:
        sent = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in how.items()}
        sent["file"] = SimpleUploadedFile(file.name, file.read_bytes())
        token = make_token(self.user, campaign.slug)[1]
        answer = self.client.post(
            f"/api/campaigns/{campaign.slug}/import/{kind}/", sent, headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    def _page(self, campaign, kind, file, how) -> dict:
        self.client.force_login(self.user)
        base = f"/c/{campaign.slug}/import/"
        self.client.post(base, {"file": SimpleUploadedFile(file.name, file.read_bytes()), "kind": kind})
        upload = Upload.objects.get(campaign=campaign, kind=kind)
        if how:
            page = self.client.get(f"{base}{upload.pk}/")
            form = page.context["form"]
            sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
            sent |= how.get("columns", {}) | {f"all_{field}": said for field, said in how.get("constants", {}).items()}
            sent |= {f"{name}_columns": how[name] for name in ("aspects", "raters") if name in how}
            sent |= {"all_simulated": "on"} if how.get("simulated") else {}
            sent |= {"one_system": how["system"]} if "system" in how else {}
            sent |= {name: how[name] for name in ("encoding", "spellings_apart") if name in how}
            self.client.post(f"{base}{upload.pk}/", sent)
        upload.refresh_from_db()
        assert upload.state == "fine", upload.errors
        previewed = upload.result
        self.client.post(f"{base}{upload.pk}/store/")
        upload.refresh_from_db()
        assert upload.state == "stored"
        drawn = {kind: count for kind, count in upload.result["new"].items() if kind != "items"}
        assert previewed | {"dry_run": False, "new": drawn} == upload.result | {"new": drawn}
        return upload.result


@pytest.fixture
def installation(client, settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    return Installation(client)


def outputs(campaign) -> list[tuple]:
    rows = Output.objects.filter(context__campaign=campaign).select_related("context", "system")
    return sorted((o.context.key, tuple(o.context.turns), o.system.name, o.text) for o in rows)


def scores(campaign) -> list[tuple]:
    rows = LikertScore.objects.filter(criterion__campaign=campaign)
    names = ("output__context__key", "output__system__name", "criterion__name", "annotator__name", "value")
    return sorted(rows.values_list(*names))


def judgments(campaign) -> list[tuple]:
    """(context, first system, choice, second system, annotator)"""
    rows = PairwiseJudgment.objects.filter(annotator__campaign=campaign)
    names = ("output_a__context__key", "output_a__system__name", "choice", "output_b__system__name", "annotator__name")
    return sorted(rows.values_list(*names))


def annotators(campaign) -> dict[str, bool]:
    return dict(Annotator.objects.filter(campaign=campaign).values_list("name", "is_simulated"))


def everywhere(installation, kind: str, file: str, stored, *, criterion=("Quality", 1, 5), on: str = "", **how):
    """(what each door stored, its account), after a check that they are the same and that the account balances."""
    found = {}
    for door in DOORS:
        campaign = installation.campaign(door, criterion, on)
        account = installation.through(door, campaign, kind, SAMPLES / file, **how)
        account["new"].pop("items", None)
        found[door] = (stored(campaign), annotators(campaign), json.loads(json.dumps(account)))
    assert found["command"] == found["api"] == found["page"]
    rows, people, account = found["command"]
    assert account["rows"] == account["new"].get(kind, 0) + account.get("repeated", 0) + sum(
        account.get("left_out", {}).values()
    )
    return rows, people, account


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
        assert account["assumed"] == ["1 comments were longer than 500 characters and are cut."]
        assert {len(reason) for (reason,) in PairwiseJudgment.objects.values_list("reason")} == {500}
