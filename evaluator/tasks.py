"""The training as a task: claim the job, train, record, ask the gate. torch is loaded inside the body."""

from celery import shared_task
from django.urls import reverse

from annotation import jobs, parts
from annotation.models import Job
from annotation.people import notices
from evaluator.judge_tables import anchors, tables
from evaluator.models import AnchorAsking, ComparatorVersion, JudgesTable, TrainingRun
from evaluator.signals import promoted
from evaluator.versions import admission, registry


@shared_task(name="evaluator.tasks.train")
@jobs.task_body
def train(job_id: str) -> None:
    try:
        run(job_id)
    except (jobs.Taken, jobs.Cancelled):
        raise
    except Exception:
        _tell(job_id)
        raise
    _tell(job_id)


def _tell(job_id: str) -> None:
    """Write to whoever asked for the training, where e-mail is on: that it ended, and whether its comparator may serve."""
    job = Job.objects.select_related("campaign", "created_by").get(pk=job_id)
    version = ComparatorVersion.objects.filter(run__job=job).first() if job.status == Job.Status.DONE else None
    said = registry.told(version) if version else []
    notices.finished(job, reverse("comparator", args=[job.campaign.slug]) if job.campaign else "", said)


def run(job_id, watch=None) -> ComparatorVersion:
    """Claim and run a training here and now, and announce where its version is in use; watch(progress, message) follows
    it."""
    with jobs.claim(job_id) as claim:
        claim.report(0.0, "Loading the encoder")
        from evaluator.worker import card, gate
        from evaluator.worker.train import train

        def report(progress: float, message: str) -> None:
            claim.report(progress, message)
            if watch:
                watch(progress, message)

        version = train(TrainingRun.objects.get(job_id=job_id), report, claim.stopped)
        for campaign in version.campaigns.all():
            card.measure_here(version, campaign)
        report(0.995, "Asking whether it may serve")
        gate.ask_all(version)
        registry.consider(version)
        for campaign in version.campaigns.all():  # before the job is done: who dies here announces it at the next attempt
            if registry.comparator_in_use(campaign) == version:
                promoted.send(ComparatorVersion, version=version, campaign=campaign)
        report(1.0, "Trained")
    return version


@shared_task(name="evaluator.tasks.admit")
@jobs.task_body
def admit(job_id: str) -> None:
    """Check an uploaded comparator and enter it; whether it is used, a person says."""
    with jobs.claim(job_id) as claim:
        from evaluator.worker import card, gate
        from evaluator.worker.admit import enter_uploaded

        version = enter_uploaded(claim.job, claim.report)
        claim.report(0.9, "Measuring how far to trust it here")
        for campaign in version.campaigns.all():
            card.measure_here(version, campaign)
        claim.report(0.95, "Asking whether it may serve")
        gate.ask_all(version)
    admission.forget(claim.job)


def _part_of_table(job: Job) -> parts.Work:
    from evaluator.worker.judge_tables.evaluation import part_work

    return part_work(job.judges_table)


@shared_task(name="evaluator.tasks.set_beside_people")
@parts.task_body(_part_of_table)
def set_beside_people(job_id: str) -> None:
    """Work out a campaign's judges' table, in parts, and keep it."""
    with jobs.claim(job_id) as claim:
        table = JudgesTable.objects.select_related("campaign", "snapshot").get(job_id=job_id)
        if table.record is None:
            from evaluator.worker.judge_tables import evaluation

            about = table.criterion, table.annotators, table.seed, table.judges
            table.key = tables.key_of(table.campaign, table.snapshot, *about)  # it may have waited, or failed before
            table.record = evaluation.work_out(claim, table)
            table.save(update_fields=["key", "record"])
        claim.report(1.0, "Done")


def _part_of_file(job: Job) -> parts.Work:
    from evaluator.worker.shared_files import part_work

    return part_work(job.judged_file)


@shared_task(name="evaluator.tasks.judge_file")
@parts.task_body(_part_of_file)
def judge_file(job_id: str) -> None:
    """Judge a file of outputs or pairs, in parts."""
    with jobs.claim(job_id) as claim:
        from evaluator.worker import shared_files

        shared_files.run(claim)


@shared_task(name=anchors.TASK)
@jobs.task_body
def ask_anchors(job_id: str) -> None:
    """Ask a language model again about the pairs of its anchor set."""
    ask_again(job_id)


def ask_again(job_id, watch=None) -> AnchorAsking:
    """Claim and do it here and now; watch(progress, message) follows it."""
    with jobs.claim(job_id) as claim:
        from evaluator.worker import anchors as worker

        def report(progress: float, message: str) -> None:
            claim.report(progress, message)
            if watch:
                watch(progress, message)

        asking = worker.ask(AnchorAsking.objects.get(job_id=job_id), report)
        claim.report(1.0, "Done")
    return asking
