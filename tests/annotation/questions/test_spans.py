"""Marked errors, ESA and MQM: set up on the page, answered, weighed, in files, on a board, and how far people mark the same."""

import io
import json
import re
import zipfile

import krippendorff
import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.item_page import answer_of
from annotation.annotating.submissions import submit
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.export import as_csv, as_jsonl, exported_answers
from annotation.data.importer import import_answers, import_file, import_outputs
from annotation.models import Campaign, LikertScore, User
from annotation.people.accounts import add_annotator
from annotation.questions.spans.method import MQM, NOWHERE, OUTPUT, SOURCE, Span, matched, span_agreement
from core.errors import ImportRefused, Refused
from leaderboard import tasks
from leaderboard.archive.export import write_archive
from leaderboard.publication.contents import contents
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import hidden, text
from tests.annotation.questions.test_third_kind import DESIGN, assignment_key

pytestmark = pytest.mark.django_db
SPANS = {
    "slug": "mqm",
    "criteria-0-name": "Errors",
    "criteria-0-kind": "spans",
    "criteria-0-spans-severities": "minor 1\nmajor 5",
    "criteria-0-spans-categories": "Accuracy/Omission\nFluency/Punctuation: minor 0.1\n"
    "Non-translation: minor 25, major 25\nStyle",
    "criteria-0-spans-source": "on",
}
SOURCE_TEXT = "Good day, my friend 😀 of old."
TEXTS = {"mt1": "Guten Tag mein 😀 Freund.", "mt2": "Tag.\r\nFreund!", "mt3": "ALT"}
# By system, what three people mark: (words, severity, category), "source:" before words of the source.
SAID: dict[str, list[list[tuple[str, str, str]]]] = {
    "mt1": [[("Tag", "minor", "Fluency/Punctuation")], [("Guten Tag", "minor", "Fluency/Punctuation")], []],
    "mt2": [
        [("source:of old", "major", "Accuracy/Omission"), ("Freund!", "minor", "Style")],
        [("source:of old", "major", "Accuracy/Omission")],
        [("source:old", "minor", "Accuracy/Omission"), ("Freund", "minor", "Style")],
    ],
    "mt3": [[("ALT", "major", "Non-translation")]] * 3,
}
# Freitag et al. 2021, table 4: minor punctuation 0.1, minor 1, major 5, non-translation 25.
WEIGHS = {"mt1": [0.1, 0.1, 0], "mt2": [6, 5, 2], "mt3": [25, 25, 25]}


def outputs():
    rows = [{"context_id": "c1", "context": SOURCE_TEXT, "system": name, "output": said} for name, said in TEXTS.items()]
    return io.BytesIO(json.dumps(rows).encode())


@pytest.fixture
def campaign(client):
    """Set up on the page."""
    client.force_login(User.objects.create_user("alice", may_create_campaigns=True))
    response = client.post("/new/", DESIGN | SPANS)
    assert response.status_code == 302, re.findall(r'class="(?:errorlist|warning)[^>]*>.*?</', text(response), re.DOTALL)
    campaign = Campaign.objects.get(slug="mqm")
    import_outputs(campaign, outputs(), "outputs.json")
    return campaign


def sent(marks, system):
    """As the page sends it: places in characters."""
    found = []
    for words, severity, category in marks:
        where, words = (SOURCE, words.removeprefix("source:")) if words.startswith("source:") else (OUTPUT, words)
        start = (SOURCE_TEXT if where == SOURCE else TEXTS[system]).index(words)
        found.append({"where": where, "start": start, "end": start + len(words), "severity": severity, "category": category})
    return json.dumps(found)


@pytest.fixture
def answered(campaign):
    for n in range(3):
        person = add_annotator(campaign, User.objects.create_user(f"person {n}"))
        while assignment := next_assignment(person):
            system = assignment.item.output.system.name
            posted = {f"spans_{campaign.criteria.get().pk}": sent(SAID[system][n], system)}
            submit(person, assignment.pk, assignment_key(n, assignment.item_id), answer_of(posted))
    return campaign


class TestAsked:
    def test_the_design_keeps_it_and_shows_it_again(self, campaign, client):
        criterion = campaign.criteria.get()
        assert (criterion.kind, criterion.low, criterion.best) == ("spans", 0, "low")
        assert criterion.settings["categories"][1] == ["Fluency/Punctuation", {"minor": 0.1}]
        page = text(client.get("/c/mqm/design/"))
        assert "Non-translation: minor 25, major 25" in page and "major 5" in page

    @pytest.mark.parametrize(
        ("field", "typed", "said"),
        [
            ("severities", "grave", "write a severity and its weight"),
            ("categories", "Fluency: minor x9", "write a severity and its weight"),
        ],
    )
    def test_what_is_no_weight_is_refused_beside_its_field(self, campaign, client, field, typed, said):
        refused = client.post("/new/", DESIGN | SPANS | {"slug": "other", f"criteria-0-spans-{field}": typed})
        assert refused.status_code == 422 and said in text(refused)

    def test_the_highest_can_not_be_best(self):
        with pytest.raises(Refused, match="the fewest are best"):
            create_campaign(slug="odd", criteria=[CriterionSpec("Errors", 0, 25, kind="spans")])

    def test_the_sum_of_weights_is_the_answer_and_the_marks_stand_beside_it(self, answered):
        rows = LikertScore.objects.order_by("annotator__name")
        for system, weights in WEIGHS.items():
            assert [row.value for row in rows.filter(output__system__name=system)] == pytest.approx(weights)
        [word, omission] = rows.filter(output__system__name="mt2")[0].detail["spans"]
        assert (word["text"], word["start"], word["where"]) == ("Freund!", 6, "output")  # a line's end is two characters here
        assert (omission["text"], omission["turn"], omission["start"]) == ("of old", 0, 22)  # a picture sign is one

    def test_without_scripts_an_error_is_a_line(self, campaign, client):
        bob = User.objects.create_user("bob")
        add_annotator(campaign, bob)
        client.force_login(bob)
        field = f"spans_{campaign.criteria.get().pk}"
        page = client.get("/c/mqm/annotate/?start=1")
        assert "One error on each line" in text(page) and "marked-texts" in text(page)
        assert client.post("/c/mqm/annotate/", hidden(page)).status_code == 422
        for wrong in ("severe: Tag", "minor: nowhere to be found", "minor Style: nowhere", "nothing"):
            assert client.post("/c/mqm/annotate/", hidden(page) | {field: wrong}).status_code == 422
        item = campaign.annotators.get(user=bob).assignments.get().item
        words = item.output.text[:3]
        assert client.post("/c/mqm/annotate/", hidden(page) | {field: f"major Style: {words}"}).status_code == 303
        assert LikertScore.objects.get().detail["spans"][0]["text"] == words
        page = client.get("/c/mqm/annotate/")
        assert client.post("/c/mqm/annotate/", hidden(page) | {field: "0"}).status_code == 303
        assert LikertScore.objects.get(value=0).detail == {"spans": []}
        own = text(client.get("/c/mqm/answers/"))
        assert "1 error: major" in own and "No errors" in own

    def test_the_api_takes_the_words_alone(self, campaign, client):
        bob = User.objects.create_user("bob")
        add_annotator(campaign, bob)
        client.force_login(bob)
        shown = client.post("/api/tasks/mqm/next/").json()["assignment"]
        key = str(campaign.criteria.get().pk)
        answer = {"assignment": shown["id"], "shown": shown["shown"], "key": shown["key"]}
        mark = {"text": shown["output"][-2:], "severity": "minor", "category": "Style"}
        for wrong in ({"end": 99, "start": 1}, {"severity": "odd"}, {"more": 1}, {"category": "Odd"}, {"start": -1, "end": 2}):
            body = answer | {"spans": {key: [mark | wrong]}}
            assert client.post("/api/tasks/mqm/judgments/", body, content_type="application/json").status_code == 422
        done = client.post("/api/tasks/mqm/judgments/", answer | {"spans": {key: [mark]}}, content_type="application/json")
        assert done.status_code == 201, done.content
        assert LikertScore.objects.get().value == 1


class TestFiles:
    @pytest.mark.parametrize("written", ["jsonl", "csv"])
    def test_what_is_exported_is_imported_again(self, answered, written):
        rows = list(exported_answers(answered, "spans"))
        assert len(rows) == 9 and rows[0]["scheme"]["severities"] == [["minor", 1.0], ["major", 5.0]]
        lines = "".join(as_csv(rows, "spans") if written == "csv" else as_jsonl(rows))
        copy = create_campaign(slug="copy", criteria=[])
        import_outputs(copy, outputs(), "outputs.json")
        done = import_answers(copy, "spans", io.BytesIO(lines.encode()), f"spans.{written}")
        assert done.new["spans"] == 9 and list(exported_answers(copy, "spans")) == rows
        again = import_answers(copy, "spans", io.BytesIO(lines.encode()), f"spans.{written}")
        assert again.new == {} and assess(copy).digest == assess(answered).digest

    def test_other_marks_of_the_same_weight_contradict_each_other(self, answered):
        row = next(r for r in exported_answers(answered, "spans") if r["system"] == "mt1" and r["score"] == 0.1)
        other = row | {"errors": [row["errors"][0] | {"start": 17, "end": 23, "text": "Freund"}]}
        with pytest.raises(ImportRefused, match="already gave this output 1 errors"):
            import_answers(answered, "spans", io.BytesIO(json.dumps([other]).encode()), "spans.json")

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"errors": [{"severity": "odd", "start": 0, "end": 1}]}, "has the severity 'odd'; expected minor or major"),
            ({"errors": [{"severity": "minor", "start": 0, "end": 99}]}, "runs from 0 to 99 in a text of"),
            ({"errors": [{"severity": "minor", "start": 0, "end": 3, "text": "Tug"}]}, "has other words"),
            ({"errors": [{"severity": "minor", "text": "n"}]}, "its words stand"),
            ({"errors": "minor"}, "is no list"),
            ({"errors": [], "score": 3}, "is 3, and the errors weigh 0"),
            ({"scheme": {"severities": [["minor", 2]]}}, "is another than criterion"),
            ({"scheme": {"severities": [["minor", -2]]}}, "with weights from 0 to 1000"),
        ],
    )
    def test_a_wrong_row_is_refused_by_field(self, campaign, change, said):
        row = {"context_id": "c1", "system": "mt1", "aspect": "Errors", "annotator": "x", "errors": []} | change
        with pytest.raises(ImportRefused, match=said):
            import_answers(campaign, "spans", io.BytesIO(json.dumps([row]).encode()), "spans.json")

    def test_an_archive_carries_the_marks(self, answered):
        out = io.BytesIO()
        write_archive(answered, out)
        archive = zipfile.ZipFile(out)
        tables = b"".join(archive.read(name) for name in archive.namelist() if "score" in name)
        assert len(re.findall(rb'"category": ?"Accuracy/Omission"', tables)) == 3, archive.namelist()


class TestRead:
    def test_agreement_is_of_the_weights_at_interval_level(self, answered):
        table = [[WEIGHS[system][n] for system in TEXTS] for n in range(3)]
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
        report = assess(answered).decisions.get().report
        assert report["alpha_before"] == pytest.approx(expected, abs=1e-9)

    def test_agreement_on_marks_is_matched_by_overlap(self, answered, client):
        """By hand, credit of both sides of what there was to get. mt1: "Tag" in "Guten Tag" 3/3 + 3/9 of 2, then 0 of 1 twice.
        mt2: "of old" twice 2, and a "Freund!" alone, of 3; "of old" and "old" 3/6 + 3/3 of 4 and "Freund!" and "Freund" 6/7 +
        6/6; "of old" and "old" 3/6 + 3/3 of 3. mt3: 2 of 2 three times. "of old" is major, "old" minor."""
        words, stem, whole = 3 / 3 + 3 / 9, 3 / 6 + 3 / 3, 6 / 7 + 6 / 6
        there = (2 + 1 + 1) + (3 + 4 + 3) + 6
        report = assess(answered).decisions.get().report["marks"]
        assert report["where"] == pytest.approx((words + 2 + stem + whole + stem + 6) / there)
        assert report["severity"] == pytest.approx((words + 2 + whole + 6) / there)
        assert (report["errors"], report["texts"]) == (10, 3)
        said = f"another marks {report['where']:.0%}"
        assert said in text(client.get("/c/mqm/quality/")) and said in text(client.get("/c/mqm/progress/"))

    def test_the_board_has_the_fewest_first_and_the_means(self, answered):
        assess(answered, mad=None)
        board = tasks.run(start_tournament(answered, "people", criterion="Errors", foreground=True).job_id)
        means = dict(board.ratings.order_by("-rating").values_list("system__name", "human_mean"))
        assert list(means) == ["mt1", "mt2", "mt3"]
        assert means == pytest.approx({"mt1": 0.2 / 3, "mt2": 13 / 3, "mt3": 25})


def span(start, end, severity="minor", category="", where=OUTPUT):
    return Span(where, 0, start, end, severity, category)


class TestMatched:
    """By hand: a match counts for each of the two by the share of it that the other covers."""

    def test_one_to_one_by_the_most_credit(self):
        a, b = span(0, 10), span(12, 14)
        x, y = span(5, 13), span(0, 4)
        # a-x covers 5/10 and 5/8; a-y 4/10 and 4/4; b-x 1/2 and 1/8. a-y and b-x have 1.4 + .625, more than a-x with 1.125.
        assert matched([a, b], [x, y]) == [(a, y), (b, x)]

    def test_agreement_is_micro_averaged_over_texts_and_pairs_of_people(self):
        one = [[span(0, 10)], [span(0, 5, "major")]]  # credit 5/10 + 5/5 = 1.5 of 2, none with the severity
        two = [[span(0, 4)], [span(0, 4)], []]  # 2 of 2, then 0 of 1 twice
        three = [[span(0, 0, where=NOWHERE)], [span(0, 0, where=NOWHERE)]]  # 2 of 2
        found = span_agreement([one, two, three, [[span(0, 3)]]])
        assert found is not None
        assert (found.where, found.severity, found.category) == pytest.approx((5.5 / 8, 4 / 8, 5.5 / 8))
        assert (found.errors, found.texts) == (6, 3) and found.low <= found.where <= found.high

    def test_nobody_or_nothing_has_no_agreement(self):
        assert span_agreement([[[span(0, 1)]]]) is None and span_agreement([[[], []]]) is None

    def test_a_sub_category_has_the_weights_of_its_category(self):
        assert MQM.weight("minor", "Fluency/Punctuation") == 0.1 and MQM.weight("major", "Non-translation!") == 25
        assert MQM.weight("minor", "Fluency/Punctuation/Comma") == 0.1 and MQM.weight("minor", "Fluency") == 1


class TestOtherTools:
    """What a snapshot's zip has for WMT and for Label Studio is read again as the same answers."""

    @pytest.fixture
    def published(self, answered):
        return contents(assess(answered, mad=None))

    @pytest.mark.parametrize(("file", "of"), [("mqm/Errors.tsv", "MQM"), ("label_studio/Errors.json", "Errors")])
    def test_they_are_read_again(self, answered, published, file, of):
        copy = create_campaign(slug="copy", criteria=[])
        for what in ("outputs", "spans"):
            import_file(copy, what, io.BytesIO(published[file]), file.rpartition("/")[2])
        of_copy = {(row["system"], row["annotator"]): row for row in exported_answers(copy, "spans")}
        assert {row["aspect"] for row in of_copy.values()} == {of}
        for row in exported_answers(answered, "spans"):
            if file.endswith(".json") and not row["errors"]:
                continue  # there an annotation without regions does not say what was asked
            known = of_copy[row["system"], row["annotator"]]
            assert known["score"] == row["score"]
            marked = [
                [(e["text"].replace("\r\n", "  "), e["severity"], e["category"]) for e in r["errors"]] for r in (row, known)
            ]
            assert marked[0] == marked[1]
