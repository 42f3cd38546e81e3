"""A researcher watches a job without touching the page, and without JavaScript by its refresh link."""

import pytest
from playwright.sync_api import expect

from annotation.jobs import pulse
from annotation.models import Job
from tests.browser.conftest import sign_in


@pytest.fixture
def job(scores):
    return Job.objects.create(task="t", title="Train a comparator", campaign=scores.campaign, status="running")


def change(job, **fields):
    Job.objects.filter(pk=job.pk).update(**fields)


def test_progress_moves_by_itself_until_the_job_is_done(open_page, job):
    page = open_page()
    sign_in(page, "alice")
    page.goto("/c/talk/")
    expect(page.get_by_text("No worker is running")).to_be_visible()
    pulse("worker@here")
    change(job, progress=0.5, message="Member 2 of 3")
    expect(page.get_by_text("Member 2 of 3")).to_be_visible()
    expect(page.get_by_text("No worker is running")).to_be_hidden()
    assert page.get_by_role("progressbar", name="Progress", exact=True).evaluate("bar => bar.value") == 0.5
    change(job, status="failed", error="OSError: no space left on device")
    expect(page.get_by_text("no space left on device")).to_be_visible()
    expect(page.get_by_role("button", name="Start again")).to_be_visible()


def test_without_javascript_a_refresh_shows_the_same(open_page, job):
    page = open_page(java_script_enabled=False)
    sign_in(page, "alice")
    page.goto("/c/talk/")
    change(job, progress=0.5, message="Member 2 of 3")
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_text("Member 2 of 3")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("asked to stop")).to_be_visible()
    job.refresh_from_db()
    assert job.cancel_requested
