"""The campaign that is judged, made by the services of the product, and what must hold in the database afterwards."""

import io
import json
import random
from collections import Counter, defaultdict
from datetime import timedelta

from django.db.models import Count, F
from django.utils import timezone

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import Assignment, Campaign, LikertScore, PairwiseJudgment, Submission
from annotation.people.invitations import invite

CRITERIA = ["Fluency", "Relevance"]
SYSTEMS = 4
WORDS = "the a river garden teacher talks about music when evening light falls over quiet streets and people wait".split()


def sentence(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words)).capitalize() + "."


def texts(items: int, seed: int = 0) -> list[dict]:
    """Rows of outputs: contexts of three turns, four systems each; synthetic."""
    draw = random.Random(seed)
    rows = []
    for number in range(items // SYSTEMS):
        turns = [sentence(draw, 14) for _ in range(3)]
        for system in range(SYSTEMS):
            row = {"context_id": f"c{number}", "context": turns, "system": f"system-{system}"}
            rows.append(row | {"output": sentence(draw, 25)})
    return rows


def make(items: int, k: int, with_pairs: bool) -> tuple[Campaign, str]:
    """(campaign, token of its invitation). With pairs, half of the items are outputs and half are pairs."""
    criteria = [CriterionSpec(name, 1, 5, "poor", "good", f"{name} of the reply") for name in CRITERIA]
    campaign = create_campaign(slug="load", title="Load", criteria=criteria, likert=True, pairwise=with_pairs, overlap=k)
    rows = texts(items // 2 if with_pairs else items)
    import_outputs(campaign, io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()), "load.jsonl")
    return campaign, invite(campaign).token


def let_lapse(assignment_id: int) -> None:
    """As if the person had been away for hours."""
    Assignment.objects.filter(pk=assignment_id).update(assigned_at=timezone.now() - timedelta(days=1))


def check(campaign: Campaign, acknowledged: set[str]) -> tuple[list[str], list[str]]:
    """(what was found, what is wrong)."""
    submissions = Submission.objects.filter(annotator__campaign=campaign, retracted_at=None)
    accepted, surplus = submissions.filter(is_surplus=False), submissions.filter(is_surplus=True)
    stored = {str(key) for key in submissions.values_list("key", flat=True)}
    items = dict(campaign.items.values_list("pk", "places"))
    per_item = Counter(accepted.values_list("assignment__item_id", flat=True))
    per_person = Counter(accepted.values_list("assignment__item_id", "annotator_id"))
    answers, is_pair = answers_by_submission(campaign), accepted.values_list("key", "assignment__item__other_id")
    off = sum(per_item[pk] != places for pk, places in items.items())
    wrong = {
        "acknowledged but not stored": len(acknowledged - stored),
        "items without exactly k accepted": off,
        "items whose count of taken places is off": campaign.items.exclude(taken=F("places")).count(),
        "accepted twice from one person": sum(n > 1 for n in per_person.values()),
        "submissions without exactly their answers": sum(answers[k] != (1 if b else len(CRITERIA)) for k, b in is_pair),
        "surplus submissions with live answers": sum(key in answers for key in surplus.values_list("key", flat=True)),
    }
    found = [
        f"{len(acknowledged)} judgments acknowledged, {len(stored)} stored: {accepted.count()} accepted, "
        f"{surplus.count()} late or second ones kept as surplus",
        f"{len(items) - off} of {len(items)} items with exactly their k accepted",
        *_balance(campaign),
    ]
    return found, [f"{n} {what}" for what, n in wrong.items() if n]


def answers_by_submission(campaign: Campaign) -> dict:
    counts = Counter()
    for model in (LikertScore, PairwiseJudgment):
        live = model.objects.filter(annotator__campaign=campaign, retracted_at=None).order_by()
        counts.update(dict(live.values_list("submission").annotate(Count("pk"))))
    return counts


def _balance(campaign: Campaign) -> list[str]:
    live = LikertScore.objects.filter(annotator__campaign=campaign, retracted_at=None, criterion__name=CRITERIA[0])
    systems, mine = Counter(), defaultdict(Counter)
    for annotator, system in live.values_list("annotator_id", "output__system_id"):
        systems[system] += 1
        mine[annotator][system] += 1
    spreads = sorted(max(c.values()) - min(c[s] for s in systems) for c in mine.values())
    lines = [
        f"{min(systems.values())} to {max(systems.values())} people's scores of each system; one annotator scored one system "
        f"more than another by {spreads[-1]} at most, by {spreads[len(spreads) // 2]} or less for half of them"
    ]
    left, shown = Counter(), Counter()
    judgments = PairwiseJudgment.objects.filter(annotator__campaign=campaign, retracted_at=None)
    for swapped, *sides in judgments.values_list("shown_swapped", "output_a__system_id", "output_b__system_id"):
        left[sides[swapped]] += 1
        shown.update(sides)
    if shown:
        shares = [left[system] / shown[system] for system in shown]
        lines.append(f"a system stood on the left in {min(shares):.0%} to {max(shares):.0%} of its {judgments.count()} pairs")
    return lines
