"""A question with a condition: set up on the page, neither required nor stored nor missing where it does not hold."""

import io
import re
import uuid

import krippendorff
import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import live_submissions, revise, submit
from annotation.annotating.undo import undo_last
from annotation.api.serializers import CriterionSerializer
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec, change_campaign
from annotation.data.export import as_csv, exported_answers
from annotation.data.importer import import_outputs, import_scores
from annotation.models import Campaign, LikertScore, Output, User
from annotation.people.accounts import add_annotator
from core.errors import Refused
from leaderboard import tasks
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import hidden, text, write_outputs
from tests.annotation.questions.test_third_kind import DESIGN

pytestmark = pytest.mark.django_db
ROWS = {
    "slug": "why",
    "criteria-TOTAL_FORMS": "2",
    "criteria-0-name": "Fluency",
    "criteria-0-kind": "scale",
    "criteria-0-low": "1",
    "criteria-0-high": "5",
    "criteria-1-name": "Why",
    "criteria-1-kind": "scale",
    "criteria-1-low": "1",
    "criteria-1-high": "3",
    "criteria-1-asked_after": "Fluency",
    "criteria-1-asked_from": "1",
    "criteria-1-asked_to": "2",
}
BELOW_3 = {"asked_if": {"criterion": "Fluency", "from": 1, "to": 2}}


@pytest.fixture
def campaign(tmp_path, client):
    """Set up on the page."""
    client.force_login(User.objects.create_user("alice", may_create_campaigns=True))
    response = client.post("/new/", DESIGN | ROWS)
    assert response.status_code == 302, re.findall(r'class="(?:errorlist|warning)[^>]*>.*?</', text(response), re.DOTALL)
    campaign = Campaign.objects.get(slug="why")
    import_outputs(campaign, write_outputs(tmp_path, 2))
    return campaign


@pytest.fixture
def bob(campaign):
    return add_annotator(campaign, User.objects.create_user("bob"))


def sent(campaign, fluency, why=None):
    first, second = campaign.criteria.all()
    return {"scores": {first.pk: fluency} | ({} if why is None else {second.pk: why})}


def answer(annotator, *points):
    """The assignment that was answered."""
    assignment = next_assignment(annotator)
    submit(annotator, assignment.pk, uuid.uuid4(), sent(annotator.campaign, *points))
    return assignment


def stored(annotator):
    rows = LikertScore.objects.filter(annotator=annotator, retracted_at=None).order_by("pk")
    return list(rows.values_list("criterion__name", "value"))


def test_the_design_keeps_it_and_shows_it_again(campaign, client):
    assert campaign.criteria.get(name="Why").settings == BELOW_3
    page = text(client.get("/c/why/design/"))
    (field,) = re.findall(r'<input [^>]*name="criteria-1-asked_after"[^>]*>', page)
    assert 'value="Fluency"' in field
    assert "only if Fluency is 1 to 2" in text(client.get("/c/why/"))
    preview = text(client.get("/c/why/preview/"))
    assert 'data-asked-if="Fluency" data-from="1" data-to="2"' in preview and preview.count("annotate/conditions.js") == 2


def test_it_is_asked_only_where_it_holds(campaign, bob):
    answer(bob, 3)
    answer(bob, 2, 1)
    with pytest.raises(Refused, match="Why"):
        answer(bob, 1)
    answer(bob, 4, 2)  # what a page without scripts sends
    assert stored(bob) == [("Fluency", 3), ("Fluency", 2), ("Why", 1), ("Fluency", 4)]


def test_a_change_of_the_first_answer_takes_the_second_away(campaign, bob):
    assignment = answer(bob, 1, 3)
    revise(bob, assignment.pk, uuid.uuid4(), sent(campaign, 5, 3))
    assert stored(bob) == [("Fluency", 5)]
    undo_last(bob, None)
    assert stored(bob) == []


def test_without_scripts(campaign, bob, client):
    """All is shown, and nothing of the question insists on an answer; what was sent to it is not shown again as answered."""
    client.force_login(bob.user)
    page = client.get("/c/why/annotate/?start=1")
    first, second = (f"score_{criterion.pk}" for criterion in campaign.criteria.all())
    inputs = {name: re.findall(f'<input [^>]*name="{name}"[^>]*>', text(page)) for name in (first, second)}
    assert len(inputs[second]) == 3 and not any("required" in one for one in inputs[second])
    assert all("required" in one for one in inputs[first]) and "Only if Fluency is 1 to 2" in text(page)
    client.post("/c/why/annotate/", hidden(page) | {first: "4", second: "2"})
    assert stored(bob) == [("Fluency", 4)]
    again = text(client.get(f"/c/why/answers/{live_submissions(bob).get().assignment_id}/"))
    assert re.search(f'name="{first}" value="4"[^>]* checked', again)
    assert not re.search(f'name="{second}"[^>]* checked', again)
    page = client.get("/c/why/annotate/")
    refused = client.post("/c/why/annotate/", hidden(page) | {first: "1"})
    assert re.search(r'role="alert">([^<]*)', text(refused))[1] == "Please also score: Why."


def test_the_api_names_what_was_not_asked(campaign, bob, client):
    client.force_login(bob.user)
    task = "/api/tasks/why/"
    at_hand = client.post(f"{task}next/").json()["assignment"]["id"]
    scores = {str(key): value for key, value in sent(campaign, 4, 2)["scores"].items()}
    reply = client.post(f"{task}judgments/", {"assignment": at_hand, "scores": scores}, "application/json")
    assert reply.status_code == 201, reply.content
    assert reply.json()["not_asked"] == ["Why"] and stored(bob) == [("Fluency", 4)]


def test_a_file_comes_back_as_it_went_out(campaign, bob, tmp_path):
    for points in ((1, 3), (4,), (2, 2)):
        answer(bob, *points)
    exported = list(exported_answers(campaign, "scores"))
    criteria = [CriterionSpec("Fluency"), CriterionSpec("Why", 1, 3, settings=BELOW_3)]
    copy = create_campaign(slug="copy", criteria=criteria)
    import_outputs(copy, write_outputs(tmp_path, 2))
    file = io.BytesIO("".join(as_csv(exported, "scores")).encode())
    assert not any("left out" in said for said in import_scores(copy, file, "scores.csv").assumed)
    assert list(exported_answers(copy, "scores")) == exported
    assert assess(copy, mad=None).digest == assess(campaign, mad=None).digest


def test_answers_of_a_file_to_what_was_not_asked_are_named(campaign, tmp_path):
    output = Output.objects.filter(context__campaign=campaign).first()
    lines = ["context_id,system,annotator,aspect,scale,score"]
    for who, fluency in (("eva", 4), ("ann", 2)):
        for name, scale, score in (("Why", "1 to 3", 3), ("Fluency", "1 to 5", fluency)):
            lines.append(f"{output.context.key},{output.system.name},{who},{name},{scale},{score}")
    result = import_scores(campaign, io.BytesIO("\n".join(lines).replace(" to ", "-").encode()), "scores.csv")
    (said,) = (sentence for sentence in result.assumed if "left out" in sentence)
    assert said == f"'Why' is asked only if Fluency is 1 to 2; left out: 1, 'eva' on {output.context.key!r}."
    rows = LikertScore.objects.values_list("annotator__name", "criterion__name")
    assert sorted(rows) == [("ann", "Fluency"), ("ann", "Why"), ("eva", "Fluency")]


def test_agreement_is_over_those_who_were_asked(campaign):
    """Against the package krippendorff, in which nobody's answer is missing data."""
    people = [add_annotator(campaign, User.objects.create_user(name)) for name in ("ann", "ben", "cat")]
    said: dict[int, list] = {}
    for number, annotator in enumerate(people):
        while (assignment := next_assignment(annotator)) is not None:
            output = assignment.item.output_id
            fluency = 5 if output % 3 == number else 1
            why = None if fluency == 5 else 1 + (output + (number == 2 and output % 2)) % 3
            submit(annotator, assignment.pk, uuid.uuid4(), sent(campaign, fluency, why))
            said.setdefault(output, [None] * len(people))[number] = why
    report = assess(campaign, mad=None).decisions.get(criterion__name="Why").report
    table = [[float("nan") if why is None else why for why in column] for column in zip(*said.values())]
    expected = krippendorff.alpha(table, level_of_measurement="ordinal", value_domain=[1, 2, 3])
    assert report["alpha_before"] == pytest.approx(expected, abs=1e-9)


def test_the_board_has_the_means_of_those_who_were_asked(campaign):
    people = [add_annotator(campaign, User.objects.create_user(name)) for name in ("ann", "ben")]
    systems = sorted(system.name for system in campaign.systems.all())
    for annotator in people:
        while (assignment := next_assignment(annotator)) is not None:
            place = systems.index(assignment.item.output.system.name)
            is_asked = annotator is people[0]
            submit(annotator, assignment.pk, uuid.uuid4(), sent(campaign, 1 if is_asked else 5, 1 + place if is_asked else 1))
    assess(campaign, mad=None)
    board = tasks.run(start_tournament(campaign, "people", criterion="Why", foreground=True).job_id)
    means = dict(board.ratings.values_list("system__name", "human_mean"))
    assert means == {name: 1 + place for place, name in enumerate(systems)}


@pytest.mark.parametrize(
    "condition, why",
    [
        ({"criterion": "Why", "from": 1, "to": 2}, "no earlier criterion"),
        ({"criterion": "Fluency", "from": 0, "to": 2}, "its scale is 1 to 5"),
        ({"criterion": "Fluency", "from": 2, "to": 1}, "its scale is 1 to 5"),
        ({"criterion": "Fluency", "to": 2}, "a condition names"),
        ("Fluency", "a condition names"),
    ],
)
def test_what_cannot_be_a_condition_is_refused(condition, why):
    criteria = [CriterionSpec("Fluency"), CriterionSpec("Why", settings={"asked_if": condition})]
    with pytest.raises(Refused, match=why):
        create_campaign(slug="wrong", criteria=criteria)


def test_pairs_by_criterion_have_no_conditions(campaign):
    with pytest.raises(Refused, match="none can have a condition"):
        change_campaign(campaign, pairwise=True, pairwise_by_criterion=True)


def test_answers_hold_it_in_place(campaign, bob):
    answer(bob, 1, 3)
    specs = [CriterionSerializer.spec({**CriterionSerializer(one).data}) for one in campaign.criteria.all()]
    specs[1].settings.clear()
    with pytest.raises(Refused, match="people have answered on it"):
        change_campaign(campaign, criteria=specs)
