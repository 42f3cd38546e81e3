"""Work that a page does not wait for."""

from celery import shared_task

from annotation import jobs, processes
from annotation.assessment import calculations, preference_files
from annotation.assessment.numbers import numbers
from annotation.campaigns.items import gone
from annotation.data import uploads
from annotation.models import Job, Upload
from annotation.people import notices


@shared_task(name="annotation.tasks.calculate")
@jobs.task_body
def calculate(job_id: str) -> None:
    calculations.run(job_id)


@shared_task(name=uploads.TASK)
@jobs.task_body
def import_file(job_id: str) -> None:
    """Check or store an uploaded file, a large one beside this worker. Its errors are the upload's, not the job's: the job
    then has done its work."""
    upload = Upload.objects.filter(job_id=job_id, job__status=Job.Status.QUEUED).first()
    if upload and upload.path.exists() and uploads.is_large(upload):
        processes.start("import_upload", job_id)  # where another large one is being read, the sweep sends the message again
    else:
        read_file(job_id)


def read_file(job_id: str) -> None:
    with jobs.claim(job_id) as claim:
        upload = Upload.objects.select_related("campaign", "user").get(job_id=job_id)
        uploads.work(upload, claim.report)
        numbers(upload.campaign)  # a large campaign is counted here, before a page asks


@shared_task(name=notices.TASK)
@jobs.task_body
def tell_finished(job_id: str) -> None:
    with jobs.claim(job_id) as claim:
        campaign = claim.job.campaign
        closed = gone(campaign).count() if campaign else 0
        claim.report(1.0, f"{notices.tell_finished(claim.job, closed)} e-mails sent")


@shared_task(name=preference_files.TASK)
@jobs.task_body
def write_preferences(job_id: str) -> None:
    preference_files.write(job_id)
