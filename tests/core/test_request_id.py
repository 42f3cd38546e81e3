"""A request's id goes with it: into the answer, the log, the jobs that it asks for, and their log lines."""

import logging
import re

import pytest

from annotation import jobs
from annotation.models import Job
from annotation.views.campaigns import home
from config.logs import WithoutKeys
from core.request_id import current

pytestmark = pytest.mark.django_db
log = logging.getLogger("tests.request_id")


@pytest.fixture
def lines(settings):
    """What is logged under the settings' format."""
    written = []

    class Keeper(logging.Handler):
        def emit(self, record):
            written.append(self.format(record))

    keeper = Keeper()
    keeper.setFormatter(WithoutKeys(settings.LOG_LINE))
    log.addHandler(keeper)
    log.setLevel(logging.INFO)
    yield written
    log.removeHandler(keeper)


@pytest.mark.parametrize("given", ["abc-1.2_Z", "f" * 64])
def test_a_well_formed_id_is_kept(client, given):
    assert client.get("/healthz", headers={"X-Request-ID": given})["X-Request-ID"] == given


def test_an_error_s_own_line_has_it(client):
    with_id, seen = WithoutKeys("[%(request_id)s] %(message)s"), []
    keeper = logging.Handler()
    keeper.emit = lambda record: seen.append(with_id.format(record))
    logging.getLogger("django.request").addHandler(keeper)
    try:
        client.get("/nowhere/", headers={"X-Request-ID": "lost-2"})
    finally:
        logging.getLogger("django.request").removeHandler(keeper)
    assert seen == ["[lost-2] Not Found: /nowhere/"] and current.get() == ""


@pytest.mark.parametrize("given", [None, "", "f" * 65, "two words", "a\nb", "<b>", "é"])
def test_any_other_gives_way_to_a_new_one(client, given):
    headers = {"X-Request-ID": given} if given is not None else {}
    made = [client.get("/healthz", headers=headers)["X-Request-ID"] for _ in range(2)]
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in made) and made[0] != made[1]


def test_it_goes_into_the_log_and_through_the_job_into_its_log(client, monkeypatch, lines):
    monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: None)
    answer = home.render

    def asking(request, *words):
        log.info("asked")
        jobs.enqueue("somewhere.work", "Some work")
        return answer(request, *words)

    monkeypatch.setattr(home, "render", asking)
    client.get("/", headers={"X-Request-ID": "night-7"})
    log.info("between")
    job = Job.objects.get()
    assert job.request_id == "night-7" and current.get() == ""
    with jobs.claim(job.pk):
        log.info("done by a worker")
    log.info("after")
    told = [re.search(r"tests\.request_id \[(.*)\]: (.*)", line).groups() for line in lines]
    assert told == [("night-7", "asked"), ("-", "between"), ("night-7", "done by a worker"), ("-", "after")]
