"""For each kind of question: a campaign set up on the page, 30 answers by three people (with keys at 1280; by touch on a phone;
by touch on a phone in Arabic), exported and imported again with the same digest, agreement as the krippendorff package has it,
and the board. It takes minutes, so it runs where THIRTY is set: THIRTY=1 pytest tests/browser/test_thirty_answers.py;
THIRTY=FOLDER also takes screenshots."""

import io
import os
import random
import re
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from playwright.sync_api import expect

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.export import as_jsonl, exported_answers, exported_rows
from annotation.data.importer import import_answers, import_judgments, import_outputs
from annotation.models import Campaign, User
from annotation.people.accounts import add_annotator
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in
from tests.browser.test_questions_of_today import PHONE, begun
from tests.leaderboard.played import by_people

ASKED = os.environ.get("THIRTY", "")
pytestmark = pytest.mark.skipif(not ASKED, reason="takes minutes: set THIRTY")
PEOPLE = {"bob": {}, "carol": PHONE, "amal": PHONE | {"language": "ar"}}
CRITERION = {"likert": True, "pairwise": False, "criteria-0-name": "Quality"}
LIKERT = CRITERION | {"criteria-0-low": "1", "criteria-0-high": "5"}
YES_NO = CRITERION | {
    "criteria-0-low": "0",
    "criteria-0-high": "1",
    "criteria-0-low_label": "no",
    "criteria-0-high_label": "yes",
}
# kind: (template, what else is filled in, systems, contexts): ten items, each for three people
KINDS = {
    "likert": ("", LIKERT, 2, 5),
    "yes-no": ("", YES_NO, 2, 5),
    "slider": ("translation-0-100", {}, 2, 5),
    "pairs": ("pairs", {}, 2, 10),
    "graded-5": ("preference", {}, 2, 10),
    "graded-7": ("preference", {"pair_points": "7"}, 2, 10),
    "ranking": ("ranking", {}, 4, 10),
    "best-worst": ("best-worst", {}, 4, 10),
    "esa": ("translation-esa", {}, 2, 5),
    "mqm": ("translation-mqm", {}, 2, 5),
    "turn": ("dialogue-by-turn", {}, 2, 2),  # conversations, of three turns and of two
}
POINTS = {
    "graded-5": ["left_much", "left_slightly", "tie", "right_slightly", "right_much"],
    "graded-7": ["left_much", "left", "left_slightly", "tie", "right_slightly", "right", "right_much"],
    "pairs": ["left", "tie", "right"],
}


def name_of(text: str) -> str:
    """A text's first word, "s1c04"."""
    return text.split()[0]


def fill(page, name, value):
    """A field of the form of a new campaign, on whichever step it is."""
    field = page.locator(f'[name="{name}"]').first
    step = field.evaluate("field => [...document.querySelectorAll('[data-step]')].findIndex(step => step.contains(field))")
    page.locator(".steps a").nth(step).click()
    if isinstance(value, bool):
        field.set_checked(value)
    elif field.evaluate("field => field.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)


def set_up(open_page, kind) -> Campaign:
    template, more, systems, contexts = KINDS[kind]
    alice = User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)
    page = open_page()
    sign_in(page, "alice")
    page.goto(f"/new/?template={template}")
    fill(page, "title", f"Thirty answers, {kind}")
    for name, value in more.items():
        fill(page, name, value)
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/import/")
    campaign = Campaign.objects.get(memberships__user=alice)
    talks = [
        {"conversation_id": f"s{s}c{c}", "system": f"s{s}", "turns": talk(s, c)}
        for c in range(contexts)
        for s in range(systems)
    ]
    lines = (
        talks
        if kind == "turn"
        else [
            {
                "context_id": f"c{c:02}",
                "context": f"Question {c}?",
                "system": f"s{s}",
                "output": f"s{s}c{c:02} says something of it.",
            }
            for c in range(contexts)
            for s in range(systems)
        ]
    )
    import_outputs(campaign, io.BytesIO("".join(as_jsonl(lines)).encode()), "outputs.jsonl")
    campaign.refresh_from_db()
    return campaign


def talk(system, conversation) -> list[dict]:
    """What a user and a system say to each other: three turns each in the first conversation, then two. The user's are long, so
    that the last turn is not at the top of a phone."""
    asks = [
        f"Question {n} of {system}{conversation}? " + "It is about something that takes some words to say. " * 6
        for n in range(3)
    ]
    answers = [f"s{system}c{conversation}t{n} says something of it." for n in range(3)]
    turns = [{"role": role, "text": text} for pair in zip(asks, answers) for role, text in zip(("user", "assistant"), pair)]
    return turns[: 6 - 2 * conversation]


def worth(of: str, person: str) -> float:
    """What somebody thinks of a text: systems differ, and so do people."""
    return int(of[1]) + random.Random(of).gauss(0, 0.7) + random.Random(of + person).gauss(0, 0.5)


class Hand:
    """One person before the page. keys: or fingers."""

    def __init__(self, page, person, keys):
        self.page, self.person, self.keys = page, person, keys
        self.also, self.turns = defaultdict(dict), []  # of turns: what was answered, and in which order

    def choose(self, field, value, key):
        if self.keys:
            self.page.keyboard.press(key)
        else:
            unfold = self.page.locator(".folded > [data-unfold]")
            if unfold.count():
                unfold.tap()
            self.page.locator(f'[data-answer] label:has(input[name^="{field}"][value="{value}"])').first.tap()

    def send(self):
        if self.keys:
            self.page.keyboard.press("Enter")
        else:
            self.page.locator("[data-answer] .button-big").tap()

    def texts(self):
        return [name_of(text) for text in self.page.locator(".work .output .text").all_inner_texts()]

    # -- each gives one answer, and says what was meant: {(what): answer}

    def likert(self, low=1, high=5):
        [text] = self.texts()
        value = int(np.clip(round(2 + worth(text, self.person)), low, high))
        self.choose("score", value, str(value))
        return {text: value}

    def yes_no(self):
        [text] = self.texts()
        value = int(worth(text, self.person) > 0.5)
        self.choose("score", value, str(value))
        return {text: value}

    def turn(self):
        [text] = self.texts()
        good = worth(text, self.person)
        points = {"Relevant": (1.3 + good, 1, 3), "Understandable": (good > 0, 0, 1), "Turn overall": (2 + good, 1, 5)}
        points |= {"Coherent": (1.5 + good, 1, 3), "Conversation overall": (2.5 + good, 1, 5)}
        asked = self.page.locator("[data-answer] [data-scale]")
        asked = asked.evaluate_all("all => all.map(one => [one.dataset.scale, one.querySelector('input').name])")
        turn = self.page.locator("[data-turn] .eyebrow").inner_text()
        at, of = [int(word) for word in re.findall(r"\d+", turn)]
        assert [name for name, _ in asked] == list(points)[: 5 if at == of else 3]
        self.turns.append((text[:4], at))
        inside = self.page.locator("[data-turn] .text").bounding_box()
        self.page.wait_for_timeout(50)
        before = self.page.evaluate("scrollY")
        assert 0 <= inside["y"] <= inside["y"] + inside["height"] <= self.page.viewport_size["height"]
        for name, field in asked:
            value, low, high = points[name]
            value = int(np.clip(round(value), low, high))
            self.also[name][text] = value
            self.choose(field, value, str(value))
        assert not self.keys or self.page.evaluate("scrollY") == before  # choosing never scrolls; a tap of this test does
        return {text: self.also["Relevant"][text]}

    def slider(self, text=""):
        text = text or self.texts()[0]
        value = int(np.clip(40 + 20 * worth(text, self.person), 0, 100))
        number, slider = self.page.get_by_role("spinbutton"), self.page.get_by_role("slider")
        if self.keys:
            number.focus()
            for digit in str(value):
                self.page.keyboard.press(digit)
            return {text: value}
        box, is_arabic = slider.bounding_box(), self.person == "amal"
        share = value / 100
        slider.tap(
            position={
                "x": box["width"] * (1 - share if is_arabic else share) * 0.96 + box["width"] * 0.02,
                "y": box["height"] / 2,
            }
        )
        expect(number).not_to_have_value("")
        found = int(number.input_value())
        assert abs(found - value) <= 6, (found, value)
        return {text: found}

    def preferred(self, kind):
        """The point, from the first of the pair in the order of names."""
        first, second = self.texts()
        points = POINTS[kind]
        apart = worth(second, self.person) - worth(first, self.person)
        at = int(np.clip(round(apart * (1 if len(points) == 3 else 1.5)) + len(points) // 2, 0, len(points) - 1))
        key = {"left": "a", "tie": "t", "right": "b"}[points[at]] if kind == "pairs" else str(at + 1)
        is_bad = kind != "pairs" and points[at] == "tie" and worth(first, self.person) < 0.5
        self.choose("choice", "both_bad" if is_bad else points[at], "x" if is_bad else key)
        degree = at - len(points) // 2
        return {min(first, second)[2:]: degree if first < second else -degree}

    def ranking(self):
        texts = self.texts()
        places = [
            1 + sum(round(worth(other, self.person)) > round(worth(text, self.person)) for other in texts) for text in texts
        ]
        for n, place in enumerate(places, start=1):
            self.choose(f"choice.{n}", place, str(place))
        return {
            pair: np.sign(places[texts.index(pair[1])] - places[texts.index(pair[0])])
            for pair in combinations(sorted(texts), 2)
        }

    def best_worst(self):
        texts = self.texts()
        order = sorted(texts, key=lambda text: -worth(text, self.person))
        for end, text in (("best", order[0]), ("worst", order[-1])):
            at = texts.index(text) + 1
            self.choose(f"choice.{end}", at, str(at))
        known = {order[0]: 1, order[-1]: -1}
        rank = {text: known.get(text, 0) for text in texts}
        return {(a, b): np.sign(rank[a] - rank[b]) for a, b in combinations(sorted(texts), 2) if rank[a] != rank[b]}

    def marks(self, categories):
        area = self.page.locator("[data-text-of=output]")
        text = name_of(area.input_value())
        count = int(np.clip(round(1.5 - worth(text, self.person)), 0, 2))
        words = area.input_value().split()[1 : 1 + count]
        for n, word in enumerate(words, start=1):
            start = area.input_value().index(word)
            if self.keys:
                area.focus()
                self.page.keyboard.press("Control+Home")
                for _ in range(start):
                    self.page.keyboard.press("ArrowRight")
                for _ in word:
                    self.page.keyboard.press("Shift+ArrowRight")
                self.page.keyboard.press(str(n))
            else:
                area.evaluate("(area, [a, b]) => { area.focus(); area.setSelectionRange(a, b); }", [start, start + len(word)])
                self.page.locator(f'[data-severity][data-key="{n}"]').tap()
            expect(self.page.locator(".mark-of")).to_have_count(n)
            if categories:
                self.page.locator(".mark-of [data-category-of]").nth(n - 1).select_option("Style/Awkward")
                self.page.keyboard.press("Escape")
        if not words:
            self.page.locator("[data-no-errors]").focus() if self.keys else None
            self.page.keyboard.press("Space") if self.keys else self.page.locator("label:has([data-no-errors])").tap()
        return {text: [0, 1, 6][count]}  # minor 1, then major 5

    def esa(self):
        marked = self.marks(False)
        self.scored = self.slider(next(iter(marked)))
        return marked

    def answer(self, kind):
        if kind in POINTS:
            return self.preferred(kind)
        return self.marks(True) if kind == "mqm" else getattr(self, kind.replace("-", "_"))()


def agreement(kind, said) -> float:
    """said: {person: {what: value}}. Pairs stand in it with both sides first, so that neither counts as the first."""
    units = sorted(set().union(*said.values()))
    table = np.array([[answers.get(unit, np.nan) for unit in units] for answers in said.values()], dtype=float)
    if kind in ("likert", "yes-no", "slider", "turn"):
        return krippendorff.alpha(table, level_of_measurement="ordinal")
    if kind in ("esa", "mqm"):
        return krippendorff.alpha(table, level_of_measurement="interval")
    mirrored = np.hstack([table, -table])
    if kind.startswith("graded"):
        half = len(POINTS[kind]) // 2
        return krippendorff.alpha(mirrored, level_of_measurement="ordinal", value_domain=list(range(-half, half + 1)))
    return krippendorff.alpha(mirrored, level_of_measurement="nominal", value_domain=[-1, 0, 1])


def again(campaign) -> Campaign:
    """What was exported, in a fresh campaign with the same questions."""
    names = ("likert", "pairwise", "pair_points", "pair_both_bad", "outputs_at_once", "best_worst")
    copy = create_campaign(slug="again", criteria=[], **{name: getattr(campaign, name) for name in names})
    for criterion in campaign.criteria.values():
        copy.criteria.create(**{name: value for name, value in criterion.items() if name not in ("id", "campaign_id")})
    import_outputs(copy, io.BytesIO("".join(as_jsonl(exported_rows(campaign, "outputs"))).encode()), "outputs.jsonl")
    for what in ("scores", "spans", "judgments"):
        lines = "".join(as_jsonl(exported_answers(campaign, what))).encode()
        if lines and what == "judgments":
            import_judgments(copy, io.BytesIO(lines), "judgments.jsonl")
        elif lines:
            import_answers(copy, what, io.BytesIO(lines), f"{what}.jsonl")
    return copy


@pytest.mark.parametrize("kind", KINDS)
def test_thirty_answers(open_page, kind):
    campaign = set_up(open_page, kind)
    assert campaign.items.count() == 10 and campaign.overlap == 3
    said, scored, also = defaultdict(dict), defaultdict(dict), defaultdict(dict)
    for person, options in PEOPLE.items():
        add_annotator(campaign, User.objects.create_user(person, password="a-long-password"))
        page = begun(open_page, campaign, person, **options)
        hand = Hand(page, person, keys=not options)
        for n in range(10):
            item = page.locator("[data-item]").get_attribute("data-item")
            said[person] |= hand.answer(kind)
            scored[person] |= getattr(hand, "scored", {})
            if n == 0 or kind == "turn" and hand.turns[-1][1] == 3:
                assert_axe_clean(page)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                if len(ASKED) > 1:
                    page.screenshot(path=Path(ASKED) / f"{kind}-{person}{n or ''}.png")
            hand.send()
            expect(page.locator(f'[data-item="{item}"]')).to_have_count(0)
        expect(page.locator("[data-answer]")).to_have_count(0)
        for name, answers in hand.also.items():
            also[name][person] = answers
        assert all(now[1] == 1 or now == (before[0], before[1] + 1) for before, now in zip(hand.turns, hand.turns[1:]))
    report = assess(campaign).decisions.order_by("pk").first().report
    found = report["alpha"] if kind in POINTS or kind in ("ranking", "best-worst") else report["alpha_before"]
    assert found == pytest.approx(agreement(kind, said), abs=1e-9)
    if kind == "esa":
        second = assess(campaign).decisions.order_by("pk").last().report
        assert second["alpha_before"] == pytest.approx(agreement("slider", scored), abs=1e-9)
    for decision in assess(campaign).decisions.all() if also else ():
        asked = also[decision.criterion.name]
        assert {len(answers) for answers in asked.values()} == {4 if decision.criterion.asked_if else 10}
        assert decision.report["alpha_before"] == pytest.approx(agreement(kind, asked), abs=1e-9)
    assert assess(again(campaign)).digest == assess(campaign).digest
    by_people(campaign, **({"criterion": campaign.criteria.first().name} if campaign.likert else {}))
    page = open_page()
    sign_in(page, "alice")
    page.goto(f"/c/{campaign.slug}/leaderboard/")
    if kind == "turn":
        expect(page.get_by_text("Each system had conversations of its own")).to_have_count(1)
    expect(page.get_by_role("cell", name="s1").or_(page.get_by_role("rowheader", name="s1")).first).to_be_visible()
    if len(ASKED) > 1:
        page.screenshot(path=Path(ASKED) / f"{kind}-board.png")
