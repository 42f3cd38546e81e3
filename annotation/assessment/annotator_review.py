"""What each annotator's answers look like beside the others', from the stored rows: cards, whom to look at, influence."""

from dataclasses import replace
from typing import Any

import numpy as np

from annotation.annotating.feedback import checks
from annotation.assessment.tables import games_of, systems_of, tables_of
from annotation.models import Assignment, Campaign, Criterion, Purpose, Submission
from annotation.outcome import Outcome
from annotation.quality.answer_arrays import Answers
from annotation.quality.people.annotator_cards import Behaviour, cards
from annotation.quality.people.camps import camps
from annotation.quality.people.influence import influences, ranks, ratings
from annotation.quality.people.suspicion import suspicion
from annotation.questions import store
from leaderboard.rating.games import Games

NO_SEVERITY = dict.fromkeys(("severity", "severity_low", "severity_high"))  # nobody is strict about which of two is better


def annotators(campaign: Campaign) -> dict:
    """Plain JSON: {people: [card and concerns, the most suspicious first], minorities: [who agree with each other], systems,
    influence: the strongest first}. Whoever is of a minority is not flagged for agreeing little with the rest."""
    who = list(campaign.annotators.filter(withdrawn_at=None).order_by("pk").values_list("pk", "name", "is_simulated"))
    number = {pk: i for i, (pk, _, _) in enumerate(who)}
    behaviour = _behaviour(campaign, number)
    answers = _answers(campaign, number)
    all_cards = cards(answers, behaviour, len(who))
    effect = _influence(campaign, number, who)
    found = suspicion(all_cards, behaviour)
    pushing = [number[row["pk"]] for row in effect["influence"] if row["flagged"]]
    views = camps(answers, len(who), [*(one.annotator for one in found if one.is_unusual), *pushing])
    members = {i for view in views for i in view.annotators}
    suspects = {one.annotator: replace(one, in_camp=one.annotator in members) for one in found}
    for row in effect["influence"]:
        row["flagged"] = row["flagged"] and number[row["pk"]] not in members
    is_scored = store.about_outputs(campaign).counted().exists()
    order = [*suspects, *(i for i in range(len(who)) if i not in suspects)]
    people = [
        {"pk": who[i][0], "name": who[i][1], "simulated": who[i][2], **all_cards[i].as_dict(), **_concerns(suspects.get(i))}
        | ({} if is_scored else NO_SEVERITY)
        for i in order
    ]
    minorities = [{"names": [who[i][1] for i in view.annotators], "sentence": view.sentence} for view in views]
    answered = [p for p in people if p["answers"] or p["gold"] or p["repeats"]]
    return {"people": answered, "minorities": minorities, **effect}


def to_check(figures: dict) -> list[dict]:
    """The flagged cards of `annotators`, each once, with its row of influence where that is flagged too, else None."""
    influential = {row["name"]: row for row in figures["influence"] if row["flagged"]}
    unusual = {p["name"]: p for p in figures["people"] if p["flagged"]}
    others = {p["name"]: p for p in figures["people"] if p["name"] in influential.keys() - unusual.keys()}
    order = [*unusual, *(name for name in influential if name in others)]
    return [(unusual | others)[name] | {"influence": influential.get(name)} for name in order]


def _concerns(suspect) -> dict:
    if suspect is None:
        return {"flagged": False, "reasons": [], "concerns": []}
    concerns = [{"kind": c.kind, "p": c.p, "p_corrected": c.p_corrected, "reason": c.reason} for c in suspect.concerns]
    return {"flagged": suspect.is_flagged, "reasons": suspect.reasons, "concerns": concerns}


def _answers(campaign: Campaign, number: dict[int, int]) -> Answers:
    """All counted answers, scores and choices, each question a criterion of its own, the better the higher. A choice stands in
    both orders of its pair, and has its time in the one that was shown."""
    scores, judgments = (rows.counted() for rows in store.both(campaign))
    common = ("annotator_id", "criterion_id", "submission__created_at")
    rows = [
        (number[who], output, ("score", criterion), value if best == Criterion.Best.HIGH else -value, when, context, False)
        for who, criterion, when, output, value, context, best in scores.values_list(
            *common, "output_id", "value", "output__context_id", "criterion__best"
        )
    ]
    rows += [
        (number[who], pair, ("pair", criterion), outcome.code, when if swapped is is_turned else None, context, True)
        for who, criterion, when, a, b, choice, context, swapped in judgments.values_list(
            *common, "output_a_id", "output_b_id", "choice", "output_a__context_id", "shown_swapped"
        )
        for is_turned, pair, outcome in ((False, (a, b), Outcome(choice)), (True, (b, a), Outcome(choice).swap()))
    ]
    if not rows:
        return Answers.none()
    annotator, what, question, value, when, context, has_sides = zip(*rows)
    item = {unit: i for i, unit in enumerate(sorted(set(what), key=str))}
    criterion = {name: i for i, name in enumerate(sorted(set(question), key=str))}
    order = [np.nan if moment is None else moment.timestamp() for moment in when]
    items, criteria = [item[unit] for unit in what], [criterion[name] for name in question]
    contexts = np.unique(context, return_inverse=True)[1]  # numbered from 0
    return Answers(*(np.array(column) for column in (annotator, items, criteria, value, order, contexts, has_sides)))


def _behaviour(campaign: Campaign, number: dict[int, int]) -> Behaviour:
    judgments = store.about_pairs(campaign).counted().filter(shown_swapped__isnull=False)
    sides = [
        (number[who], 0 if choice == Outcome.TIE.value else 1 if (choice == Outcome.A.value) != swapped else -1)
        for who, choice, swapped in judgments.values_list("annotator_id", "choice", "shown_swapped")
    ]
    submissions = Submission.objects.filter(
        annotator__in=number,
        retracted_at=None,
        is_surplus=False,
        assignment__purpose=Purpose.EVALUATION,
        assignment__status=Assignment.Status.DONE,
    )
    seconds = [
        (number[who], active if active is not None else elapsed)
        for who, active, elapsed in submissions.values_list("annotator_id", "active_seconds", "seconds")
        if active is not None or elapsed is not None
    ]
    repeats = [(number[who], same) for who, same in store.repeats(campaign)]
    observed = sides, repeats, _gold(campaign, number), seconds
    columns: list[Any] = [tuple(zip(*rows)) or ((), ()) for rows in observed]
    return Behaviour(*columns)


def _gold(campaign: Campaign, number: dict[int, int]) -> list[tuple[int, bool]]:
    """(annotator, was the known answer given) of every gold item answered."""
    rows = store.checks_of(campaign, Purpose.GOLD)
    checked_answers = [(of[0].annotator_id, checks(of[0].submission.assignment.item, of)) for of in rows.values()]
    return [(number[who], all(check.is_right for check in checked)) for who, checked in checked_answers if checked]


def _influence(campaign: Campaign, number: dict[int, int], who: list) -> dict:
    """What leaving out each annotator does to the ranking, over all questions together."""
    systems = systems_of(campaign)
    parts = [(*games_of(table, systems), table) for _, table in tables_of(campaign)]
    if not parts or len(systems.names) < 2:
        return {"systems": systems.names, "influence": []}
    fields = ("first", "second", "outcome", "context")
    games = Games(*(np.concatenate([getattr(g, f) for g, _, _ in parts]) for f in fields))
    annotator = np.concatenate([[number[table.annotators[i]] for i in whose] for _, whose, table in parts])
    if len(games) == 0:
        return {"systems": systems.names, "influence": []}
    annotator_influences = influences(len(systems.names), games, annotator.astype(int))
    rank = ranks(ratings(len(systems.names), games)).tolist()
    rows = [
        {
            "pk": who[one.annotator][0],
            "name": who[one.annotator][1],
            "flagged": one.is_flagged,
            "largest": max(map(abs, one.push)),
            "spreads": one.spreads,
            "p_corrected": one.p_corrected,
            "moves": [
                {"push": push, "rank": without, "moved": without != place}
                for push, without, place in zip(one.push, one.rank_without, rank)
            ],
        }
        for one in annotator_influences
    ]
    return {"systems": systems.names, "influence": rows}
