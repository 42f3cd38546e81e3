"""The tournament as a task: claim the job, play, record. Only where a comparator judges is torch loaded, in the body."""

from collections.abc import Sequence
from functools import partial

from celery import shared_task

from annotation import jobs, parts
from annotation.models import Job, Output
from evaluator.judges.protocol import Verdicts
from evaluator.versions.selectors import refit
from leaderboard.archive import exchange
from leaderboard.models import Run, Tournament
from leaderboard.publication import download
from leaderboard.runs import judgments, reports
from leaderboard.tournaments import active_selection
from leaderboard.tournaments import play as playing
from leaderboard.tournaments.prediction_powered import Taught


def _part_of_play(job: Job) -> parts.Work:
    from evaluator.worker.comparators import part_work

    return part_work(job.tournament.version)


@shared_task(name="leaderboard.tasks.play")
@parts.task_body(_part_of_play)
def play(job_id: str) -> None:
    run(job_id)


def run(job_id, watch=None) -> Tournament:
    """Claim and play a tournament here and now; watch(progress, message) is told as it goes."""
    with jobs.claim(job_id) as claim:
        related = ("campaign", "judge__version", "judge__campaign", "snapshot", "extends")
        tournament = Tournament.objects.select_related(*related).get(job_id=job_id)
        judging: playing.Judging | None = None
        taught: Taught | None = None
        if tournament.version:
            claim.report(0.0, "Loading the comparator")
            from evaluator.worker import comparators
            from evaluator.worker.card import measure_here

            measure_here(tournament.version, tournament.campaign)
            shared = partial(parts.share, claim, said="Judging the outputs", span=(0.0, 0.6))
            judging = partial(comparators.verdicts, refit=_refit(tournament), shared=shared)
            taught = comparators.taught(tournament.version)
        elif tournament.judge:
            claim.report(0.0, f"Loading {tournament.judge_name}")
            judging = partial(_of_judge, tournament)

        def report(progress: float, message: str) -> None:
            claim.report(progress, message)
            if watch:
                watch(progress, message)

        return playing.play(tournament, report, judging, taught)


def _of_judge(tournament: Tournament, version: None, outputs: Sequence[Output], report: playing.Report) -> Verdicts:
    """What a judge that is no comparator says of the outputs; its settings, and how its scores became answers, are kept."""
    from evaluator.worker import players

    said = players.said_of(tournament.judge, outputs, tournament.snapshot, tournament.criterion, tournament.seed, report)
    warning = tournament.settings["warning"]
    if said.warning not in warning:  # one that is started again knows it already
        warning = f"{warning} {said.warning}".strip()
    tournament.settings = {**tournament.settings, "warning": warning, "refit": said.refit, "judge_record": said.record}
    tournament.save(update_fields=["settings"])
    return said.verdicts


def _refit(tournament: Tournament) -> dict | None:
    """What the tournament is played with: that of the board it extends, else of its first start; one that is started again
    plays the same games."""
    if "refit" not in tournament.settings:
        extended = tournament.extends
        of_now = refit(tournament.version, tournament.campaign) if extended is None else extended.settings.get("refit")
        tournament.settings["refit"] = of_now
        tournament.save(update_fields=["settings"])
    return tournament.settings["refit"]


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
        job = claim.job
        if job.task == active_selection.TASKS["comparator"]:
            claim.report(0.0, "Loading the comparator")
            from evaluator.worker.comparators import disagreement

            result = active_selection.for_the_comparator(job.campaign, disagreement, job.created_by)
            said = "the comparator's members disagree most on the first ones"
        else:
            result = active_selection.for_the_systems(job.campaign, job.created_by)
            said = "the first ones tell most about the systems"
        claim.report(1.0, f"{result['pairs']:,} pairs reordered; {said}.")
        return result


@shared_task(name=reports.TASK)
@jobs.task_body
def judge_run(job_id: str) -> None:
    judge_checkpoints(job_id)


def judge_checkpoints(job_id) -> int:
    """Claim and judge the checkpoints of a run that wait, here and now; returns how many."""
    with jobs.claim(job_id) as claim:

        def load(run: Run) -> judgments.RunJudge:
            from evaluator.worker.new_texts import ONE_EACH, NewTexts

            first = run.checkpoints.exclude(judged_at=None).order_by("judged_at").first()  # all are read as this one was
            one_each = first is None or bool(first.judge.get("settings", {}).get(ONE_EACH))
            return NewTexts(run.judge, run.criterion, run.snapshot, run.contexts, run.rules["seed"], one_each)

        done = judgments.judge_waiting(claim, load)
        claim.report(1.0, f"{done} {'checkpoint' if done == 1 else 'checkpoints'} judged.")
        return done


@shared_task(name=exchange.EXPORT)
@jobs.task_body
def export_campaign(job_id: str) -> None:
    exchange.write(job_id)


@shared_task(name=exchange.IMPORT)
@jobs.task_body
def admit_campaign(job_id: str) -> None:
    exchange.read(job_id)


@shared_task(name=download.TASK)
@jobs.task_body
def write_snapshot_files(job_id: str) -> None:
    download.write(job_id)
