"""The tournament as a task: claim the job, play, record. Only where a comparator judges is torch loaded, in the body."""

from collections.abc import Set

from celery import shared_task

from annotation import jobs
from leaderboard.models import Tournament
from leaderboard.tournaments import active_selection
from leaderboard.tournaments import play as playing


@shared_task(name="leaderboard.tasks.play")
@jobs.task_body
def play(job_id: str) -> None:
    run(job_id)


def run(job_id, watch=None) -> Tournament:
    """Claim and play a tournament here and now; watch(progress, message) is told as it goes."""
    with jobs.claim(job_id) as claim:
        tournament = Tournament.objects.select_related("campaign", "version", "snapshot").get(job_id=job_id)
        judging: playing.Judging | None = None
        learnt: Set[str] = frozenset()
        if tournament.judge != Tournament.Judge.PEOPLE:
            claim.report(0.0, "Loading the comparator")
            from evaluator.worker import judge
            from evaluator.worker.card import measure_here

            judging = judge.verdicts
            measure_here(tournament.version, tournament.campaign)
            learnt = judge.learnt_beside(tournament.version)

        def report(progress: float, message: str) -> None:
            claim.report(progress, message)
            if watch:
                watch(progress, message)

        return playing.play(tournament, report, judging, learnt)


@shared_task(name=active_selection.TASKS["systems"])
@jobs.task_body
def ask(job_id: str) -> None:
    order_pairs(job_id)


@shared_task(name=active_selection.TASKS["comparator"])
@jobs.task_body
def ask_to_teach(job_id: str) -> None:
    order_pairs(job_id)


def order_pairs(job_id) -> dict:
    """Claim and do a reordering of what people judge next, here and now."""
    with jobs.claim(job_id) as claim:
        claim.report(0.0, "Loading the comparator")
        from evaluator.worker.judge import disagreement, verdicts

        job = claim.job
        if job.task == active_selection.TASKS["comparator"]:
            result = active_selection.for_the_comparator(job.campaign, disagreement, job.created_by)
            said = "those first on which the comparator's members differ most"
        else:
            result = active_selection.for_the_systems(job.campaign, verdicts, job.created_by)
            said = f"{result['left to the comparator']:,} left to the comparator"
        claim.report(1.0, f"{result['pairs']:,} pairs in order; {said}.")
        return result
