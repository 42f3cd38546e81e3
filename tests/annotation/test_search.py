"""Lists that grow are searched: campaigns, jobs, people, snapshots, items."""

import pytest

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.models import Job, User
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
SEARCH = 'role="search" aria-label="Search {}"'


class TestCampaigns:
    @pytest.fixture
    def many(self, world):
        for n in range(60):
            create_campaign(slug=f"poem-{n}", title=f"Poems of week {n}", user=world.alice)
        return world.sign_in(world.alice)

    def test_a_word_finds_them_in_title_and_short_name(self, many):
        page = text(many.client.get("/?q=talk"))
        assert "Small talk" in page and "Poems" not in page and SEARCH.format("campaigns") in page
        assert "Poems of week 59" in text(many.client.get("/", {"q": "WEEK 59"}))

    def test_every_word_must_fit(self, many):
        page = text(many.client.get("/", {"q": "poems talk"}))
        assert "None of the campaigns fits “poems talk”" in page and "/c/talk/" not in page

    def test_what_is_typed_is_no_html_and_a_very_long_search_is_cut(self, many):
        page = text(many.client.get("/", {"q": "<script>x"}))
        assert "&lt;script&gt;x" in page and "<script>x" not in page
        assert many.client.get("/", {"q": "x " * 5000}).status_code == 200

    def test_others_campaigns_are_not_found(self, many):
        create_campaign(slug="secret", title="Secret talk")
        assert "Secret" not in text(many.client.get("/?q=talk"))

    def test_a_short_list_has_no_search(self, world):
        assert SEARCH.format("campaigns") not in text(world.sign_in(world.alice).client.get("/"))


def test_jobs_are_paged_and_searched_by_admins(world):
    Job.objects.bulk_create(Job(task="t", title=f"Training {n}", campaign=world.campaign, status="done") for n in range(60))
    Job.objects.create(task="t", title="Import of scores", campaign=world.campaign, status="failed", error="no")
    world.sign_in(User.objects.create_superuser("root"))
    first = text(world.client.get("/jobs/"))
    assert "1 to 50 of 61" in first and SEARCH.format("jobs") in first and "Training 5<" not in first
    assert "Training 5<" in text(world.client.get("/jobs/?page=2"))
    found = text(world.client.get("/jobs/?job=scores"))
    assert "Import of scores" in found and "Training 2" not in found
    failed = text(world.client.get("/jobs/?state=failed"))
    assert "Import of scores" in failed and "Training 2" not in failed


def test_people_are_found_by_pseudonym_account_and_platform(world):
    anna = User.objects.create_user("anna@example.org", first_name="Anna")
    world.campaign.annotators.create(name="annotator-7", user=anna)
    world.campaign.annotators.create(name="annotator-8", source={"PROLIFIC_PID": "5f3c"})
    world.sign_in(world.alice)
    for asked, name in (("or-7", "annotator-7"), ("anna@", "annotator-7"), ("5F3C", "annotator-8")):
        page = text(world.get("people/", data={"q": asked}))
        assert [n for n in ("annotator-1", "annotator-7", "annotator-8") if f'row">{n}<' in page] == [name]
    assert "None of the annotators fits “nobody”" in text(world.get("people/", data={"q": "nobody"}))


def test_snapshots_are_paged_and_found_by_their_hash(scored):
    first = assess(scored.campaign, level="interval")
    for n in range(25):
        scored.campaign.snapshots.create(digest=f"{n:064d}", rule=first.rule, content=b"")
    assess(scored.campaign, level="interval")  # accepted last
    scored.sign_in(scored.alice)
    page = text(scored.get("quality/"))
    assert "1 to 20 of 26" in page and SEARCH.format("snapshots") in page
    found = text(scored.get("quality/", data={"snapshot": "0000024"}))
    assert found.count('scope="row"><a href="/c/talk/snapshots/') == 1 and f"{24:064d}"[:12] in found
    assert f'Newest snapshot: <a href="/c/talk/snapshots/{first.name}/' in found


def test_items_are_found_by_their_context(world):
    page = text(world.sign_in(world.alice).get("items/", data={"q": "c1"}))
    assert "c1, Hydra-system" in page and "c0, Hydra-system" not in page
