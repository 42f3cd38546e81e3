"""Loads the demonstration: a campaign of our own texts, simulated judgments (marked so), and three log-ins."""

from pathlib import Path

from django.db import transaction

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Campaign, Membership, User
from annotation.people.accounts import add_annotator
from evaluator.trainings.services import start_training
from leaderboard.tournaments.start import start_tournament

FOLDER = Path(__file__).parent
SLUG = "demo"
PASSWORD = "comparena-demo"  # noqa: S105  # works only while `serve --demo` runs
LOG_INS = [
    ("annotator", PASSWORD, "scores outputs and judges pairs"),
    ("researcher", PASSWORD, "assesses quality, trains comparators, reads the leaderboard"),
    ("admin", PASSWORD, "sees everything"),
]
HUMAN_NOTE = "A stand-in for human writing. A language model that helped to write Comparena composed it for this demonstration."
GUIDELINES = """\
You read a short everyday conversation and one or two replies to its last line. Judge **only the reply**.

**Overall** — would you be content to get this reply?

- 5: yes, entirely; 3: it would do; 1: no, not at all.

**Relevance** — does the reply answer what was just said?

- 5: it takes up what was said; 3: it fits somehow; 1: it has nothing to do with it.

When you compare two replies, choose the one you would rather get. If you can't say, they are **equally good**.
Small slips in spelling do not matter. Take your time, but trust your first reading.
"""
CRITERIA = [
    CriterionSpec("Overall", 1, 5, "poor", "excellent", "Would you be content to get this reply?"),
    CriterionSpec("Relevance", 1, 5, "beside the point", "to the point", "Does it answer what was just said?"),
]


@transaction.atomic
def load_demo(say=print) -> Campaign:
    """Load once; a second call finds it there and changes nothing."""
    known = Campaign.objects.filter(slug=SLUG).first()
    if known:
        return known
    say("Loading the demonstration campaign ...")
    users = {name: _user(name) for name, _, _ in LOG_INS}
    campaign = create_campaign(
        slug=SLUG,
        title="Everyday replies (demonstration)",
        criteria=CRITERIA,
        pairwise=True,
        overlap=3,
        guidelines=GUIDELINES,
        user=users["researcher"],
    )
    Membership.objects.get_or_create(campaign=campaign, user=users["admin"])
    import_outputs(campaign, FOLDER / "outputs.jsonl", human_systems=["Human"])
    import_scores(campaign, FOLDER / "scores.jsonl", simulated=True)
    import_judgments(campaign, FOLDER / "judgments.jsonl", simulated=True)
    campaign.refresh_from_db()
    campaign.systems.filter(is_human=True).update(description=HUMAN_NOTE)
    add_annotator(campaign, users["annotator"])
    assess(campaign, level="interval", user=users["researcher"])
    start_tournament(campaign, "people", criterion="Overall", user=users["researcher"])
    start_training([campaign], criterion="Overall", user=users["researcher"])
    return campaign


def admit_published_log_ins(admitted: bool) -> int:
    """Open or close the demonstration's accounts, as far as their passwords are still the published ones: a closed account
    can't sign in, and its sessions and tokens end. Returns how many changed."""
    users = User.objects.filter(username__in=[name for name, _, _ in LOG_INS], is_active=not admitted)
    published = [user.pk for user in users if user.check_password(PASSWORD)]
    return User.objects.filter(pk__in=published).update(is_active=admitted)


def _user(name: str) -> User:
    user, created = User.objects.get_or_create(username=name)
    if created:
        user.set_password(PASSWORD)
        user.is_staff = user.is_superuser = name == "admin"
        user.may_create_campaigns = name != "annotator"
        user.save()
    return user
