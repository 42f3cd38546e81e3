"""Has a person finished their part of a campaign, and with which code do they go back to where they came from?"""

from dataclasses import dataclass

from annotation.annotating.assignment import Phase, Progress, progress
from annotation.annotating.qualification import right_answers
from annotation.design.known_answer_check import passes
from annotation.models import Annotator, Campaign, Purpose
from annotation.people.invitations import TIMED_OUT


@dataclass(frozen=True)
class Completion:
    """What a crowd worker takes back. code may be empty; address: where to, with this code in it; empty: none."""

    code: str
    address: str = ""


def completion(annotator: Annotator, done: Progress) -> Completion | None:
    """None where the work is not at its end, or there is nothing to take back."""
    campaign = annotator.campaign
    if annotator.withdrawn_at:
        found = Completion("")
    elif annotator.has_qualified is False:
        found = _with_code(campaign, campaign.screened_out_code)
    elif campaign.timed_out_code and _ran_out_of_time(annotator, done):
        found = _with_code(campaign, campaign.timed_out_code)
    elif is_finished(annotator, done):
        found = Completion(campaign.completion_code, campaign.completion_url)
        if campaign.failed_checks_code and not passes(*right_answers(annotator, Purpose.GOLD), campaign.check_mark):
            found = _with_code(campaign, campaign.failed_checks_code)
    else:
        found = Completion("")
    return found if found.code or found.address else None


def _with_code(campaign: Campaign, code: str) -> Completion:
    """The address holds the completion code, which another one takes the place of; an address without it is for that alone."""
    holds_code = bool(code and campaign.completion_code and campaign.completion_code in campaign.completion_url)
    return Completion(code, campaign.completion_url.replace(campaign.completion_code, code) if holds_code else "")


def _ran_out_of_time(annotator: Annotator, done: Progress) -> bool:
    """They began and cannot end: the campaign was closed, or nothing is left for them, and they judged nothing or the platform
    says that their time was up. Who reached the quota did what was asked."""
    campaign = annotator.campaign
    if done.phase != Phase.FINISHED:
        return campaign.status == Campaign.Status.CLOSED and annotator.assignments.exists()
    if not done.done:
        return campaign.status != Campaign.Status.PAUSED and annotator.assignments.exists()
    has_reached_quota = campaign.quota is not None and done.total >= campaign.quota
    return bool(annotator.source.get(TIMED_OUT)) and not has_reached_quota


def is_finished(annotator: Annotator, done: Progress | None = None) -> bool:
    """Is this person's work done? They judged something, and nothing is left for them: their quota is full, or no item
    is free. Who withdrew or did not qualify has not finished. The completion code is shown on this alone.

    done: their progress, where the caller has it.
    """
    if annotator.withdrawn_at or annotator.has_qualified is False:
        return False
    done = done or progress(annotator)
    return done.done > 0 and done.phase == Phase.FINISHED
