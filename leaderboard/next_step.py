"""What a campaign's researchers do next, from where the campaign stands: one line on each of its pages."""

from dataclasses import dataclass

from django.db.models import F
from django.urls import reverse

from annotation.models import Campaign, Job, Output, Purpose, Snapshot
from annotation.questions.store import is_answered
from annotation.snapshots import has_newer_answers, latest_snapshot
from evaluator.versions.registry import passed
from leaderboard.models import Tournament


@dataclass(frozen=True)
class NextStep:
    """words: what to do, as a command; page: the name of the address where it is done; part: the id of its heading there."""

    words: str
    page: str
    part: str = ""

    def address(self, campaign: Campaign) -> str:
        return reverse(self.page, args=[campaign.slug]) + (f"#{self.part}" if self.part else "")


def next_step(campaign: Campaign) -> NextStep:
    """The first thing that is still to be done."""
    if not Output.objects.filter(context__campaign=campaign).exists():
        return NextStep("Import the outputs that people judge", "import_data")
    snapshot = latest_snapshot(campaign)
    if snapshot is None:
        return _first_answers(campaign)
    if has_newer_answers(snapshot):
        return NextStep("Freeze a new snapshot that includes the latest answers", "quality")
    return _boards(campaign, snapshot)


def _first_answers(campaign: Campaign) -> NextStep:
    items = campaign.items.filter(purpose=Purpose.EVALUATION)
    if is_answered(campaign):
        if campaign.status != Campaign.Status.OPEN or not items.filter(taken__lt=F("places")).exists():
            return NextStep("Filter the answers and freeze a snapshot", "quality")
        return NextStep("Freeze a snapshot as soon as enough people have answered", "quality")
    if campaign.likert and not campaign.criteria.exists():
        return NextStep("Add the criteria to score", "design")
    if not items.exists():
        return NextStep("Choose how pairs are made" if campaign.pairwise else "Choose what people judge", "design")
    if campaign.status != Campaign.Status.OPEN:
        return NextStep("Open the campaign so that people can answer", "campaign")
    if not campaign.invitations.filter(revoked_at=None).exists() and not campaign.annotators.exists():
        return NextStep("Invite people", "people", "invitations")
    return NextStep("Watch the first answers come in", "live")


def _boards(campaign: Campaign, snapshot: Snapshot) -> NextStep:
    boards = Tournament.objects.filter(campaign=campaign, level=Tournament.Level.SYSTEM)
    boards = boards.exclude(job__status__in=(Job.Status.FAILED, Job.Status.CANCELLED))
    by_people = boards.filter(basis=Tournament.Basis.PEOPLE, snapshot=snapshot).first()
    if by_people is None:
        return NextStep("Play people's board", "play", "play")
    if by_people.finished_at is None:
        return NextStep("See people's board, which is being computed", "leaderboard")
    version = campaign.comparators.filter(retired_at=None).first()
    if version is None:
        if campaign.training_runs.filter(job__status__in=(Job.Status.QUEUED, Job.Status.RUNNING)).exists():
            return NextStep("Follow the training of the comparator", "comparator")
        return NextStep("Train a comparator", "comparator", "train")
    together = boards.filter(basis=Tournament.Basis.CORRECTED, judge__version=version)
    if passed(version.gates.get(campaign.slug, [])) and not together.exists():
        return NextStep("Play the board of people and comparator together", "play", "play")
    if not campaign.board_is_public:
        return NextStep("Show the board to others", "play", "who-sees")
    return NextStep("Cite the board, or embed it in other pages", "leaderboard", "cite")
