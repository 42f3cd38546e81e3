"""The Human Evaluation Datasheet 3.0 (Belz and Thomson 2024, arXiv 2412.07940), filled in as far as the campaign knows: the
JSON that the form at https://nlp-heds.github.io uploads. An element of the form is its id with {data: {criterion: value}}."""

import json
from typing import Any

from annotation.assessment.datasheet import datasheet
from annotation.models import Campaign, Snapshot

TO_BE_WRITTEN = "To be written."
SAMPLE, WHO = "heds-sample_evaluators_design-sample", "heds-sample_evaluators_design-evaluators"
DESIGN = "heds-sample_evaluators_design-experimental_design"
PAPER, SYSTEM, ETHICS = "heds-paper_and_resources", "heds-system", "heds-ethics"
NAMES = f"{PAPER}-names_and_affiliations"
MANY = "heds-criteria-criterion"
ASKED = f"{MANY}-response_elicitation"
# {element: (number of its question in the form, number of the question in the campaign's datasheet; empty: not known there)}
TEXTS = {
    f"{PAPER}-paper-experiment_identification": ("1.1.2", ""),
    **{
        f"{NAMES}-{who}-{what}": (f"1.3.{n}.{m}", "")
        for n, who in enumerate(("person_completing_this_sheet", "contact_author"), start=1)
        for m, what in enumerate(("name", "affiliation", "email"), start=1)
    },
    f"{SAMPLE}-number_of_system_outputs": ("3.1.1", "3.1.1"),
    f"{SAMPLE}-statistical_power-method": ("3.1.3.1", ""),
    f"{SAMPLE}-statistical_power-value": ("3.1.3.2", "3.1.3"),
    f"{SAMPLE}-statistical_power-script": ("3.1.3.3", ""),
    f"{WHO}-number_of_evaluators": ("3.2.1", "3.2.1"),
    f"{WHO}-recruitment_method": ("3.2.3", "3.2.3"),
    f"{WHO}-training_practice": ("3.2.4", "3.2.4"),
    f"{WHO}-characteristics": ("3.2.5", "3.2.5"),
    f"{DESIGN}-collection_method": ("3.3.2", "3.3.2"),
    f"{DESIGN}-quality_assurance-description": ("3.3.3.2", "3.3.3"),
    f"{DESIGN}-what_evaluators_see-link": ("3.3.4.1", ""),
    f"{DESIGN}-what_evaluators_see-description": ("3.3.4.2", "3.3.4"),
    f"{DESIGN}-evaluators_place_of_choosing": ("3.3.8", "3.3.8"),
    f"{ETHICS}-review_body": ("5.1", "5.1"),
    f"{ETHICS}-impact_assessments": ("5.4", "5.4"),
}
TEXTS_OF_CRITERION = {
    f"{ASKED}-qc_name-participant_criterion_name": ("4.3.1.1", "4.3.1"),
    f"{ASKED}-qc_name-mapped_criterion_name": ("4.3.1.2", ""),
    f"{ASKED}-participant_criterion_definiiton": ("4.3.2", "4.3.2"),  # as the form writes it
    f"{ASKED}-size_of_scale": ("4.3.3", "4.3.3"),
    f"{ASKED}-list_or_range": ("4.3.4", "4.3.4"),
    f"{ASKED}-task_description": ("4.3.6", "4.3.6"),
    f"{ASKED}-verbatim_question": ("4.3.7", "4.3.7"),
    f"{ASKED}-response_aggregation": ("4.3.9", "4.3.9"),
    f"{ASKED}-effect_size_method": ("4.3.10", "4.3.10"),
    f"{ASKED}-inter_annotator-agreement": ("4.3.11.1", ""),
    f"{ASKED}-inter_annotator-agreement_score": ("4.3.11.2", "4.3.11"),
    f"{ASKED}-intra_annotator-intra_annotator_agreement": ("4.3.12.1", ""),
    f"{ASKED}-intra_annotator-intra_annotator_agreement_score": ("4.3.12.2", ""),
}
# What the datasheet's answer chooses among a question's options: {(number, how the answer begins): (element, number, its text)}
CHOICES = {
    ("2.1", "text: dialogue"): (f"{SYSTEM}-input_types-8", "2.1", "8. Text: dialogue"),
    ("3.3.7", "At a place"): (
        f"{DESIGN}-experimental_conditions-1",
        "3.3.7",
        "1. Evaluators carry out assessments at a place of their own choosing",
    ),
    ("4.2.1", "Subjective"): (f"{MANY}-evaluation_mode-objective_or_subjective-2", "4.2.1", "2. Subjective"),
    ("4.2.2", "Absolute"): (f"{MANY}-evaluation_mode-absolute_or_relative-1", "4.2.2", "1. Absolute"),
    ("4.2.2", "Relative"): (f"{MANY}-evaluation_mode-absolute_or_relative-2", "4.2.2", "2. Relative"),
    ("4.3.5", "Multiple-choice"): (f"{ASKED}-scale_presented_as-1", "4.3.5", "1. Multiple-choice options"),
    ("4.3.8", "direct"): (f"{ASKED}-form_of_response-2", "4.3.8", "2. Direct quality estimation"),
    ("4.3.8", "relative"): (f"{ASKED}-form_of_response-3", "4.3.8", "3. Relative quality estimation (including ranking)"),
}


def form(campaign: Campaign, snapshot: Snapshot) -> dict[str, Any]:
    """{element of the form: its content}; what the campaign does not know is said to be written."""
    answers: dict[str, str] = {}  # by number; of section 4 "4a.3.1", "4b.3.1", ...
    for one in datasheet(campaign, snapshot):
        if one.answer:
            answers.setdefault(one.number, one.answer)
    letters = sorted({number.partition(".")[0] for number in answers if number.startswith("4")})
    names = {letter: _named(answers[f"{letter}.3.1"]) for letter in letters}
    found: dict[str, Any] = {}
    simulated = "SIMULATED: programs gave some or all of these answers. " if snapshot.is_simulated else ""
    for element, (number, known) in TEXTS.items():
        text = answers.get(known, TO_BE_WRITTEN)
        found[element] = _text(number, {"": simulated + text if number == "3.2.1" else text})
    found[MANY] = {"data": {}, "control": {name: name == next(iter(names.values())) for name in names.values()}, "text": {}}
    for element, (number, known) in TEXTS_OF_CRITERION.items():
        said = {
            name: answers.get(letter + known[1:], TO_BE_WRITTEN) if known else TO_BE_WRITTEN for letter, name in names.items()
        }
        found[element] = _text(number, said)
    for (number, start), (element, shown, text) in CHOICES.items():
        keys = {"": number} if not number.startswith("4") else {name: letter + number[1:] for letter, name in names.items()}
        chosen = [key for key, of in keys.items() if answers.get(of, "").startswith(start)]
        if chosen:
            found[element] = _text(shown, dict.fromkeys(chosen, True)) | {"text": dict.fromkeys(chosen, text)}
    return found


def _named(name: str) -> str:
    """A criterion's name as the form's key; pairs on the whole have none."""
    return "Pairs" if name.startswith("N/A") else name


def _text(number: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"data": data, "control": {}, "number": number}


def files(campaign: Campaign, snapshot: Snapshot) -> dict[str, bytes]:
    return {"heds.json": (json.dumps(form(campaign, snapshot), ensure_ascii=False, indent=4) + "\n").encode()}
