"""How a campaign shows its texts: the same on every page, whatever the texts hold; exports stay as they were imported."""

import json

import pytest

from annotation.campaigns.overview import rich_texts
from annotation.campaigns.protocol import change_campaign
from annotation.data.importer import import_outputs
from annotation.models import Campaign, Item, Output, PairwiseJudgment, Submission, User
from annotation.people.accounts import add_annotator
from core.errors import Refused
from tests.annotation.pages import World, hidden, text

pytestmark = pytest.mark.django_db
START = "annotate/?start=1"
BOLD = "<strong>bold</strong>"
HOSTILE = [
    "<script>alert(1)</script>" * 100,
    "[" * 5000,
    ">" * 5000,
    "- " * 5000 + "[a](javascript:alert(1))",
    "<svg onload=alert(1)>" + "**bold** " * 12_000,
    "![x](http://evil.example/x.png)" * 200,
    "$" * 5001 + "\\[" * 5000,
    "\ud7ff\u202e\ufeff `",
]


@pytest.fixture
def pairs(tmp_path, client):
    world = World(tmp_path, client, likert=False, pairwise=True)
    Output.objects.update(text="**bold** and $x$")
    return world


def markdown(world):
    Campaign.objects.update(text_format="markdown")
    world.campaign.refresh_from_db()
    return world


class TestEverywhere:
    def test_a_campaign_is_plain_until_somebody_chooses(self, pairs):
        page = text(pairs.sign_in(pairs.bob).get(START))
        assert page.count('<p class="text" lang="" dir="auto">**bold** and $x$</p>') == 2
        assert "formulas.js" not in page and "rich_text.css" not in page

    def test_the_item_and_the_next_one_without_a_reload(self, pairs):
        page = markdown(pairs).sign_in(pairs.bob).get(START)
        assert text(page).count(BOLD) == 2 and "formulas.js" in text(page)
        after = pairs.post("annotate/", hidden(page) | {"choice": "left"}, headers={"X-Swap": "1"})
        assert text(after).count(BOLD) == 2 and text(after).count('<span class="formula" dir="ltr">$x$</span>') == 2

    def test_the_annotators_own_answers(self, pairs):
        markdown(pairs).sign_in(pairs.bob)
        pairs.post("annotate/", hidden(pairs.get(START)) | {"choice": "left"})
        assert text(pairs.get("answers/")).count(BOLD) == 2
        assert text(pairs.get(f"answers/{Submission.objects.get().assignment_id}/")).count(BOLD) == 2

    def test_the_researchers_preview_item_and_disagreements(self, pairs):
        markdown(pairs)
        item = Item.objects.order_by("position").first()
        for name, choice in (("ann", "A"), ("ben", "B")):
            person = add_annotator(pairs.campaign, User.objects.create_user(name))
            PairwiseJudgment.objects.create(
                annotator=person, output_a=item.output, output_b=item.other, choice=choice, shown_swapped=False
            )
        pairs.sign_in(pairs.alice)
        for path in ("preview/", f"items/{item.pk}/", "quality/disagreement/"):
            assert text(pairs.get(path)).count(BOLD) == 2, path

    def test_exports_and_the_api_have_the_text_as_it_was_imported(self, pairs):
        markdown(pairs).sign_in(pairs.bob)
        pairs.post("annotate/", hidden(pairs.get(START)) | {"choice": "left"})
        row = json.loads(text_of_stream(pairs.sign_in(pairs.alice).get("export/judgments.jsonl")).splitlines()[0])
        assert row["output_a"] == row["output_b"] == "**bold** and $x$"


def text_of_stream(response) -> str:
    return b"".join(response.streaming_content).decode() if response.streaming else text(response)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_no_text_breaks_the_page_or_runs_on_it(pairs, number):
    Output.objects.update(text=HOSTILE[number])
    context = Item.objects.first().context
    type(context).objects.update(turns=[HOSTILE[number], HOSTILE[number]])
    response = markdown(pairs).sign_in(pairs.bob).get(START)
    main = text(response).split("<main")[1].split("</main>")[0]
    assert response.status_code == 200 and "<svg" not in main and "<img" not in main and "<script" not in main
    assert "javascript:" not in main.replace("(javascript:alert(1))", "")


class TestSetting:
    def test_it_is_suggested_and_taken_up_on_the_page_of_the_file(self, tmp_path, client):
        world = World(tmp_path, client, contexts=0)
        world.sign_in(world.alice)
        path = tmp_path / "rich.jsonl"
        rows = [
            {"context_id": f"c{n}", "context": "Q", "system": "s", "output": "**bold** " * (n == 0) + "x"} for n in range(4)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with path.open("rb") as file:
            sent = world.post("import/", {"kind": "outputs", "file": file})
        world.client.post(sent.url + "store/")
        page = text(world.client.get(sent.url))
        assert "1 of 4 sampled outputs" in page and "Show them as Markdown" in page
        assert "1 of 4 sampled outputs" in text(world.get("design/"))
        assert Campaign.objects.get().text_format == "plain"  # nothing changes before somebody says so
        assert world.post("design/markdown/").url == "/c/talk/preview/"
        assert Campaign.objects.get().text_format == "markdown"
        assert "sampled outputs" not in text(world.client.get(sent.url)) + text(world.get("design/"))

    def test_plain_texts_suggest_nothing(self, tmp_path, client):
        world = World(tmp_path, client)
        assert rich_texts(world.campaign) is None
        first = Output.objects.first()
        first.text = "**bold**"
        first.save()
        assert rich_texts(world.campaign) == {"count": 1, "of": 6}

    def test_only_a_researcher_chooses(self, pairs):
        for user in (pairs.bob, pairs.charlie):
            assert pairs.sign_in(user).post("design/markdown/").status_code == 404
        assert Campaign.objects.get().text_format == "plain"

    def test_an_answer_holds_it_in_place(self, pairs):
        pairs.sign_in(pairs.bob)
        pairs.post("annotate/", hidden(pairs.get(START)) | {"choice": "left"})
        with pytest.raises(Refused, match="How texts are shown: people have already answered"):
            change_campaign(pairs.campaign, text_format="markdown")
        pairs.sign_in(pairs.alice).post("design/markdown/")
        assert Campaign.objects.get().text_format == "plain" and rich_texts(pairs.campaign) is None


class TestContexts:
    def test_chat_messages_have_their_roles(self, tmp_path, client):
        world = World(tmp_path, client, contexts=0)
        path = tmp_path / "chat.jsonl"
        messages = [{"role": role, "content": f"says {role}"} for role in ("system", "user", "assistant", "user")]
        path.write_text(json.dumps({"context_id": "c", "context": messages, "system": "s", "output": "x"}), encoding="utf-8")
        import_outputs(world.campaign, path)
        page = text(world.sign_in(world.bob).get(START))
        labels = [part.split("<")[0] for part in page.split('<b class="speaker" dir="auto">')[1:]]
        assert labels == ["System", "User", "Assistant", "User"]

    def test_a_long_dialogue_waits_behind_a_button(self, pairs):
        type(Item.objects.first().context).objects.update(turns=[f"turn {n} " + "x" * 240 for n in range(9)])
        page = text(pairs.sign_in(pairs.bob).get(START))
        summary, rest = page.split("Show the whole context")[1].split("</details>", 1)
        assert (
            "earlier turns" in summary and "turn 0 " in summary and "turn 8 " in rest and '<ol class="dialogue" start=' in rest
        )


class TestComments:
    def test_a_score_has_a_comment_where_the_campaign_asks(self, tmp_path, client):
        world = World(tmp_path, client, contexts=1, asks_reason=True)
        first = world.sign_in(world.bob).get(START)
        assert 'name="reason"' in text(first) and "Comment <span" in text(first)
        said = {"reason": " Dull, but <b>kind</b>. "} | {f"score_{c.pk}": c.high for c in world.campaign.criteria.all()}
        world.post("annotate/", hidden(first) | said)
        shown = "Dull, but &lt;b&gt;kind&lt;/b&gt;."
        submission = Submission.objects.get()
        assert shown in text(world.get("answers/"))
        assert f'value="{shown}"' in text(world.get(f"answers/{submission.assignment_id}/"))
        world.sign_in(world.alice)
        assert shown in text(world.get(f"items/{submission.assignment.item_id}/"))
        assert shown in text(world.get("progress/answers/"))
        rows = [json.loads(row) for row in text_of_stream(world.get("export/scores.jsonl")).splitlines()]
        assert {row["reason"] for row in rows} == {"Dull, but <b>kind</b>."} and len(rows) == 2
        header = text_of_stream(world.get("export/scores.csv")).splitlines()[0]
        assert header.split(",")[-10:-8] == ["score", "reason"]

    def test_nobody_is_asked_unless_the_campaign_asks(self, tmp_path, client):
        world = World(tmp_path, client, contexts=1)
        first = world.sign_in(world.bob).get(START)
        assert 'name="reason"' not in text(first)
        world.post("annotate/", hidden(first) | {f"score_{c.pk}": c.high for c in world.campaign.criteria.all()})
        world.sign_in(world.alice)
        assert "reason" not in text_of_stream(world.get("export/scores.jsonl"))
        assert "reason" not in text_of_stream(world.get("export/scores.csv"))

    def test_a_comment_that_is_too_long_stores_nothing(self, tmp_path, client):
        world = World(tmp_path, client, contexts=1, asks_reason=True)
        scores = {f"score_{c.pk}": c.high for c in world.campaign.criteria.all()}
        page = world.sign_in(world.bob).get(START)
        refused = world.post("annotate/", hidden(page) | scores | {"reason": "x" * 501})
        assert refused.status_code == 422 and "longer than 500 characters" in text(refused)
        assert not Submission.objects.exists()
