"""The form that starts a training: what it offers and to whom, what becomes of it, and how it refuses."""

import re

import pytest

from annotation.models import AuditEvent, Job, User
from evaluator.comparator.settings import fields_of
from evaluator.models import TrainingRun
from evaluator.trainings.services import UNMEASURED, start_training
from tests.evaluator.world import SCORES, World

pytestmark = pytest.mark.django_db
PAGE = "/c/talk/comparator/"
SWITCHED = ("two_stages", "no_human", "no_ties", "no_references", "no_guards", "from_scratch")
PLAIN = {"criterion": "null", "seed": "0", "architecture": "utility", "next_utterance": "on"}


@pytest.fixture
def lender(world, tmp_path) -> World:
    """Another campaign, which Alice of the first researches too."""
    (tmp_path / "lender").mkdir()
    lender = World(tmp_path / "lender", slug="lender")
    lender.campaign.memberships.create(user=world.alice)
    return lender


@pytest.fixture
def twice(world) -> World:
    """The world, judged by Wit too."""
    world.score("Wit", SCORES)
    world.freeze()
    return world


def offered(world, user: User, name: str) -> list[str]:
    html = world.get(user, PAGE).content.decode()
    return re.findall(f'name="{name}" value="([^"]*)"', html)


def checked(html: str, name: str) -> list[str]:
    return re.findall(f'name="{name}" value="([^"]*)"[^>]* checked', html)


class TestOffered:
    def test_as_it_stands_it_trains_the_default(self, world):
        html = world.get(world.alice, PAGE).content.decode()
        assert checked(html, "architecture") == ["utility"] and '<details class="fold">' in html
        answer = world.post(world.alice, PAGE, PLAIN)
        run = TrainingRun.objects.get()
        assert answer.url == PAGE and run.job.created_by == world.alice
        assert run.settings == {"sources": {"talk": ["Overall", False]}, "recipe": {}}
        html = world.get(world.alice, PAGE).content.decode()
        assert f'data-job-url="/jobs/{run.job_id}/"' in html and "No worker is running" in html and "js/job.js" in html

    def test_with_one_criterion_and_one_campaign_it_asks_for_no_more(self, world):
        assert offered(world, world.alice, "others") == offered(world, world.alice, "beside") == []
        assert offered(world, world.alice, "architecture") == ["utility", "joint"]

    def test_only_campaigns_that_one_researches_and_that_are_judged(self, world, lender, tmp_path):
        (tmp_path / "bare").mkdir()
        World(tmp_path / "bare", slug="bare", judged=False).campaign.memberships.create(user=world.alice)
        (tmp_path / "foreign").mkdir()
        World(tmp_path / "foreign", slug="foreign")
        assert offered(world, world.alice, "beside") == ["lender"]
        assert offered(world, world.dora, "beside") == ["foreign", "lender"]  # an admin

    def test_a_campaign_is_described_by_its_newest_snapshot(self, world, lender):
        label = "Small talk (lender): {} scores"
        assert f"{label.format(96)}</label>" in world.get(world.alice, PAGE).content.decode()
        lender.score("Wit", SCORES, annotators=("Bot", "Mock"), simulated=True)
        lender.freeze()
        assert f"{label.format(192)}, simulated data</label>" in world.get(world.alice, PAGE).content.decode()

    def test_more_campaigns_to_learn_from_cost_no_more_queries(
        self, world, lender, tmp_path, django_assert_num_queries, django_assert_max_num_queries
    ):
        world.get(world.alice, PAGE)  # signs in
        with django_assert_max_num_queries(60) as one:
            world.get(world.alice, PAGE)
        for slug in ("fen", "moor"):
            (tmp_path / slug).mkdir()
            World(tmp_path / slug, slug=slug).campaign.memberships.create(user=world.alice)
        with django_assert_num_queries(len(one)):
            world.get(world.alice, PAGE)


class TestStarted:
    def test_everything_chosen_goes_into_the_run(self, twice, lender):
        chosen = {"criterion": '"Overall"', "others": ["Overall", "Wit"], "beside": ["lender"], "seed": "4", "strong": "on"}
        twice.post(twice.alice, PAGE, PLAIN | chosen)
        run = TrainingRun.objects.get()
        assert (run.criterion, run.seed) == ("Overall", 4)
        assert (run.settings["others"], run.settings["beside"]) == (["Wit"], ["lender"])
        assert run.settings["recipe"] == {"strong": True}
        assert {snapshot.campaign.slug for snapshot in run.snapshots.all()} == {"talk", "lender"}
        events = AuditEvent.objects.filter(action="training started", user=twice.alice)
        assert {event.campaign.slug for event in events} == {"talk", "lender"}

    def test_a_joint_one(self, world):
        chosen = {name: value for name, value in PLAIN.items() if name != "next_utterance"}
        world.post(world.alice, PAGE, chosen | {"architecture": "joint"})
        assert TrainingRun.objects.get().settings["recipe"] == {"architecture": "joint", "next_utterance": False}

    def test_everything_that_can_be_left_out(self, world):
        left_out = dict.fromkeys(("no_human", "no_ties", "no_references", "no_guards", "from_scratch"), "on")
        world.post(world.alice, PAGE, PLAIN | left_out | {"two_stages": "on", "weak": "on"})
        run = TrainingRun.objects.get()
        assert run.settings["recipe"] == {
            **dict.fromkeys(("human_scores", "human_judgments", "ties", "references", "guards"), False),
            **dict.fromkeys(("from_scratch", "two_stages", "weak"), True),
        }
        assert run.warning == UNMEASURED and not run.snapshots.exists()

    def test_filled_in_by_the_paper_it_trains_the_papers_recipe(self, world):
        plain = world.get(world.alice, PAGE).content.decode()
        assert '<a href="?recipe=paper#train">' in plain and '<details class="fold">' in plain
        html = world.get(world.alice, f"{PAGE}?recipe=paper").content.decode()
        assert '<details class="fold" open>' in html and 'type="hidden" name="recipe" value="paper"' in html
        form = html[html.index('id="train"') :]
        ticked = {name for name in ("strong", "weak", *SWITCHED) if re.search(f'name="{name}"[^>]* checked', form)}
        assert ticked == {"strong", "weak", "two_stages", "no_references", "no_guards"}
        assert checked(form, "architecture") == ["joint"] and 'name="next_utterance"' not in form
        chosen = {"criterion": "null", "seed": "0", "architecture": "joint", "recipe": "paper"} | dict.fromkeys(ticked, "on")
        world.post(world.alice, PAGE, chosen)
        assert TrainingRun.objects.get().settings["recipe"] == fields_of("paper")
        world.post(world.alice, PAGE, chosen | {"no_ties": "on"})  # what is chosen goes before the recipe
        assert TrainingRun.objects.first().settings["recipe"] == fields_of("paper", ties=False)

    def test_an_unknown_recipe_fills_in_nothing(self, world):
        assert '<details class="fold">' in world.get(world.alice, f"{PAGE}?recipe=magic").content.decode()
        assert world.post(world.alice, PAGE, PLAIN | {"recipe": "magic"}).status_code == 422

    def test_before_any_judgment_it_offers_to_train_without(self, tmp_path, client):
        bare = World(tmp_path, client, judged=False)
        html = bare.get(bare.alice, PAGE).content.decode()
        form = html[html.index('id="train"') :]
        assert "It is not measured on people" in form and "People’s judgments (the comparator" not in form
        hidden = dict(re.findall('type="hidden" name="([a-z_]+)" value="([^"]*)"', form))
        ticked = re.findall('type="checkbox" name="([a-z_]+)"[^>]* checked', form)
        assert (hidden["no_human"], ticked) == ("on", ["strong", "weak"])
        sent = hidden | dict.fromkeys(ticked, "on") | {"seed": "0", "architecture": "utility"}
        assert bare.post(bare.alice, PAGE, sent).status_code == 302
        run = TrainingRun.objects.get()
        assert run.settings["recipe"] == fields_of(human=False) and not run.snapshots.exists()

    def test_where_nothing_is_known_of_who_wrote_what_there_is_no_form(self, tmp_path, client):
        bare = World(tmp_path, client, judged=False)
        bare.campaign.systems.update(is_human=False)
        assert 'id="train"' not in bare.get(bare.alice, PAGE).content.decode()

    def test_the_lender_does_not_show_what_is_not_for_it(self, world, lender):
        run = start_training([world.campaign], beside=[lender.campaign])
        assert str(run.job_id) in world.get(world.alice, PAGE).content.decode()
        assert str(run.job_id) not in world.get(world.alice, "/c/lender/comparator/").content.decode()


class TestRefused:
    def refused(self, world, **chosen) -> str:
        answer = world.post(world.alice, PAGE, PLAIN | chosen)
        assert answer.status_code == 422 and not Job.objects.exists() and not TrainingRun.objects.exists()
        html = answer.content.decode()
        assert 'role="alert" tabindex="-1" autofocus' in html and '<details class="fold" open>' in html
        assert "js/job.js" not in html  # which would load the page anew, and what was typed would be gone
        return html

    def test_joint_with_several_criteria_is_told_at_the_form_and_what_was_typed_stays(self, twice, lender):
        chosen = {
            "criterion": '"Overall"',
            "others": ["Wit"],
            "beside": ["lender"],
            "architecture": "joint",
            "seed": "7",
            "weak": "on",
        }
        html = self.refused(twice, **chosen)
        assert "A joint comparator learns one criterion; name one, or train a utility comparator." in html
        assert [checked(html, name) for name in ("others", "beside", "architecture")] == [["Wit"], ["lender"], ["joint"]]
        assert '<option value="&quot;Overall&quot;" selected>' in html and 'name="seed" value="7"' in html
        assert re.search('name="weak"[^>]* checked', html) and not re.search('name="strong"[^>]* checked', html)

    def test_a_campaign_that_lacks_the_criterion_is_named(self, twice, lender):
        assert "no scores for the criterion &#x27;Wit&#x27; in snapshot" in self.refused(
            twice, criterion='"Wit"', beside=["lender"]
        )

    def test_a_campaign_that_one_does_not_research(self, world, tmp_path):
        (tmp_path / "foreign").mkdir()
        World(tmp_path / "foreign", slug="foreign")
        assert "Correct the marked fields below" in self.refused(world, beside=["foreign"])

    def test_the_campaign_itself_is_nothing_to_learn_from_beside(self, world, lender):
        assert "talk is not one of the available choices" in self.refused(world, beside=["talk"])

    @pytest.mark.parametrize(
        "field, value",
        [
            ("criterion", '"Charm"'),
            ("others", ["Charm"]),
            ("seed", "many"),
            ("seed", "-1"),
            ("architecture", "both"),
            ("architecture", ""),
        ],
    )
    def test_nonsense_is_marked_where_it_stands(self, twice, field, value):
        html = self.refused(twice, **{field: value})
        assert "The training was not started" in html and html.count('class="errorlist"') == 1

    def test_a_second_click_is_told(self, world):
        world.post(world.alice, PAGE, PLAIN)
        assert world.post(world.alice, PAGE, PLAIN).status_code == 302
        assert "already queued or running" in world.get(world.alice, PAGE).content.decode()
        assert Job.objects.count() == 1

    def test_an_outsider_finds_nothing(self, world):
        assert world.post(world.charlie, PAGE, PLAIN).status_code == 404
        world.client.logout()
        assert "/login/" in world.client.post(PAGE, PLAIN).url
        assert not Job.objects.exists()

    def test_before_any_judgment_there_is_nothing_to_train_on(self, tmp_path, client):
        world = World(tmp_path, client, judged=False)
        answer = world.post(world.alice, PAGE, PLAIN)
        assert answer.status_code == 422 and "assess the quality" in answer.content.decode() and not Job.objects.exists()
