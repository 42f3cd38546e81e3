"""A kind of question that the product does not know: one module and one template, and everything else asks them."""

import io
import json
import re
import uuid

import krippendorff
import numpy as np
import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.item_page import answer_of
from annotation.annotating.submissions import submit
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.export import as_csv, as_jsonl, exported_answers
from annotation.data.importer import import_answers, import_outputs
from annotation.models import Campaign, LikertScore, User
from annotation.people.accounts import add_annotator
from annotation.questions import registry
from annotation.snapshots import read
from leaderboard import tasks
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import World, hidden, text, write_outputs

pytestmark = pytest.mark.django_db
DESIGN = {
    "slug": "facts",
    "title": "Right facts",
    "likert": "on",
    "overlap": 3,
    "overlap_percent": 100,
    "pair_design": "ring",
    "seed": 0,
    "gold_percent": 0,
    "repeat_percent": 0,
    "text_format": "plain",
    "fixed": "",
    "criteria-TOTAL_FORMS": 1,
    "criteria-INITIAL_FORMS": 0,
    "criteria-0-name": "Facts",
    "criteria-0-kind": "facts",
    "criteria-0-facts-most": 9,
    "criteria-0-low": "",
    "criteria-0-best": "high",
}
# By system, what three people say of its outputs on two contexts; None: cannot say.
SAID = {
    "Hydra-system": [[2, 1, 2], [3, 2, None]],
    "Kraken-system": [[5, 4, 5], [4, 5, 5]],
    "Human-writer": [[8, 9, 8], [9, 8, 9]],
}


@pytest.fixture
def campaign(facts, tmp_path, client):
    """Set up on the page."""
    alice = User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)
    client.force_login(alice)
    page = text(client.get("/new/"))
    assert "the number of right facts" in page and "Facts at most" in page
    response = client.post("/new/", DESIGN)
    assert response.status_code == 302, re.findall(r'class="(?:errorlist|warning)[^>]*>.*?</', text(response), re.DOTALL)
    campaign = Campaign.objects.get(slug="facts")
    import_outputs(campaign, write_outputs(tmp_path, 2))
    campaign.refresh_from_db()
    return campaign


def everybody_answers(campaign):
    for n in range(3):
        person = add_annotator(campaign, User.objects.create_user(f"person {n}"))
        while assignment := next_assignment(person):
            item = assignment.item
            said = SAID[item.output.system.name][int(item.context.key[1:])][n]
            posted = {f"facts_{campaign.criteria.get().pk}": "cannot_say" if said is None else str(said)}
            submit(person, assignment.pk, assignment_key(n, item.pk), answer_of(posted))


def assignment_key(n, pk):
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{n}:{pk}")


def test_its_settings_are_the_criterions(campaign):
    criterion = campaign.criteria.get()
    assert (criterion.kind, criterion.low, criterion.high, criterion.cannot_say) == ("facts", 0, 9, True)


def test_what_its_own_form_refuses_is_said_beside_the_field(campaign, client):
    refused = client.post("/new/", DESIGN | {"slug": "other", "criteria-0-facts-most": "12"})
    assert refused.status_code == 422 and "less than or equal to 9" in text(refused)
    assert not Campaign.objects.filter(slug="other").exists()


def test_answers_are_checked_by_the_kind(campaign, client):
    bob = User.objects.create_user("bob", password="a-long-password")
    add_annotator(campaign, bob)
    client.force_login(bob)
    page = client.get("/c/facts/annotate/?start=1")
    field = f"facts_{campaign.criteria.get().pk}"
    assert f'name="{field}" value="9"' in text(page) and "Cannot say" in text(page)
    assert client.post("/c/facts/annotate/", hidden(page)).status_code == 422
    assert client.post("/c/facts/annotate/", hidden(page) | {field: "10"}).status_code == 422
    assert not LikertScore.objects.exists()
    client.post("/c/facts/annotate/", hidden(page) | {field: "cannot_say"})
    row = LikertScore.objects.get()
    assert (row.value, row.cannot_say) == (None, True)


@pytest.mark.parametrize("name, write", [("facts.csv", lambda rows: as_csv(rows, "facts")), ("facts.jsonl", as_jsonl)])
def test_exported_and_imported_again_it_is_the_same(campaign, tmp_path, name, write):
    everybody_answers(campaign)
    exported = list(exported_answers(campaign, "facts"))
    assert {row["right"] for row in exported if not row["cannot_say"]} == {1, 2, 3, 4, 5, 8, 9}
    assert [row["cannot_say"] for row in exported].count(True) == 1 and all(row["of"] == 9 for row in exported)
    assert list(exported_answers(campaign, "scores")) == []
    copy = create_campaign(slug="copy")
    import_outputs(copy, write_outputs(tmp_path, 2))
    file = io.BytesIO("".join(write(exported)).encode())
    done = import_answers(copy, "facts", file, name)
    assert done.rows == 18 and done.new["facts"] == 17 and done.new["answers that say they cannot say"] == 1
    same = lambda rows: sorted(json.dumps(row) for row in rows)
    assert same(exported_answers(copy, "facts")) == same(exported)
    again = import_answers(copy, "facts", io.BytesIO("".join(as_jsonl(exported)).encode()), "facts.jsonl")
    assert again.new == {}


def test_its_agreement_is_the_one_that_the_kind_asks_for(campaign):
    everybody_answers(campaign)
    report = assess(campaign, mad=10).decisions.get().report
    table = np.array([context for system in SAID.values() for context in system], dtype=float).T
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="ratio")
    assert report["alpha_before"] == pytest.approx(expected, abs=1e-9) and report["scores"] == 17


@pytest.mark.parametrize("best, first", [("high", "Human-writer"), ("low", "Hydra-system")])
def test_its_board_of_people_has_the_best_first(campaign, best, first):
    campaign.criteria.update(best=best)
    everybody_answers(campaign)
    content = read(assess(campaign, mad=10))
    assert content.criteria[0]["kind"] == "facts" and len(content.unsaid) == 1
    started = start_tournament(campaign, "people", criterion="Facts", foreground=True)
    board = tasks.run(started.job_id)
    ratings = dict(board.ratings.values_list("system__name", "rating"))
    assert max(ratings, key=ratings.get) == first


def test_a_known_answer_is_asked_of_the_kind(campaign, client):
    item = campaign.items.first()
    client.force_login(User.objects.get(username="alice"))
    field = f"facts_{campaign.criteria.get().pk}"
    page = client.post(f"/c/facts/items/{item.pk}/", {"purpose": "gold", field: "3, 4", "feedback": ""})
    item.refresh_from_db()
    assert page.status_code == 302 and item.expected == {"facts": {"Facts": [3, 4]}}


def test_two_kinds_of_one_name_are_refused(facts):
    with pytest.raises(ValueError, match="same name"):
        registry.register(type(facts)())


def test_world_without_it_is_as_before(tmp_path, client):
    world = World(tmp_path, client)
    world.sign_in(world.alice)
    assert "the number of right facts" not in text(world.get("design/"))
