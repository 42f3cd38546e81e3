"""A second pass over marks that a model suggested (ESA-AI): imported, shown, kept or not, exported, said by the board."""

import io
import json

import pytest
from django.core.management import call_command

from annotation.annotating.assignment import next_assignment
from annotation.annotating.item_page import answer_of, suggestions
from annotation.annotating.submissions import submit
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.export import as_csv, as_jsonl, exported_answers
from annotation.data.importer import import_answers, import_outputs
from annotation.models import LikertScore, Output, User
from annotation.people.accounts import add_annotator
from annotation.questions import registry
from annotation.questions.spans.suggestions import fates
from core.errors import ImportRefused
from leaderboard import tasks
from leaderboard.boards import queries
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import hidden, text
from tests.annotation.questions.test_spans import campaign, outputs, sent  # noqa: F401 (a fixture)
from tests.annotation.questions.test_third_kind import assignment_key

pytestmark = pytest.mark.django_db
# What a model marked in each system's text, and what each of two people leaves of it.
SHOWN = {"mt1": [("Tag", "minor", "Style")], "mt2": [("Tag", "minor", "Style"), ("Freund!", "major", "Style")], "mt3": []}
LEFT = {
    "mt1": [[("Tag", "minor", "Style")], [("Tag", "major", "Style")]],
    "mt2": [[("Tag", "minor", "Style")], [("Tag", "minor", "Style"), ("Freund", "major", "Style")]],
    "mt3": [[("ALT", "major", "Style")], []],
}
BOTH = "6 of 6 answers were given over what xcomet had marked before. Of 6 marks that were shown, people kept 3 as they were,"
BOTH += " changed 2 and removed 1; they added 1."  # by hand from the two lists above


def rows(shown=SHOWN, **more):
    marks = ((system, json.loads(sent(marks, system))) for system, marks in shown.items())
    of = {"context_id": "c1", "aspect": "Errors", "annotator": "xcomet", **more}
    return "".join(json.dumps({**of, "system": system, "errors": errors}) + "\n" for system, errors in marks)


@pytest.fixture
def suggested(campaign, tmp_path):  # noqa: F811
    file = tmp_path / "model.jsonl"
    file.write_text(rows())
    call_command("import_spans", "mqm", str(file), "--constant", "suggestion=true", stdout=io.StringIO())
    return campaign


@pytest.fixture
def gone_through(suggested):
    for n in range(2):
        person = add_annotator(suggested, User.objects.create_user(f"person {n}"))
        while assignment := next_assignment(person):
            system = assignment.item.output.system.name
            posted = {f"spans_{suggested.criteria.get().pk}": sent(LEFT[system][n], system)}
            submit(person, assignment.pk, assignment_key(n, assignment.item_id), answer_of(posted))
    return suggested


def test_they_are_nobodys_answers(suggested, client):
    assert not LikertScore.objects.exists() and not suggested.annotators.exists()
    assert client.get("/api/campaigns/mqm/").json()["status"] == "open" and suggested.items.count() == 3


def test_the_form_begins_with_them_and_says_so(suggested, client):
    bob = User.objects.create_user("bob")
    add_annotator(suggested, bob)
    client.force_login(bob)
    for _ in range(3):
        page = client.get("/c/mqm/annotate/?start=1")
        item = suggested.annotators.get(user=bob).assignments.order_by("-pk").first().item
        system, words = item.output.system.name, text(page)
        assert "may be marked already" in words and "xcomet" not in words
        marks = page.context["questions"][0].value
        assert [mark["text"] for mark in marks or []] == [words for words, *_ in SHOWN[system]]
        key = str(suggested.criteria.get().pk)
        shown = client.post("/api/tasks/mqm/next/").json()["assignment"]
        assert [mark["text"] for mark in shown["suggested"][key]] == [words for words, *_ in SHOWN[system]]
        client.post("/c/mqm/annotate/", hidden(page) | {f"spans_{key}": page.context["questions"][0].marked or "0"})
    assert LikertScore.objects.count() == 3 and "kept 3 as they were, changed 0 and removed 0; they added 0" in kept_of(
        suggested
    )


def kept_of(of):
    [kind] = [kind for kind in registry.about_outputs() if kind.takes_suggestions]
    return kind.leaning_in_words(exported_answers(of, kind.files))


def test_what_was_shown_stands_beside_what_was_kept(gone_through, client):
    row = LikertScore.objects.get(output__system__name="mt2", annotator__name=gone_through.annotators.first().name)
    assert row.detail["suggested_by"] == "xcomet" and [m["text"] for m in row.detail["suggested"]] == ["Tag", "Freund!"]
    assert [m["text"] for m in row.detail["spans"]] == ["Tag"] and row.value == 1
    assess(gone_through)
    assert BOTH in text(client.get("/c/mqm/quality/"))


def test_answers_that_name_no_suggestion_but_mark_what_was_suggested_are_said(suggested):
    """One of the three errors that were suggested for the two outputs with a mark is marked as it was."""

    def assumed(name, told, **more):
        file = io.BytesIO(rows(told, annotator=name, **more).encode())
        return [said for said in import_answers(suggested, "spans", file, f"{name}.jsonl").assumed if "suggested_by" in said]

    other = {"mt1": [("Guten", "minor", "Style")], "mt2": [("Freund", "minor", "Style")], "mt3": []}
    [said] = assumed("ann", other | {"mt1": SHOWN["mt1"]})
    assert said.startswith("2 answers mark errors in outputs that have suggestions and do not say suggested_by: 1 of the 3 ")
    assert not assumed("ben", other)  # nothing in it tells
    assert not assumed("cat", SHOWN, suggested_by="xcomet", suggested=[])


@pytest.mark.parametrize("written", ["jsonl", "csv"])
def test_what_is_exported_is_imported_again(gone_through, written):
    told = list(exported_answers(gone_through, "spans"))
    assert {row["suggested_by"] for row in told} == {"xcomet"}
    lines = "".join(as_csv(told, "spans") if written == "csv" else as_jsonl(told))
    copy = create_campaign(slug="copy", criteria=[])
    import_outputs(copy, outputs(), "outputs.json")
    import_answers(copy, "spans", io.BytesIO(lines.encode()), f"out.{written}")
    assert list(exported_answers(copy, "spans")) == told and assess(copy).digest == assess(gone_through).digest


def test_the_board_says_so(gone_through):
    assess(gone_through, mad=None)
    tournament = start_tournament(gone_through, "people", criterion="Errors", foreground=True)
    board = queries.board(tasks.run(tournament.job_id))
    [said] = [doubt.text for doubt in board.doubts if doubt.kind == "suggested"]
    assert said.startswith(BOTH) and "kept 50% (mt1) to 50% (mt2)" in said  # 1 of 2 and 2 of 4
    assert "added 0 (mt1) to 0.5 (mt3) to an output" in said


def test_a_campaign_without_them_has_none_of_it(campaign):  # noqa: F811
    person = add_annotator(campaign, User.objects.create_user("bob"))
    assignment = next_assignment(person)
    assert suggestions(registry.asked(campaign, assignment.item), assignment.item) == {}
    posted = {f"spans_{campaign.criteria.get().pk}": "0"}
    submit(person, assignment.pk, assignment_key(0, 1), answer_of(posted))
    [row] = exported_answers(campaign, "spans")
    assert "suggested" not in row and kept_of(campaign) == ""


def test_they_change_until_somebody_has_the_output(suggested):
    def given(content):
        return import_answers(suggested, "spans", io.BytesIO(content.encode()), "again.jsonl")

    def shown(system):
        return Output.objects.get(system__name=system).metadata["suggested"].get("Errors")

    assert given(rows(suggestion=True)).new == {}
    bob = add_annotator(suggested, User.objects.create_user("bob"))
    system = next_assignment(bob).item.output.system.name  # in his hands: no answer yet
    others = sorted({"mt1", "mt2", "mt3"} - {system})
    before, other = shown(system), {"mt1": [], "mt2": [("Tag", "major", "Style")], "mt3": [("ALT", "major", "Style")]}
    changed = given(rows(other, suggestion=True, annotator="other"))
    assert changed.new == {"suggestions changed": 2} and sum(changed.left_out.values()) == 1
    assert shown(system) == before and [shown(name)["by"] for name in others] == ["other"] * 2
    nothing = {"context_id": "c1", "aspect": "Errors", "annotator": "other", "suggestion": True, "errors": None}
    withdrawn = given("".join(json.dumps(nothing | {"system": name}) + "\n" for name in SHOWN))
    assert withdrawn.new == {"suggestions withdrawn": 2} and [shown(name) for name in others] == [None, None]
    assert shown(system) == before and given(json.dumps(nothing | {"system": others[0]})).left_out == {"has no errors": 1}


def test_a_file_with_two_or_with_an_odd_one_is_refused(suggested):
    def given(content):
        return import_answers(suggested, "spans", io.BytesIO(content.encode()), "again.jsonl")

    with pytest.raises(ImportRefused, match="is another than this output has from 'other'"):
        given(rows({"mt1": []}, suggestion=True, annotator="other") + rows(suggestion=True))
    with pytest.raises(ImportRefused, match="has the severity"):
        given(json.dumps(json.loads(rows().splitlines()[0]) | {"errors": [{"severity": "odd", "text": "x"}], "suggestion": 1}))


def test_what_became_of_marks():
    def mark(start, end, severity="minor"):
        return {"where": "output", "start": start, "end": end, "severity": severity}

    before = [mark(0, 4), mark(5, 9), mark(10, 12)]
    assert fates(before, before) == {"kept": 3, "changed": 0, "removed": 0, "added": 0}
    assert fates(before, [mark(0, 4, "major"), mark(5, 9), mark(20, 22)]) == {"kept": 1, "changed": 1, "removed": 1, "added": 1}
    assert fates([], [mark(0, 1)]) == {"kept": 0, "changed": 0, "removed": 0, "added": 1}
