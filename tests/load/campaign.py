"""The campaign that is judged, made by the services of the product, and what must hold in the database afterwards."""

import io
import json
import random
from collections import Counter, defaultdict
from datetime import timedelta

from django.db.models import Count
from django.utils import timezone

from annotation.importing import import_outputs
from annotation.models import Assignment, Campaign, Item, LikertScore, PairwiseJudgment, Submission
from annotation.services import CriterionSpec, create_campaign, invite

CRITERIA = ["Fluency", "Relevance"]
SYSTEMS = 4
WORDS = "the a river garden teacher talks about music when evening light falls over quiet streets and people wait".split()


def texts(items: int, seed: int = 0) -> list[dict]:
    """Rows of outputs: contexts of three turns, four systems each; synthetic."""
    draw = random.Random(seed)
    sentence = lambda n: " ".join(draw.choices(WORDS, k=n)).capitalize() + "."
    rows = []
    for number in range(items // SYSTEMS):
        turns = [sentence(14) for _ in range(3)]
        for system in range(SYSTEMS):
            rows.append({"context_id": f"c{number}", "context": turns, "system": f"system-{system}", "output": sentence(25)})
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
    accepted = submissions.filter(is_surplus=False)
    stored = {str(key) for key in submissions.values_list("key", flat=True)}
    items = dict(campaign.items.values_list("pk", "places"))
    per_item = Counter(accepted.values_list("assignment__item_id", flat=True))
    per_person = Counter(accepted.values_list("assignment__item_id", "annotator_id"))
    surplus = submissions.filter(is_surplus=True)
    answers = _answers_by_submission(campaign)
    expected = {
        key: 1 if other else len(CRITERIA) for key, other in accepted.values_list("key", "assignment__item__other_id")
    }
    found = [
        f"{len(acknowledged)} judgments acknowledged, {len(stored)} stored: {accepted.count()} accepted, {surplus.count()} surplus",
        f"{sum(per_item[pk] == places for pk, places in items.items())} of {len(items)} items with exactly their k accepted",
        *_balance(campaign),
    ]
    wrong = {
        "acknowledged but not stored": len(acknowledged - stored),
        "items without exactly k accepted": sum(per_item[pk] != places for pk, places in items.items()),
        "items whose count of taken places is off": Item.objects.filter(campaign=campaign).exclude(taken=campaign.overlap).count(),
        "accepted twice from one person": sum(n > 1 for n in per_person.values()),
        "submissions without exactly their answers": sum(answers.get(key) != n for key, n in expected.items()),
        "surplus submissions with live answers": sum(key in answers for key in surplus.values_list("key", flat=True)),
    }
    return found, [f"{n} {what}" for what, n in wrong.items() if n]


def _answers_by_submission(campaign: Campaign) -> dict:
    counts = Counter()
    for model in (LikertScore, PairwiseJudgment):
        live = model.objects.filter(annotator__campaign=campaign, retracted_at=None).order_by()
        counts.update(dict(live.values_list("submission").annotate(Count("pk"))))
    return counts


def _balance(campaign: Campaign) -> list[str]:
    live = LikertScore.objects.filter(annotator__campaign=campaign, retracted_at=None, criterion__name=CRITERIA[0])
    systems = Counter(live.values_list("output__system__name", flat=True))
    lines = [f"scores of each system: {min(systems.values())} to {max(systems.values())}"]
    mine = defaultdict(Counter)
    for annotator, system in live.values_list("annotator_id", "output__system_id"):
        mine[annotator][system] += 1
    spread = [max(c.values()) - min(c.get(s, 0) for s in campaign.systems.values_list("pk", flat=True)) for c in mine.values()]
    lines.append(f"most that one annotator scored one system more than another: {max(spread)}, half of them at most {sorted(spread)[len(spread) // 2]}")
    judgments = PairwiseJudgment.objects.filter(annotator__campaign=campaign, retracted_at=None)
    if total := judgments.count():
        left = Counter()
        for swapped, a, b in judgments.values_list("shown_swapped", "output_a__system__name", "output_b__system__name"):
            left[b if swapped else a] += 1
        shown = Counter(judgments.values_list("output_a__system__name", flat=True))
        shown.update(judgments.values_list("output_b__system__name", flat=True))
        shares = [left[s] / shown[s] for s in shown]
        lines.append(f"{total} judgments of pairs; a system stood on the left in {min(shares):.0%} to {max(shares):.0%} of its pairs")
    return lines
