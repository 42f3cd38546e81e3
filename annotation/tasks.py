"""Work that a page does not wait for."""

from celery import shared_task

from annotation import jobs
from annotation.assessment import calculations
from annotation.data import uploads
from annotation.models import Upload


@shared_task(name="annotation.tasks.calculate")
def calculate(job_id: str) -> None:
    try:
        calculations.run(job_id)
    except (jobs.Taken, jobs.Cancelled):
        pass  # somebody else's, or nobody's any more: the job's row says which


@shared_task(name=uploads.TASK)
def import_file(job_id: str) -> None:
    """Check or store an uploaded file. Its errors are the upload's, not the job's: the job then has done its work."""
    try:
        with jobs.claim(job_id) as claim:
            uploads.work(Upload.objects.select_related("campaign", "user").get(job=job_id), claim.report)
    except (jobs.Taken, jobs.Cancelled):
        pass
