"""A language model from the judges' page: a configured endpoint, the prompt, the forecast, and its row in the table."""

import html
import json
import shlex

import pytest

from annotation.models import Campaign, Item, Job, Output
from core.errors import Refused
from evaluator import tasks
from evaluator.models import Judge
from evaluator.offers import set_up_model
from evaluator.reasons import opinions
from evaluator.roster import is_free_for_import, set_up
from evaluator.worker import players
from evaluator.worker.comparators import text_of
from tests.evaluator.judges.stub_server import Server
from tests.evaluator.world import command

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
PAGE = "/c/talk/comparator/judges/"
FORM = {"model-endpoint": "ours", "model-model": "tiny", "model-prompt": "score", "model-examples": "2", "model-calls": "500"}


@pytest.fixture
def server(monkeypatch):
    one = Server()
    endpoints = {"ours": {"url": one.url, "key": "OUR_KEY", "price": [2, 10], "models": ["tiny", "large"]}}
    monkeypatch.setenv("COMPARENA_ENDPOINTS", json.dumps(endpoints))
    monkeypatch.setenv("OUR_KEY", "sk-secret")
    monkeypatch.setenv("COMPARENA_DEVICE", "cpu")
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", [])
    yield one
    one.close()


def test_it_is_set_up_shown_asked_and_stands_in_the_table(world, server):
    before = world.get(world.alice, PAGE).content.decode()
    assert "Set up a language model" in before and server.url not in before and "OUR_KEY" not in before
    assert world.post(world.alice, PAGE, FORM).status_code == 302 and server.requests == []
    row = Judge.objects.get(name="tiny")
    assert row.settings["budget"] == {"calls": 500, "money": None} and row.settings["price"] == [2.0, 10.0]
    page = world.get(world.alice, PAGE).content.decode()
    assert "48 calls, about" in page and "500 requests of its budget are left" in page  # an output each: 12 contexts, 4 systems
    assert "What people answered in other contexts" in page and "{turn 1}" in page and server.url not in page
    assert world.post(world.alice, PAGE, {"annotators": "crowd", "judges": ["tiny"]}).status_code == 302
    job = Job.objects.get(status=Job.Status.QUEUED)
    tasks.set_beside_people(str(job.pk))
    table = world.get(world.alice, "/api/campaigns/talk/judges/").json()["table"]
    table_rows = table["tables"]["all"]["rows"]
    (scored,) = [one for one in table_rows if one["name"] == "tiny"]
    assert scored["settings"]["calls"] == len(server.requests) == 48 and server.headers[0][1] == "Bearer sk-secret"
    shown = world.get(world.alice, PAGE).content.decode()
    assert "--set-up tiny" in shown and "48 calls" in shown and 'value="tiny" id="id_judges_0" checked' in shown
    words = shlex.split(html.unescape(shown.split("To reproduce: ")[1].split("</p>")[0]))
    made = command(*words[1:])["tables"]["all"]["rows"]  # the line that the page prints
    figures = [[{k: one[k] for k in ("name", "outputs", "correlations", "accuracy")} for one in t] for t in (made, table_rows)]
    assert words[:2] == ["manage.py", "evaluate_judges"] and figures[0] == figures[1] and len(server.requests) == 48
    item = Item.objects.filter(output__system__name="Person").first()
    assert (
        "tiny</th><td>Overall</td><td>4</td><td>It is better."
        in world.get(world.alice, f"/c/talk/items/{item.pk}/").content.decode()
    )
    again = world.client.post("/api/campaigns/talk/judges/", {"annotators": "crowd", "judges": ["tiny"]}, "application/json")
    assert again.status_code == 200 and again.json()["id"] == str(job.pk)  # the same is not worked out again


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model-endpoint": "http://169.254.169.254/"}, "Select a valid choice"),
        ({"model-model": "other"}, "has no model"),
        ({"model-prompt": "five-point"}, "has no place {examples}"),
        ({"model-calls": "0"}, "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_sets_up_nothing(world, server, change, said):
    response = world.post(world.alice, PAGE, FORM | change)
    assert response.status_code == 422 and said in response.content.decode() and not Judge.objects.exists()


def test_outsiders_and_broken_configurations(world, server, monkeypatch):
    assert world.post(world.charlie, PAGE, FORM).status_code == 404 and not Judge.objects.exists()
    asked = {"annotators": "crowd", "judges": ["nobody"]}
    world.client.force_login(world.alice)
    refused = world.client.post("/api/campaigns/talk/judges/", asked, "application/json")
    assert refused.status_code == 422 and "No judge" in refused.content.decode()
    monkeypatch.setenv("COMPARENA_ENDPOINTS", '{"ours": "http://localhost"}')
    assert "COMPARENA_ENDPOINTS is no JSON of the form" in world.get(world.alice, PAGE).content.decode()
    assert world.post(world.alice, PAGE, FORM).status_code == 422


def test_the_api_sets_up_what_the_page_does(world, server):
    post = lambda what, data: world.client.post(f"/api/campaigns/talk/judges/{what}/", data, "application/json")
    world.client.force_login(world.alice)
    asked = {"endpoint": "ours", "model": "tiny", "prompt": "score", "examples": 2, "calls": 500}
    made = post("models", asked)
    assert made.status_code == 201 and made.json()["left"] == 500 and "{turn 1}" in made.json()["prompt"]
    assert (made.json()["forecast"]["calls"], server.requests) == (48, [])  # an output each: 12 contexts, 4 systems
    by_api = Judge.objects.get().settings
    world.post(world.alice, PAGE, FORM)
    assert Judge.objects.get().settings == by_api  # one judge: the page's settings are the same
    own = {"prompt": "ours", "text": "Which is better?\n\n{pair}\n\n{answer}", "name": "own"}
    refused = post("models", {**asked, **own})
    assert refused.status_code == 422 and not Judge.objects.filter(name="own").exists()  # no place for examples
    listed = world.get(world.alice, "/api/campaigns/talk/judges/models/").json()
    assert listed["endpoints"] == ["ours"] and "score" in listed["prompts"] and listed["judges"] == [made.json()]
    assert "No such field" in post("models", {**asked, "url": "http://169.254.169.254/"}).content.decode()
    jury = post("juries", {"judges": ["tiny", "rouge-l"], "by": "vote", "name": "panel"})
    assert jury.status_code == 201 and jury.json()["kind"] == "jury"
    assert post("juries", {"judges": ["tiny", "panel"]}).status_code == 422
    world.client.force_login(world.charlie)
    assert post("models", asked).status_code == post("juries", {"judges": ["tiny", "rouge-l"]}).status_code == 404


def test_a_jury_is_set_up_from_the_page(world):
    said = world.post(world.alice, PAGE, {"jury-judges": ["rouge-l"], "jury-by": "mean", "jury-name": ""})
    assert said.status_code == 422 and "A jury has 2 to 20 different judges." in said.content.decode()
    sent = {"jury-judges": ["rouge-l", "bleu-1"], "jury-by": "vote", "jury-name": "panel"}
    assert world.post(world.alice, PAGE, sent).status_code == 302
    row = Judge.objects.get(kind=Judge.Kind.JURY)
    assert (row.name, row.settings["by"], list(row.settings["jurors"])) == ("panel", "vote", ["rouge-l", "bleu-1"])
    page = world.get(world.alice, PAGE).content.decode()
    assert "panel (jury)" in page.split("Set up a jury")[0] and "panel (jury)" not in page.split("Set up a jury")[1]


def test_reasons_of_a_pair_name_its_sides(world, server):
    campaign = Campaign.objects.get(slug="talk")
    judge = set_up_model(campaign, "ours", "tiny", 10)
    good, bad = (
        Output.objects.filter(context__campaign=campaign, system__name=name).order_by("pk")[0] for name in ("Fine", "Poor")
    )
    assert good.context_id == bad.context_id
    players.at_work(judge, "Overall").compare([text_of(bad)], [text_of(good)])
    found = opinions(Item(campaign=campaign, output=good, other=bad))
    assert [(one.judge, one.criterion, one.reason) for one in found] == [("tiny", "Overall", "It is better.")] * 2
    assert [one.answer for one in found] == ["A is better (A shown first)", "A is better (B shown first)"]
    assert opinions(Item(campaign=campaign, output=good)) == []  # of one output it said nothing


def test_a_name_in_another_spelling_is_taken(world):
    """A table with GPT-4 and gpt\u20114 has two judges that a reader takes for one."""
    row = set_up(world.campaign, Judge.Kind.PROGRAM, " GPT-4 ", {"command": ["x"]})
    assert row.name == "GPT-4" and set_up(world.campaign, Judge.Kind.PROGRAM, "GPT-4", {"command": ["x"]}) == row
    for name, there in (("gpt\u20114", "GPT-4"), ("ＧＰＴ-4", "GPT-4"), ("Rouge-L", "rouge-l")):
        with pytest.raises(Refused, match=f"There is a judge '{there}' already"):
            set_up(world.campaign, Judge.Kind.PROGRAM, name, {"command": ["x"]})
    assert not is_free_for_import(world.campaign, "gpt-4") and is_free_for_import(world.campaign, "GPT-5")
