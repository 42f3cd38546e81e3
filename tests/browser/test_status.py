"""An admin looks at the installation on a phone: status, people, jobs, endpoints, backups, audit log."""

from playwright.sync_api import expect

from annotation import jobs
from annotation.models import Job, User
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in


def test_the_admins_pages_are_clean_and_fit_a_phone(open_page):
    alice = User.objects.create_superuser("alice", password="a-long-password")
    jobs.pulse("training-worker-12345@some-machine.example.org", ["training", "judging"])
    Job.objects.create(task="evaluator.tasks.train", title="Train a comparator on talk", status="running", progress=0.4)
    failed = Job.objects.create(
        task="annotation.tasks.calculate", title="Look at the annotators", status="failed", error="OSError"
    )
    page = open_page(viewport={"width": 360, "height": 800})
    sign_in(page, "alice")
    for address in ("/status/", "/people/", f"/people/{alice.pk}/", "/audit/", "/backups/", "/endpoints/", "/jobs/"):
        page.goto(address)
        assert_axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
    page.get_by_role("button", name="Start again Look at the annotators").click()
    expect(page.get_by_role("button", name="Cancel Look at the annotators")).to_be_visible()
    failed.refresh_from_db()
    assert failed.status == "queued"
