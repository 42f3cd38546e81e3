"""What campaigns of a kind usually ask: guidelines and criteria to begin with, and to change. Criteria that come from a paper
have its names, scales and questions; `source` names it."""

from dataclasses import dataclass
from typing import Any

from annotation.campaigns.protocol import CriterionSpec
from annotation.questions.spans.kind import ESA_SEVERITIES, HIGHEST, MQM_CATEGORIES
from core.errors import Refused


@dataclass(frozen=True)
class Template:
    """source: the paper that the criteria come from, empty where there is none; pairwise: are pairs judged too, or alone?"""

    title: str
    about: str
    guidelines: str
    criteria: tuple[CriterionSpec, ...] = ()
    source: str = ""
    pairwise: bool = False
    pair_points: int = 3
    pair_both_bad: bool = False
    outputs_at_once: int = 2
    best_worst: bool = False


def _asked(name: str, low: int, high: int, question: str, low_label: str, high_label: str, **more: Any) -> CriterionSpec:
    return CriterionSpec(name, low, high, low_label, high_label, question, **more)


def _marked(name: str, question: str, categories: list[list] | None = None, source: bool = True) -> CriterionSpec:
    settings = {"severities": ESA_SEVERITIES, "categories": categories or [], "source": source}
    return CriterionSpec(name, 0, HIGHEST, description=question, kind="spans", best="low", settings=settings)


SLIDER = {"slider": True}
LAST_TURN = {"turn": "last"}
STEPS = """
1. Read the {source} first, then the {text}.
2. Answer each question by itself: a {text} may be good in one respect and poor in another.
3. Use the whole scale. Where two of them seem equally good, give them the same score.
4. Longer is not better. Judge what is there, not how much of it there is.

Report a {text} as broken where it can't be read at all.
"""
MEANINGS = {
    "0": "No meaning preserved",
    "33": "Some meaning preserved",
    "67": "Most meaning preserved and few grammar mistakes",
    "100": "Perfect meaning and grammar",
}


def _direct_assessment(name: str) -> CriterionSpec:
    question = "How much of the source's meaning does it keep, and how good is its grammar?"
    return _asked(name, 0, 100, question, "worst", "best", settings=SLIDER, anchors=MEANINGS)


MARKING = """You see a source text and a translation of it. You need to read both languages well.

1. Read the source first, then the translation.
2. Select what is wrong in the translation, no more than the words concerned, and choose {what}.
3. Where something of the source is missing, mark it in the source.
4. Mark each error once. If there is none, say so.
"""
MINOR_MAJOR_SCORE = """
- **Minor**: it reads less well, or says something slightly otherwise; nobody is misled.
- **Major**: the meaning changes, or it can't be understood.

Then give a score from 0 to 100 to the translation as a whole."""
MQM_OF_TWO = [[name, {s: weight for s, weight in own.items() if s != "critical"}] for name, own in MQM_CATEGORIES]

# Pagnoni et al. 2021, table 1.
UNFAITHFUL: list[list] = [
    [name, {}]
    for name in ("Relation", "Entity", "Circumstance", "Coreference", "Discourse link", "Out of article", "Grammar", "Other")
]

RANKING = """You see one request or source, and several texts that answer it.

1. Read the request first, then all the texts to the end.
2. {what}
3. Longer is not better, and the first text is as likely to be good as the last one.

Report an item as broken where one of its texts can't be read at all.
"""

TEMPLATES = {
    "dialogue": Template(
        "Dialogue quality",
        "How good is the next reply of a conversation?",
        "You see a conversation and a reply that continues it.\n" + STEPS.format(source="conversation", text="reply"),
        (
            _asked("Overall", 1, 5, "What is your overall impression of the reply?", "very bad", "very good"),
            _asked("Understandable", 0, 1, "Is the reply understandable, given the conversation?", "no", "yes"),
            _asked("Natural", 1, 3, "Does it seem to be something that a person would naturally say?", "no", "yes"),
            _asked("Maintains context", 1, 3, "Is it a valid continuation of the conversation?", "no", "yes"),
            _asked("Interesting", 1, 3, "Is it dull or interesting?", "dull", "interesting"),
        ),
        "USR: Mehri and Eskenazi (2020), ACL; without its question about a given fact",
    ),
    "dialogue-by-turn": Template(
        "Dialogue by turn",
        "How good is each turn of a system in its conversation, and the conversation as a whole? Asked turn by turn.",
        """You see a conversation between a user and a system, one turn of the system at a time.

1. Read what was said before, then the marked turn of the system.
2. Judge the marked turn alone. An earlier turn that was bad does not make this one bad.
3. At the last turn you are also asked about the conversation as a whole: think of all the system's turns.
4. Use the whole scale. Longer is not better.

Report a turn as broken where it can't be read at all.
""",
        (
            _asked("Relevant", 1, 3, "Does this turn fit what was said before?", "no", "yes"),
            _asked("Understandable", 0, 1, "Is this turn understandable?", "no", "yes"),
            _asked("Turn overall", 1, 5, "What is your overall impression of this turn?", "very bad", "very good"),
            _asked(
                "Coherent", 1, 3, "Does the conversation hang together, from its beginning on?", "no", "yes", asked_if=LAST_TURN
            ),
            _asked(
                "Conversation overall",
                1,
                5,
                "What is your overall impression of the whole conversation?",
                "very bad",
                "very good",
                asked_if=LAST_TURN,
            ),
        ),
        "Some of the qualities of turns and of dialogues in FED, Mehri and Eskenazi (2020), SIGDIAL; the questions are ours",
    ),
    "summarisation": Template(
        "Summarisation",
        "How good is a summary of a document?",
        "You see a document and a summary of it.\n" + STEPS.format(source="document", text="summary"),
        (
            _asked(
                "Coherence", 1, 5, "Do its sentences build a well-structured, well-organised whole?", "very poor", "very good"
            ),
            _asked("Consistency", 1, 5, "Does the document support every fact of the summary?", "very poor", "very good"),
            _asked("Fluency", 1, 5, "Is each sentence well written and free of errors?", "very poor", "very good"),
            _asked(
                "Relevance", 1, 5, "Does it hold what is important in the document, and only that?", "very poor", "very good"
            ),
        ),
        "SummEval: Fabbri et al. (2021), TACL 9",
    ),
    "summarisation-faithfulness": Template(
        "Summary, what the document does not support",
        "Which words of a summary are not supported by its document, each with the kind of error.",
        """You see a document and a summary of it.

1. Read the document first, then the summary.
2. Select what the document does not support, no more than the words concerned, and choose a severity and the kind of error.
3. Judge by the document alone, not by what you know.
4. Mark each error once. If there is none, say so.

- **Minor**: nobody is misled about what the document says.
- **Major**: the reader would believe something that the document does not say.
""",
        (_marked("Faithfulness", "Mark what the document does not support.", UNFAITHFUL, source=False),),
        "Kinds of factual errors: FRANK, Pagnoni et al. (2021), NAACL; the weights are those of ESA",
    ),
    "translation": Template(
        "Translation",
        "How well does a translation say what the source says?",
        "You see a source text and a translation of it. You need to read both languages well.\n"
        + STEPS.format(source="source", text="translation")
        + "\nThe scales run from 0 (I strongly disagree) to 100 (I strongly agree).\n",
        (
            _asked(
                "Adequacy",
                0,
                100,
                "The translation adequately expresses the meaning of the source.",
                "not at all",
                "perfectly",
                settings=SLIDER,
            ),
            _asked(
                "Fluency", 0, 100, "The translation is fluent text in its language.", "not at all", "perfectly", settings=SLIDER
            ),
        ),
        "Direct assessment at WMT: Graham et al. (2017), Natural Language Engineering 23; Bojar et al. (2016), WMT",
    ),
    "translation-0-100": Template(
        "Translation, one score from 0 to 100",
        "How good is a translation, in one number? As WMT asks it.",
        "You see a source text and a translation of it. You need to read both languages well.\n"
        + STEPS.format(source="source", text="translation"),
        (_direct_assessment("Quality"),),
        "WMT22, direct assessment with labelled marks (DA+SQM): Kocmi et al. (2022)",
    ),
    "translation-esa": Template(
        "Translation, error spans (ESA)",
        "What is wrong in a translation, marked as minor or major, and then a score. As WMT asks it.",
        MARKING.format(what="minor or major")
        + MINOR_MAJOR_SCORE
        + """ The errors that you marked help you to decide; the score need not
follow from their number.
""",
        (_marked("Errors", "Mark what is wrong in the translation."), _direct_assessment("Score")),
        "Error span annotation at WMT: Kocmi et al. (2024), WMT24",
    ),
    "translation-esa-ai": Template(
        "Translation, error spans gone through again (ESA-AI)",
        "Errors that a program or an earlier reader marked are kept, changed, removed or added to; then a score.",
        MARKING.format(what="minor or major")
        + """
Some errors may be marked already, by a program or by somebody before you. These marks may be wrong, and may miss errors: read
the whole translation, then keep, change or remove each mark, and add what is missing.
"""
        + MINOR_MAJOR_SCORE
        + "\n",
        (_marked("Errors", "Go through the marked errors, and mark what is missing."), _direct_assessment("Score")),
        "ESA-AI: Zouhar et al. (2025), NAACL; error span annotation at WMT: Kocmi et al. (2024), WMT24",
    ),
    "translation-mqm": Template(
        "Translation, errors with categories (MQM)",
        "What is wrong in a translation, each error with a category and a severity. Its score is the sum of their weights.",
        MARKING.format(what="a severity and a category")
        + """
- **Minor** (weight 1; minor punctuation 0.1): it is noticed, and misleads nobody.
- **Major** (weight 5): it confuses or misleads, or changes the meaning.

Choose the most specific category that fits. If the whole text has nothing to do with the source, or is garbled, mark all of it
once as Non-translation (weight 25). If there are more than five errors, mark the five most severe ones.
""",
        (_marked("MQM", "Mark what is wrong in the translation, with a severity and a category.", MQM_OF_TWO),),
        "MQM at WMT: Freitag et al. (2021), TACL 9, with its categories and weights",
    ),
    "instructions": Template(
        "Instruction following",
        "How well does an assistant do what it is asked? Scores, and pairs of replies.",
        "You see what somebody asked of an assistant, and a reply.\n"
        + STEPS.format(source="request", text="reply")
        + "\nA reply that misleads or harms is not good, however well it is written.\n",
        (
            _asked("Overall", 1, 7, "How good is the reply as a whole?", "very bad", "very good"),
            _asked("Follows the instruction", 0, 1, "Does it do what was asked, with every constraint?", "no", "yes"),
            _asked("Truthful", 0, 1, "Is everything that it states true, or supported by the request?", "no", "yes"),
            _asked("Harmless", 0, 1, "Is it free of what insults, misleads or endangers people?", "no", "yes"),
        ),
        "After InstructGPT: Ouyang et al. (2022), NeurIPS, with its scale of overall quality and its yes-or-no questions",
        pairwise=True,
    ),
    "story": Template(
        "Story",
        "How good is a story that was written for a prompt?",
        "You see a prompt and a story written for it.\n" + STEPS.format(source="prompt", text="story"),
        (
            _asked("Relevance", 1, 5, "How well does the story match its prompt?", "not at all", "perfectly"),
            _asked("Coherence", 1, 5, "How much does the story make sense?", "none", "perfect sense"),
            _asked("Empathy", 1, 5, "How well did you understand the characters' emotions?", "not at all", "very well"),
            _asked("Surprise", 1, 5, "How surprising was the end of the story?", "not at all", "very"),
            _asked("Engagement", 1, 5, "How much did you engage with the story?", "not at all", "very much"),
            _asked("Complexity", 1, 5, "How elaborate is the story?", "very simple", "very elaborate"),
        ),
        "HANNA: Chhun et al. (2022), COLING",
    ),
    "data-to-text": Template(
        "Data to text",
        "How well does a text say what a meaning representation holds?",
        "You see data (a meaning representation) and a text that is to say them.\n" + STEPS.format(source="data", text="text"),
        (
            _asked("Naturalness", 1, 6, "Could the utterance have been produced by a native speaker?", "no", "surely"),
            _asked("Quality", 1, 6, "Is the utterance grammatically correct and fluent?", "not at all", "perfectly"),
            _asked(
                "Informativeness",
                1,
                6,
                "Does the utterance provide all the useful information from the meaning representation?",
                "none of it",
                "all of it",
            ),
        ),
        "Novikova et al. (2017), EMNLP, with the questions of the three-head BERT evaluator",
    ),
    "pairs": Template(
        "Pairs only",
        "Which of two outputs is better: A, tie or B?",
        """You see two outputs for the same input.

1. Read the input first, then both outputs to the end.
2. Choose the one that you would rather have received. Choose a tie where neither is better.
3. Longer is not better, and the left one is as likely to be good as the right one.

Report a pair as broken where one of the two can't be read at all.
""",
        pairwise=True,
    ),
    "preference": Template(
        "Assistants, how much better",
        "Which of two replies is better, and how much? Both may be bad.",
        """You see what somebody asked of an assistant, and two replies.

1. Read the request first, then both replies to the end.
2. Choose the one that you would rather have received, and say whether it is much or only slightly better.
3. Choose a tie where neither is better, and "Both are bad" where you would want neither.
4. Longer is not better, and the left one is as likely to be good as the right one.

Report a pair as broken where one of the two can't be read at all.
""",
        pairwise=True,
        pair_points=5,
        pair_both_bad=True,
    ),
    "ranking": Template(
        "Ranking of up to five",
        "Which of up to five texts is the best, the second best, and so on? Ties are allowed.",
        RANKING.format(what="Give each text a place: 1 is the best. Texts that are equally good have the same place."),
        pairwise=True,
        outputs_at_once=5,
    ),
    "best-worst": Template(
        "Best-worst of five",
        "Which of up to five texts is the best, and which the worst?",
        RANKING.format(what="Choose the text that you would like most to receive, and the one you would like least."),
        pairwise=True,
        outputs_at_once=5,
        best_worst=True,
    ),
}


def template_named(name: str) -> Template:
    """Raises Refused where there is none of this name."""
    if name not in TEMPLATES:
        raise Refused(f"There is no template {name!r}; there are: {', '.join(TEMPLATES)}.")
    return TEMPLATES[name]


def settings_of(template: Template) -> dict[str, Any]:
    """What `lifecycle.create_campaign` is given to make a campaign from it, but for slug and title."""
    return {
        "guidelines": template.guidelines,
        "criteria": list(template.criteria),
        "likert": bool(template.criteria),
        "pairwise": template.pairwise,
        "pair_points": template.pair_points,
        "pair_both_bad": template.pair_both_bad,
        "outputs_at_once": template.outputs_at_once,
        "best_worst": template.best_worst,
    }
