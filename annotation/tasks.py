"""Work that a page does not wait for."""

from celery import shared_task

from annotation import calculating, jobs


@shared_task(name="annotation.tasks.calculate")
def calculate(job_id: str) -> None:
    try:
        calculating.run(job_id)
    except (jobs.Taken, jobs.Cancelled):
        pass  # somebody else's, or nobody's any more: the job's row says which
