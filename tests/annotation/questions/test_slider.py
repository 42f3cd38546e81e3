"""A scale that is answered by moving a slider: a setting of a scale, so that files, agreement and boards are a scale's."""

import io
import re

import pytest

from annotation.annotating.item_page import answer_of
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.campaigns.templates import TEMPLATES, settings_of
from annotation.data.export import as_csv, exported_answers
from annotation.data.importer import import_outputs, import_scores
from annotation.models import Campaign, LikertScore, Output, User
from annotation.people.accounts import add_annotator
from annotation.questions import registry
from core.errors import Refused
from tests.annotation.pages import hidden, text, write_outputs
from tests.annotation.questions.test_third_kind import DESIGN

pytestmark = pytest.mark.django_db
ANCHORS = "0 nothing kept\n33 a part kept\n67 most kept\n100 all kept"
SLIDER = {
    "slug": "da",
    "criteria-0-name": "Quality",
    "criteria-0-kind": "scale",
    "criteria-0-low": "0",
    "criteria-0-high": "100",
    "criteria-0-anchors": ANCHORS,
    "criteria-0-slider": "on",
}


@pytest.fixture
def campaign(tmp_path, client):
    """Set up on the page."""
    client.force_login(User.objects.create_user("alice", may_create_campaigns=True))
    response = client.post("/new/", DESIGN | SLIDER)
    assert response.status_code == 302, re.findall(r'class="(?:errorlist|warning)[^>]*>.*?</', text(response), re.DOTALL)
    campaign = Campaign.objects.get(slug="da")
    import_outputs(campaign, write_outputs(tmp_path, 1))
    return campaign


def test_the_design_keeps_it_and_shows_it_again(campaign, client):
    criterion = campaign.criteria.get()
    assert (criterion.kind, criterion.low, criterion.high, criterion.settings) == ("scale", 0, 100, {"slider": True})
    page = text(client.get("/c/da/design/"))
    assert re.search(r'<input [^>]*name="criteria-0-slider"[^>]* checked', page) and "33 a part kept" in page


def test_the_number_beside_it_is_the_answer(campaign, client):
    """Without scripts the slider is hidden and has no name; nothing is chosen before somebody answers."""
    assert "data-slider" in text(client.get("/c/da/preview/"))
    bob = User.objects.create_user("bob")
    add_annotator(campaign, bob)
    client.force_login(bob)
    page = client.get("/c/da/annotate/?start=1")
    field = f"score_{campaign.criteria.get().pk}"
    slider = re.search(r"<input [^>]*data-slider[^>]*>", text(page))[0]
    assert "hidden" in slider and "name=" not in slider and "value=" not in slider.replace("data-unanswered=", "")
    assert "<b>33</b>" in text(page) and "move the slider" in text(page)
    assert client.post("/c/da/annotate/", hidden(page)).status_code == 422
    assert client.post("/c/da/annotate/", hidden(page) | {field: "101"}).status_code == 422
    assert client.post("/c/da/annotate/", hidden(page) | {field: "67"}).status_code == 303
    assert LikertScore.objects.get().value == 67


def test_what_is_exported_is_imported_again(campaign, tmp_path):
    person, quality = add_annotator(campaign, User.objects.create_user("bob")), campaign.criteria.get()
    for n, output in enumerate(Output.objects.all()):
        LikertScore.objects.create(annotator=person, output=output, criterion=quality, value=33 * n)
    exported = list(exported_answers(campaign, "scores"))
    assert [(row["score"], row["scale"]) for row in exported] == [(0, [0, 100]), (33, [0, 100]), (66, [0, 100])]
    copy = create_campaign(slug="copy")
    import_outputs(copy, write_outputs(tmp_path, 1))
    import_scores(copy, io.BytesIO("".join(as_csv(exported, "scores")).encode()), "scores.csv")
    assert list(exported_answers(copy, "scores")) == exported


def test_a_setting_that_is_none_is_refused():
    with pytest.raises(Refused, match="slider is true or false"):
        create_campaign(slug="odd", criteria=[CriterionSpec("Quality", 0, 100, settings={"slider": "yes"})])
    with pytest.raises(Refused, match="no setting 'slide'"):
        create_campaign(slug="odd", criteria=[CriterionSpec("Quality", 0, 100, settings={"slide": True})])


def test_answers_are_those_of_a_scale(campaign):
    assert answer_of({f"score_{campaign.criteria.get().pk}": "67"}) == {"scores": {campaign.criteria.get().pk: 67}}
    assert [registry.about_output(c).kind.name for c in campaign.criteria.all()] == ["scale"]


def test_the_template_of_wmt_is_one():
    created = create_campaign(slug="wmt", **settings_of(TEMPLATES["translation-0-100"]))
    assert created.criteria.get().settings == {"slider": True} and "33" in created.criteria.get().anchors
