"""Campaigns begin with a template: on the page, by the command, by the API; and criteria are added one by one."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.templates import TEMPLATES, settings_of
from annotation.models import Campaign
from annotation.people.tokens import make_token
from tests.annotation.campaigns.test_protocol import PROTOCOL, rows
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db

# Names and scales as the papers have them: USR (Mehri and Eskenazi 2020, section 4), SummEval (Fabbri et al. 2021, section 3),
# direct assessment (Graham et al. 2017), InstructGPT (Ouyang et al. 2022, table 3: 1-7 and binary), HANNA (Chhun et al. 2022,
# section 3), Novikova et al. (2017) as the three-head paper quotes it (sections 1 and 4.1: six points).
SCALES = {
    "dialogue": {
        "Overall": (1, 5),
        "Understandable": (0, 1),
        "Natural": (1, 3),
        "Maintains context": (1, 3),
        "Interesting": (1, 3),
    },
    "dialogue-by-turn": {
        "Relevant": (1, 3),
        "Understandable": (0, 1),
        "Turn overall": (1, 5),
        "Coherent": (1, 3),
        "Conversation overall": (1, 5),
    },
    "summarisation": {name: (1, 5) for name in ("Coherence", "Consistency", "Fluency", "Relevance")},
    "translation": {"Adequacy": (0, 100), "Fluency": (0, 100)},
    "translation-0-100": {"Quality": (0, 100)},
    "translation-esa": {"Errors": (0, 25), "Score": (0, 100)},
    "translation-esa-ai": {"Errors": (0, 25), "Score": (0, 100)},
    "summarisation-faithfulness": {"Faithfulness": (0, 25)},
    "translation-mqm": {"MQM": (0, 25)},
    "instructions": {"Overall": (1, 7), "Follows the instruction": (0, 1), "Truthful": (0, 1), "Harmless": (0, 1)},
    "story": {name: (1, 5) for name in ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")},
    "data-to-text": {name: (1, 6) for name in ("Naturalness", "Quality", "Informativeness")},
    "pairs": {},
    "preference": {},
    "ranking": {},
    "best-worst": {},
}
ON_PAIRS = ("pairs", "preference", "instructions", "ranking", "best-worst")
AT_ONCE = {"ranking": (5, False), "best-worst": (5, True)}


def scales(campaign) -> dict:
    return {c.name: (c.low, c.high) for c in campaign.criteria.all()}


@pytest.mark.parametrize("name", TEMPLATES)
def test_each_makes_a_campaign_with_the_scales_of_its_source(name):
    template = TEMPLATES[name]
    campaign = create_campaign(slug=name, **settings_of(template))
    assert scales(campaign) == SCALES[name] and bool(template.source) == bool(template.criteria)
    assert campaign.likert == bool(SCALES[name]) and campaign.pairwise == (name in ON_PAIRS)
    assert (campaign.outputs_at_once, campaign.best_worst) == AT_ONCE.get(name, (2, False))
    assert (campaign.pair_points, campaign.pair_both_bad) == ((5, True) if name == "preference" else (3, False))
    assert campaign.guidelines and "{" not in campaign.guidelines
    assert all(c.description and (c.kind == "spans" or c.low_label and c.high_label) for c in campaign.criteria.all())


class TestThePreview:
    """Beside the form of a new campaign stands what annotators would be asked."""

    @pytest.mark.parametrize("name", TEMPLATES)
    def test_each_template_is_shown_as_it_is_asked(self, world, name):
        page = world.sign_in(world.alice).client.get("/new/", {"template": name})
        asked = [[(q.criterion and q.criterion.name) for q in item["questions"]] for item in page.context["examples"]]
        criteria = [list(SCALES[name])] if SCALES[name] else []
        if name == "dialogue-by-turn":  # a turn, and the last one, at which the conversation is asked about too
            criteria = [criteria[0][:3], *criteria]
        assert asked == criteria + ([[None]] if TEMPLATES[name].pairwise else [])
        assert all(f'<bdi lang="">{criterion}</bdi>' in text(page) for criterion in SCALES[name])

    def test_it_follows_what_is_typed_and_stores_nothing(self, world):
        typed = PROTOCOL | rows({"name": "Wit", "low": 1, "high": 4}, {"name": "", "low": 9}) | {"title": "", "preview": "1"}
        page = world.sign_in(world.alice).client.post("/new/", typed)
        (item,) = page.context["examples"]
        assert [len(question.points) for question in item["questions"]] == [4]
        assert page.status_code == 200 and "This field is required" not in text(page)
        assert 'value="Wit"' in text(page) and Campaign.objects.count() == 1

    def test_what_is_wrong_is_left_out(self, world):
        asked = rows({"name": "Wit", "low": 4, "high": 1}, {"name": "Tone", "low": 1, "high": 5})
        typed = PROTOCOL | asked | {"overlap": "many", "preview": "1"}
        page = world.sign_in(world.alice).client.post("/new/", typed)
        assert [q.criterion.name for item in page.context["examples"] for q in item["questions"]] == ["Tone"]


class TestOnThePage:
    def test_all_are_offered(self, world):
        page = text(world.sign_in(world.alice).client.get("/new/"))
        assert [name for name in TEMPLATES if f'href="?template={name}#chosen"' not in page] == []
        assert page.count('<fieldset class="row">') == 2  # an empty one, and the one that the script copies

    def test_one_fills_the_form_in_and_what_is_sent_is_made(self, world):
        page = text(world.sign_in(world.alice).client.get("/new/?template=summarisation"))
        assert page.count('<fieldset class="row">') == 5 and 'value="Consistency"' in page and "SummEval" in page
        assert "You see a document" in page
        kept = [{"name": "Consistency", "low": "1", "high": "7"}, {"name": "Fluency", "low": "1", "high": "5", "remove": "on"}]
        sent = {"title": "News", "slug": "news", **PROTOCOL} | rows(*kept, {"name": "Wit"}, initial=2)
        assert world.client.post("/new/?template=summarisation", sent | {"criteria-2-low": "1", "criteria-2-high": "5"}).url
        assert scales(Campaign.objects.get(slug="news")) == {"Consistency": (1, 7), "Wit": (1, 5)}

    def test_pairs_alone_ask_for_no_scores(self, world):
        page = text(world.sign_in(world.alice).client.get("/new/?template=pairs"))
        assert 'name="pairwise" id="id_pairwise" checked' in page and 'name="likert" id="id_likert" checked' not in page

    def test_how_much_better_is_asked(self, world):
        page = text(world.sign_in(world.alice).client.get("/new/?template=preference"))
        assert '<option value="5" selected>' in page and 'name="pair_both_bad" id="id_pair_both_bad" checked' in page

    def test_an_unknown_one_is_an_empty_form(self, world):
        assert world.sign_in(world.alice).client.get("/new/?template=nonsense").status_code == 200


class TestAddingACriterionWithoutJavaScript:
    def test_the_row_comes_and_nothing_typed_is_lost_or_checked(self, world):
        typed = {"title": "", "slug": "", **PROTOCOL, "quota": "x"} | rows(
            {"name": "Funny", "low": "9", "high": "1"}, initial=0
        )
        page = world.sign_in(world.alice).client.post("/new/", typed | {"add_criterion": "1"})
        assert page.status_code == 200 and "errorlist" not in text(page)
        for kept in ('value="Funny"', 'value="9"', 'value="x"', "Laugh.", 'name="criteria-1-name"'):
            assert kept in text(page)
        assert 'name="criteria-TOTAL_FORMS" value="2"' in text(page) and Campaign.objects.count() == 1

    def test_also_where_a_campaign_is_changed(self, world):
        world.sign_in(world.alice)
        criteria = list(world.campaign.criteria.all())
        typed = [{"pk": str(c.pk), "name": f"{c.name}!", "low": str(c.low), "high": str(c.high)} for c in criteria]
        sent = {"title": "Small talk", "fixed": "", **PROTOCOL, "add_criterion": "1"} | rows(*typed, initial=2)
        page = world.post("design/", sent)
        assert page.status_code == 200 and 'value="Overall!"' in text(page) and 'name="criteria-2-name"' in text(page)
        world.campaign.refresh_from_db()
        assert scales(world.campaign) == {"Overall": (1, 5), "Fluency": (0, 1)}
        more = rows(*typed, {"name": "Wit", "low": "1", "high": "3"}, initial=3)
        world.post("design/", {"title": "Small talk", "fixed": "", **PROTOCOL} | more)
        assert scales(world.campaign) == {"Overall!": (1, 5), "Fluency!": (0, 1), "Wit": (1, 3)}


class TestByCommandAndApi:
    def test_the_command(self):
        call_command("create_campaign", "tales", "--template", "story", "--pairwise", "--overlap", "2")
        campaign = Campaign.objects.get(slug="tales")
        assert scales(campaign) == SCALES["story"] and campaign.pairwise and campaign.overlap == 2

    def test_it_takes_no_criteria_beside_and_no_unknown_name(self):
        with pytest.raises(CommandError, match="brings its own criteria"):
            call_command("create_campaign", "tales", "--template", "story", "--criterion", "Wit:1:5")
        with pytest.raises(CommandError, match="invalid choice"):
            call_command("create_campaign", "tales", "--template", "nonsense")
        assert not Campaign.objects.exists()

    def test_the_api(self, world):
        key = make_token(world.alice, "test")[1]
        api = Client(headers={"Authorization": f"Bearer {key}"})

        def made(**body):
            return api.post("/api/campaigns/", json.dumps(body), content_type="application/json")

        answer = made(slug="mt", title="MT", template="translation")
        assert answer.status_code == 201 and "template" not in answer.json()
        campaign = Campaign.objects.get(slug="mt")
        assert scales(campaign) == SCALES["translation"] and "both languages" in campaign.guidelines
        made(slug="mt2", title="MT", template="translation", guidelines="Be kind.", criteria=[{"name": "Wit"}], pairwise=True)
        changed = Campaign.objects.get(slug="mt2")
        assert scales(changed) == {"Wit": (1, 5)} and changed.guidelines == "Be kind." and changed.pairwise and changed.likert
        assert made(slug="mt3", title="MT", template="nonsense").status_code == 400
        assert not Campaign.objects.filter(slug="mt3").exists()
