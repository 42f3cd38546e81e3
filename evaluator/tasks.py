"""The training as a task: claim the job, train, record. torch is loaded inside the body."""

from celery import shared_task

from annotation import jobs
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.signals import trained


@shared_task(name="evaluator.tasks.train")
def train(job_id: str) -> None:
    try:
        trained.send(ComparatorVersion, version=run(job_id))
    except (jobs.Taken, jobs.Cancelled):
        pass  # somebody else's, or nobody's any more: the job's row says which


def run(job_id, watch=None) -> ComparatorVersion:
    """Claim and run a training here and now; watch(progress, message) is told as it goes."""
    with jobs.claim(job_id) as claim:
        claim.report(0.0, "Loading the encoder")
        from evaluator import runner

        def report(progress: float, message: str) -> None:
            claim.report(progress, message)
            if watch:
                watch(progress, message)

        return runner.train(TrainingRun.objects.get(job_id=job_id), report, claim.stopped)
