"""E-mail is off until it is set up; then invitations and finished trainings are written, and nothing fails because of them."""

import uuid

import pytest
from django.core import mail as outbox
from django.core.cache import cache

from annotation import jobs
from annotation.annotating.assignment import next_assignment
from annotation.annotating.consent import withdraw_annotator
from annotation.annotating.submissions import submit
from annotation.models import Job, User
from annotation.people import notices
from annotation.people.accounts import add_annotator
from annotation.tasks import tell_finished
from core import mail
from core.throttling import MAILED_BY_ACCOUNT, MAILED_BY_CAMPAIGN
from evaluator import tasks
from evaluator.models import ComparatorVersion, TrainingRun
from leaderboard.systems import set_retired
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db
INVITE = {"ask": "invite", "label": "pilot", "cap": "1", "email": "ann@example.org"}


@pytest.fixture
def world(tmp_path, client):
    world = World(tmp_path, client, contexts=0)
    return world.sign_in(world.alice)


@pytest.fixture
def on(settings):
    """Django's test runner keeps what is sent in outbox.outbox."""
    settings.EMAIL_URL, settings.SITE_URL = "smtp://mail.example.org", "https://judge.example.org"


class TestSettings:
    @pytest.mark.parametrize(
        ("url", "port", "starttls", "tls"),
        [
            ("smtp://ann%40x:p%2Fw@mail.example.org", 587, True, False),
            ("smtps://ann%40x:p%2Fw@mail.example.org", 465, False, True),
            ("smtp+plain://ann%40x:p%2Fw@mail.example.org:2525", 2525, False, False),
        ],
    )
    def test_from_an_address(self, url, port, starttls, tls):
        found = mail.settings_of(url)
        assert (found["EMAIL_HOST"], found["EMAIL_PORT"]) == ("mail.example.org", port)
        assert (found["EMAIL_USE_TLS"], found["EMAIL_USE_SSL"]) == (starttls, tls)
        assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("ann@x", "p/w")
        assert found["EMAIL_TIMEOUT"] == 10

    def test_without_one_nothing_is_sent(self):
        assert mail.settings_of("") == {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}

    @pytest.mark.parametrize("url", ["mail.example.org", "http://mail.example.org", "smtp://"])
    def test_a_strange_one_is_refused_in_words(self, url):
        with pytest.raises(ValueError, match="EMAIL_URL: smtp://"):
            mail.settings_of(url)


class TestInvitations:
    def test_off_the_form_asks_for_no_address_and_sends_nothing(self, world):
        assert (
            "e-mail address</label>"
            not in text(world.get("people/")).split('aria-label="New invitation"')[1].split("</form>")[0]
        )
        world.post("people/", INVITE)
        assert outbox.outbox == [] and world.campaign.invitations.count() == 1

    def test_on_the_link_is_sent(self, world, on):
        assert "Send it to this e-mail address" in text(world.get("people/"))
        assert "was sent to ann@example.org" in text(world.client.post("/c/talk/people/", INVITE, follow=True))
        [letter] = outbox.outbox
        link = world.campaign.invitations.get()
        assert letter.to == ["ann@example.org"] and f"http://testserver/join/{link.token}/" in letter.body
        assert (link.label, link.cap) == ("pilot", 1)

    def test_without_an_address_only_the_link_is_made(self, world, on):
        world.post("people/", INVITE | {"email": ""})
        assert outbox.outbox == [] and world.campaign.invitations.count() == 1

    def test_a_title_of_two_lines_is_no_header_of_its_own(self, world, on):
        world.campaign.title = "Talk\nBcc: eve@example.org"
        world.campaign.save()
        world.post("people/", INVITE)
        assert outbox.outbox[0].subject.endswith("Talk Bcc: eve@example.org") and outbox.outbox[0].recipients() == [
            "ann@example.org"
        ]

    def test_where_the_server_is_away_the_link_is_there(self, world, on, monkeypatch):
        def away(*_):
            raise ConnectionRefusedError

        monkeypatch.setattr(mail, "send_mail", away)
        page = text(world.client.post("/c/talk/people/", INVITE, follow=True))
        assert "e-mail to ann@example.org could not be sent" in page and world.campaign.invitations.count() == 1

    def test_nobody_writes_to_thousands(self, world, on, settings):
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
        cache.clear()
        for _ in range(100):
            MAILED_BY_ACCOUNT.count_one(str(world.alice.pk))
        refused = world.post("people/", INVITE)
        assert refused.status_code == 422 and outbox.outbox == [] and not world.campaign.invitations.exists()
        cache.clear()


class TestFinishedAnnotators:
    """Two people are to judge each of six outputs (three systems on two contexts), each output once."""

    @pytest.fixture
    def work(self, tmp_path, client, on):
        world = World(tmp_path, client, overlap=2)
        world.alice.email = "alice@example.org"
        world.alice.save()
        return world

    def finish(self, work, user):
        annotator = add_annotator(work.campaign, user)
        while assignment := next_assignment(annotator):
            answer = {"scores": {str(criterion.pk): criterion.low for criterion in work.campaign.criteria.all()}}
            submit(annotator, assignment.pk, uuid.uuid4(), answer)
        work.sign_in(user)
        for _ in range(2):  # the page again writes no second letter
            assert "All done." in text(work.get("annotate/?start=1"))

    def told(self):
        for job in Job.objects.filter(task=notices.TASK, status="queued").order_by("created_at"):
            tell_finished(str(job.pk))
        return [letter.subject for letter in outbox.outbox]

    def test_each_is_told_and_the_last_letter_says_that_all_is_answered(self, work):
        self.finish(work, work.bob)
        name = work.campaign.annotators.get(user=work.bob).name
        assert self.told() == [f"Small talk: {name} has finished"]
        assert "https://judge.example.org/c/talk/progress/" in outbox.outbox[0].body
        self.finish(work, work.charlie)
        assert self.told()[1:] == ["Small talk: all items have their answers"]
        last = outbox.outbox[1]
        assert (
            "2 annotators have finished" in last.body and "/c/talk/quality/" in last.body and last.to == ["alice@example.org"]
        )

    def test_items_that_were_closed_early_are_not_called_answered(self, work):
        """Bob answers one of the two outputs of the system that retires then: nobody else is asked about it."""
        bob = add_annotator(work.campaign, work.bob)
        first = next_assignment(bob)
        answer = {"scores": {str(criterion.pk): criterion.low for criterion in work.campaign.criteria.all()}}
        submit(bob, first.pk, uuid.uuid4(), answer)
        set_retired(first.item.output.system, True)
        self.finish(work, work.bob)
        self.finish(work, work.charlie)
        assert self.told()[-1] == "Small talk: all items have their answers"
        assert (
            "All items that are still asked have as many answers as planned. 1 item was closed with the answers that it has, "
            "since what it is about takes part no more."
        ) in outbox.outbox[-1].body

    def test_who_withdrew_is_not_counted(self, work):
        self.finish(work, work.bob)
        withdraw_annotator(work.campaign.annotators.get(user=work.bob))
        self.finish(work, work.charlie)
        self.told()
        assert "So far, 1 annotator has finished." in outbox.outbox[-1].body

    def test_who_has_not_finished_is_not_told_of(self, work):
        work.sign_in(work.bob).get("annotate/?start=1")
        assert not Job.objects.exists()

    def test_off_nothing_is_queued(self, work, settings):
        settings.EMAIL_URL = ""
        self.finish(work, work.bob)
        assert not Job.objects.exists() and not work.campaign.audit_events.filter(action=notices.FINISHED).exists()

    def test_a_crowd_does_not_fill_the_letter_box(self, work, monkeypatch):
        monkeypatch.setattr(MAILED_BY_CAMPAIGN.__class__, "is_reached", lambda *_: True)
        self.finish(work, work.bob)
        assert self.told() == []
        self.finish(work, work.charlie)
        assert self.told() == ["Small talk: all items have their answers"]


class TestTrainings:
    @pytest.fixture
    def job(self, world):
        world.alice.email = "alice@example.org"
        world.alice.save()
        return jobs.enqueue("evaluator.tasks.train", "Train on talk", world.campaign, world.alice)

    def run(self, monkeypatch, work):
        monkeypatch.setattr(tasks, "run", work)

    def test_who_asked_is_told_that_it_is_done(self, job, on, monkeypatch):
        def done(job_id):
            with jobs.claim(job_id):
                pass

        self.run(monkeypatch, done)
        tasks.train(str(job.pk))
        tasks.train(str(job.pk))  # the message came twice
        [letter] = outbox.outbox
        assert letter.to == ["alice@example.org"] and letter.subject == "Train on talk is done"
        assert "https://judge.example.org/c/talk/comparator/" in letter.body

    def test_and_whether_its_comparator_may_serve(self, job, on, monkeypatch):
        """A training that ends well may have made a comparator that fails its gate."""

        def done(job_id):
            with jobs.claim(job_id):
                run, gate = TrainingRun.objects.create(job=job), {"passed": False, "answer": "It is no better than length."}
                made = dict(criterion="", snapshots=[], settings={}, seed=0, code="", metrics={}, gates={"talk": [gate]})
                version = ComparatorVersion.objects.create(name="c-1", run=run, is_simulated=True, **made)
                version.campaigns.add(job.campaign)

        self.run(monkeypatch, done)
        tasks.train(str(job.pk))
        said = outbox.outbox[0].body
        assert "Comparator c-1 is in use nowhere yet." in said and "It learned from simulated judgments." in said
        assert "In talk: Comparator c-1 did not pass the gate: It is no better than length." in said

    def test_and_that_it_failed_and_why(self, job, on, monkeypatch):
        def broken(job_id):
            with jobs.claim(job_id):
                raise OSError("the disk is full")

        self.run(monkeypatch, broken)
        with pytest.raises(OSError, match="full"):
            tasks.train(str(job.pk))
        assert outbox.outbox[0].subject == "Train on talk has failed" and "the disk is full" in outbox.outbox[0].body

    @pytest.mark.parametrize("status", ["queued", "running", "cancelled"])
    def test_nothing_is_said_of_another_end(self, job, on, status):
        Job.objects.filter(pk=job.pk).update(status=status)
        assert not notices.finished(Job.objects.get(pk=job.pk), "/") and outbox.outbox == []

    def test_who_has_no_address_or_where_it_is_off_gets_none(self, job, on, settings):
        Job.objects.filter(pk=job.pk).update(status="done")
        User.objects.update(email="")
        assert not notices.finished(Job.objects.select_related("created_by").get(pk=job.pk), "/")
        User.objects.update(email="alice@example.org")
        settings.EMAIL_URL = ""
        assert not notices.finished(Job.objects.select_related("created_by").get(pk=job.pk), "/") and outbox.outbox == []
