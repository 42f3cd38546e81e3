"""What a campaign's pages say comes next, state by state; and to whom."""

import pytest

from annotation.campaigns.lifecycle import create_campaign, set_status
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import Job, User
from annotation.people.accounts import add_annotator
from annotation.people.invitations import invite, revoke_invitation
from evaluator.roster import judge_of
from evaluator.trainings.services import start_training
from leaderboard.models import Tournament
from leaderboard.next_step import next_step
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import World, recipe, write
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db
PASSED = [{"question": "enough?", "passed": True, "answer": "yes"}]


def said(campaign) -> tuple[str, str]:
    campaign = type(campaign).objects.get(pk=campaign.pk)
    step = next_step(campaign)
    return step.words, step.address(campaign)


@pytest.fixture
def fresh(db, tmp_path, client):
    """Outputs, and nobody who judges them."""
    return World(tmp_path, client, judged=False)


class TestBeforeTheSnapshot:
    def test_an_empty_campaign_needs_texts(self):
        assert said(create_campaign(slug="talk")) == ("Import the outputs that people judge", "/c/talk/import/")

    def test_with_texts_people_are_invited(self, fresh):
        assert said(fresh.campaign) == ("Invite people", "/c/talk/people/#invitations")
        link = invite(fresh.campaign, fresh.alice)
        assert said(fresh.campaign) == ("Watch the first answers come in", "/c/talk/progress/")
        revoke_invitation(link, fresh.alice)
        assert said(fresh.campaign)[0] == "Invite people"

    def test_scores_need_criteria(self, fresh):
        fresh.campaign.criteria.all().delete()
        assert said(fresh.campaign) == ("Add the criteria to score", "/c/talk/design/")

    def test_where_no_pair_can_be_made_the_design_is_next(self, tmp_path):
        campaign = create_campaign(slug="alone", pairwise=True, likert=False)
        row = {"context_id": "c", "context": ["Hello"], "system": "only", "output": "Hi"}
        import_outputs(campaign, write(tmp_path, "one.jsonl", [row]))
        assert said(campaign) == ("Choose how pairs are made", "/c/alone/design/")

    def test_a_closed_campaign_takes_no_answers(self, fresh):
        set_status(fresh.campaign, "closed")
        assert said(fresh.campaign) == ("Open the campaign so that people can answer", "/c/talk/")

    def test_answers_are_frozen_and_while_people_answer_that_can_wait(self, fresh):
        fresh.score("Overall", {"Person": 5, "Fine": 4, "Plain": 3, "Poor": 1})
        assert said(fresh.campaign) == ("Freeze a snapshot as soon as enough people have answered", "/c/talk/quality/")
        set_status(fresh.campaign, "closed")
        assert said(fresh.campaign) == ("Filter the answers and freeze a snapshot", "/c/talk/quality/")


class TestAfterTheSnapshot:
    def test_people_s_board_comes_first_then_the_comparator(self, world):
        assert said(world.campaign) == ("Play people's board", "/c/talk/leaderboard/play/#play")
        waiting = start_tournament(world.campaign, "people")
        assert said(world.campaign) == ("See people's board, which is being computed", "/c/talk/leaderboard/")
        Job.objects.filter(pk=waiting.job_id).update(status=Job.Status.FAILED)
        assert said(world.campaign)[0] == "Play people's board"
        by_people(world.campaign)
        assert said(world.campaign) == ("Train a comparator", "/c/talk/comparator/#train")

    def test_a_training_is_followed(self, world):
        by_people(world.campaign)
        run = start_training([world.campaign], recipe=recipe())
        assert said(world.campaign) == ("Follow the training of the comparator", "/c/talk/comparator/")
        Job.objects.filter(pk=run.job_id).update(status=Job.Status.CANCELLED)
        assert said(world.campaign)[0] == "Train a comparator"

    def test_a_comparator_that_passed_plays_together_with_people(self, world, version):
        by_people(world.campaign)
        version.gates = {"talk": PASSED}
        version.save()
        assert said(world.campaign) == ("Play the board of people and comparator together", "/c/talk/leaderboard/play/#play")
        start_tournament(world.campaign, "corrected", judge_of(world.campaign, version))
        assert said(world.campaign)[0] == "Show the board to others"

    def test_one_that_did_not_pass_is_left_aside(self, world, version):
        by_people(world.campaign)
        version.gates = {"talk": [*PASSED, {"question": "?", "passed": False, "answer": "no"}]}
        version.save()
        assert said(world.campaign) == ("Show the board to others", "/c/talk/leaderboard/play/#who-sees")

    def test_when_the_board_is_public_it_is_cited(self, world, version):
        by_people(world.campaign)
        world.campaign.board_is_public = True
        world.campaign.save()
        assert said(world.campaign) == ("Cite the board, or embed it in other pages", "/c/talk/leaderboard/#cite")

    def test_newer_answers_ask_for_a_new_snapshot_and_it_for_a_new_board(self, world):
        by_people(world.campaign)
        world.score("Wit", {"Person": 2, "Fine": 4, "Plain": 3, "Poor": 1})
        assert said(world.campaign)[0] == "Freeze a new snapshot that includes the latest answers"
        world.freeze()
        assert Tournament.objects.count() == 1 and said(world.campaign)[0] == "Play people's board"


class TestOnThePages:
    @pytest.mark.parametrize(
        "page",
        [
            "",
            "design/",
            "import/",
            "people/",
            "progress/",
            "quality/",
            "comparator/",
            "comparator/judges/",
            "leaderboard/play/",
        ],
    )
    def test_every_tab_says_it_to_researchers(self, world, page):
        html = world.get(world.alice, f"/c/talk/{page}").content.decode()
        assert html.count('href="/c/talk/leaderboard/play/#play">Play people&#x27;s board</a>') == 1
        assert ("on this page" in html) == (page == "leaderboard/play/")

    def test_who_may_only_read_the_board_or_judge_is_told_nothing(self, world):
        world.campaign.board_is_public = True
        world.campaign.guidelines = "Read both."
        world.campaign.save()
        add_annotator(world.campaign, world.charlie)
        for page in ("leaderboard/", "guidelines/"):
            response = world.get(world.charlie, f"/c/talk/{page}")
            assert response.status_code == 200 and "next-step" not in response.content.decode()

    def test_an_admin_is_told_too(self, world):
        assert "next-step" in world.get(User.objects.get(username="dora-talk"), "/c/talk/").content.decode()


def test_the_line_costs_few_queries(world, version, django_assert_max_num_queries):
    by_people(world.campaign)
    version.gates = {"talk": PASSED}
    version.save()
    with django_assert_max_num_queries(8):
        assert next_step(world.campaign).words.startswith("Play the board")


def test_pairs_need_no_criteria(tmp_path):
    campaign = create_campaign(slug="pairs", pairwise=True, likert=False, criteria=[CriterionSpec("Wit")])
    rows = [{"context_id": "c", "context": ["Hello"], "system": s, "output": f"Hi {s}"} for s in ("one", "two")]
    import_outputs(campaign, write(tmp_path, "two.jsonl", rows))
    assert said(campaign)[0] == "Invite people"
