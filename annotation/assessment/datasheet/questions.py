"""The questions of the Human Evaluation Datasheet 3.0 (Belz and Thomson 2024, arXiv 2412.07940), shortened, with the numbers,
options and ids of its form (https://nlp-heds.github.io, commit 3239cd3). Questions on a criterion are asked once for each."""

from dataclasses import dataclass

SECTIONS = {
    "1": "Paper and resources",
    "2": "Systems",
    "3.1": "Sample of outputs",
    "3.2": "Evaluators",
    "3.3": "Design",
    "4": "Quality criterion",
    "5": "Ethics",
}
MOST_CHARACTERS = 2000  # of an answer in words


@dataclass(frozen=True)
class HedsQuestion:
    """element: its id in the form. options: as the form has them, each with its number; an answer names them by their places,
    from 1. several: may more than one be chosen? explained: those that the form wants words for. is_short: one line."""

    number: str
    words: str
    element: str
    options: tuple[str, ...] = ()
    several: bool = False
    explained: tuple[int, ...] = ()
    is_short: bool = False

    @property
    def by_criterion(self) -> bool:
        return self.number.startswith("4.")

    @property
    def section(self) -> str:
        """A key of SECTIONS."""
        return self.number[:3] if self.number.startswith("3.") else self.number[:1]

    @property
    def choices(self) -> list[tuple[int, str]]:
        """(place, the option without its number)"""
        return [(place, option.partition(". ")[2]) for place, option in enumerate(self.options, start=1)]


PAPER, SYSTEM, ETHICS = "heds-paper_and_resources", "heds-system", "heds-ethics"
SAMPLE, WHO = "heds-sample_evaluators_design-sample", "heds-sample_evaluators_design-evaluators"
DESIGN = "heds-sample_evaluators_design-experimental_design"
COMPLETING = f"{PAPER}-names_and_affiliations-person_completing_this_sheet"
AUTHOR = f"{PAPER}-names_and_affiliations-contact_author"
CRITERIA = "heds-criteria-criterion"
ASKED = f"{CRITERIA}-response_elicitation"
TEXTS = (
    "1. Raw/structured data",
    "2. Deep linguistic representation (DLR)",
    "3. Shallow linguistic representation (SLR)",
    "4. Text: subsentential unit of text",
    "5. Text: sentence",
    "6. Text: multiple sentences",
    "7. Text: document",
    "8. Text: dialogue",
    "9. Text: other (please describe)",
    "10. Speech",
    "11. Visual",
    "12. Multi-modal",
)
TASKS = (
    "1. Content selection/determination",
    "2. Content ordering/structuring",
    "3. Aggregation",
    "4. Referring expression generation",
    "5. Lexicalisation",
    "6. Deep generation",
    "7. Surface realisation (SLR to text)",
    "8. Feature-controlled text generation",
    "9. Data-to-text generation",
    "10. Dialogue turn generation",
    "11. Question generation",
    "12. Question answering",
    "13. Paraphrasing/lossless simplification",
    "14. Compression/lossy simplification",
    "15. Machine translation",
    "16. Summarisation (text-to-text)",
    "17. End-to-end text generation",
    "18. Image/video description",
    "19. Post-editing/correction",
    "20. Other (please describe)",
)
NOT_SURE = ("1. Yes", "2. No", "3. N/A (please explain).")
PERSONAL = (
    "1. No, personal data as defined by GDPR was neither evaluated nor collected.",
    "2. Yes, personal data as defined by GDPR was evaluated and/or collected",
)
SPECIAL = tuple(option.replace("personal", "special category") for option in PERSONAL)
QUESTIONS = [
    HedsQuestion(
        "1.1.1",
        "Where the paper that reports the experiment is",
        f"{PAPER}-paper-link",
        (
            "1. The main paper reporting the experiment is here (enter URL).",
            "2. An unpublished report describing the experiment can be found here (enter URL).",
            "3. No report describing the experiment is available and this sheet will be uploaded for preregistration here "
            "(enter URL).",
            "4. No report describing the experiment is available and preregistration is not planned.",
        ),
        explained=(1, 2, 3),
    ),
    HedsQuestion("1.1.2", "Which experiment of the paper this sheet is for", f"{PAPER}-paper-experiment_identification"),
    HedsQuestion(
        "1.2",
        "Where the resources used in the experiment are",
        f"{PAPER}-resources-links",
        ("1. The resources used in the experiment can be found here (enter URL(s)).", "2. No resources shared."),
        explained=(1,),
    ),
    HedsQuestion("1.3.1.1", "Name of the person completing this sheet", f"{COMPLETING}-name", is_short=True),
    HedsQuestion("1.3.1.2", "Affiliation of the person completing this sheet", f"{COMPLETING}-affiliation", is_short=True),
    HedsQuestion("1.3.1.3", "Email address of the person completing this sheet", f"{COMPLETING}-email", is_short=True),
    HedsQuestion("1.3.2.1", "Name of the contact author", f"{AUTHOR}-name", is_short=True),
    HedsQuestion("1.3.2.2", "Affiliation of the contact author", f"{AUTHOR}-affiliation", is_short=True),
    HedsQuestion("1.3.2.3", "Email address of the contact author", f"{AUTHOR}-email", is_short=True),
    HedsQuestion(
        "2.1",
        "Type of input of the evaluated systems",
        f"{SYSTEM}-input_types",
        (*TEXTS, "13. Control feature", "14. No input (please explain)", "15. Other (please describe)"),
        several=True,
        explained=(9, 14, 15),
    ),
    HedsQuestion(
        "2.2",
        "Type of output of the evaluated systems",
        f"{SYSTEM}-output_types",
        (*TEXTS, "14. No input (please explain)", "15. Other (please describe)"),  # the form has no 13 here
        several=True,
        explained=(9, 13, 14),
    ),
    HedsQuestion(
        "2.3", "Task that the evaluated systems perform", f"{SYSTEM}-tasks", TASKS, several=True, explained=(len(TASKS),)
    ),
    HedsQuestion("2.4", "Input language(s), in English, or N/A", f"{SYSTEM}-input_languages", is_short=True),
    HedsQuestion("2.5", "Output language(s), in English, or N/A", f"{SYSTEM}-output_languages", is_short=True),
    HedsQuestion("3.1.1", "How many outputs are evaluated per system", f"{SAMPLE}-number_of_system_outputs"),
    HedsQuestion(
        "3.1.2",
        "How outputs were selected",
        f"{SAMPLE}-system_output_selection",
        (
            "1. By simple automatic random selection",
            "2. By an automatic random process but using stratified sampling over given properties",
            "3. By non-random automatic selection",
            "4. By manual, arbitrary selection",
            "5. By manual selection aimed at achieving balance or variety relative to given properties",
            "6. Other (please describe)",
        ),
        explained=(6,),
    ),
    HedsQuestion(
        "3.1.3.1", "Method of the power analysis that chose the sample’s size, or N/A", f"{SAMPLE}-statistical_power-method"
    ),
    HedsQuestion("3.1.3.2", "Statistical power of the sample", f"{SAMPLE}-statistical_power-value"),
    HedsQuestion("3.1.3.3", "Where code of the power analysis is, or N/A", f"{SAMPLE}-statistical_power-script", is_short=True),
    HedsQuestion("3.2.1", "How many evaluators", f"{WHO}-number_of_evaluators"),
    HedsQuestion(
        "3.2.2.1", "Whether the evaluators are domain experts", f"{WHO}-evaluators-expertise", NOT_SURE, explained=(3,)
    ),
    HedsQuestion(
        "3.2.2.2",
        "Whether they were paid",
        f"{WHO}-evaluators-payment",
        (
            "1. Paid (monetary compensation)",
            "2. Paid (non-monetary compensation such as course credits)",
            "3. Not paid",
            "4. N/A (please explain).",
        ),
        explained=(4,),
    ),
    HedsQuestion(
        "3.2.2.3",
        "Whether the authors knew some of them before",
        f"{WHO}-evaluators-known_to_authors",
        NOT_SURE,
        explained=(3,),
    ),
    HedsQuestion(
        "3.2.2.4", "Whether some of the researchers are among them", f"{WHO}-evaluators-are_authors", NOT_SURE, explained=(3,)
    ),
    HedsQuestion("3.2.3", "How evaluators were recruited", f"{WHO}-recruitment_method"),
    HedsQuestion("3.2.4", "Training or practice before the evaluation", f"{WHO}-training_practice"),
    HedsQuestion("3.2.5", "Other characteristics of the evaluators", f"{WHO}-characteristics"),
    HedsQuestion(
        "3.3.1",
        "Whether the design was preregistered",
        f"{DESIGN}-preregistered",
        ("1. Yes (please provide link)", "2. No"),
        explained=(1,),
    ),
    HedsQuestion("3.3.2", "By what medium responses are collected", f"{DESIGN}-collection_method"),
    HedsQuestion(
        "3.3.3.1",
        "Types of quality assurance",
        f"{DESIGN}-quality_assurance-method",
        (
            "1. Evaluators are required to be native speakers of the language they evaluate.",
            "2. Automatic quality checking methods are used during and/or after evaluation",
            "3. Manual quality checking methods are used during/post evaluation",
            "4. Evaluators are excluded if they fail quality checks (often or badly enough)",
            "5. Some evaluations are excluded because of failed quality checks",
            "6. Other (please describe)",
            "7. None of the above (no quality assurance methods used)",
        ),
        several=True,
        explained=(6, 7),
    ),
    HedsQuestion("3.3.3.2", "Methods of quality assurance", f"{DESIGN}-quality_assurance-description"),
    HedsQuestion(
        "3.3.4.1", "Link to the form or interface that evaluators saw", f"{DESIGN}-what_evaluators_see-link", is_short=True
    ),
    HedsQuestion("3.3.4.2", "What evaluators see while they evaluate", f"{DESIGN}-what_evaluators_see-description"),
    HedsQuestion(
        "3.3.5",
        "How free evaluators are in when and how quickly to answer",
        f"{DESIGN}-evaluator_freedom",
        (
            "1. Evaluators must carry out the evaluation at a specific time/date",
            "2. Evaluators must complete each individual assessment within a set amount of time",
            "3. Evaluators must complete the whole evaluation within a set amount of time",
            "4. Evaluators must complete the whole evaluation in one sitting",
            "5. None of the above (please describe)",
        ),
        several=True,
        explained=(5,),
    ),
    HedsQuestion(
        "3.3.6",
        "Whether evaluators are told that they can ask or give feedback",
        f"{DESIGN}-evaluators_can_ask_questions",
        (
            "1. Evaluators can ask questions during the evaluation",
            "2. Evaluators are told they can ask any questions during the evaluation",
            "3. Evaluators provide feedback after the evaluation",
            "4. Other (please describe)",
            "5. None of the above",
        ),
        several=True,
        explained=(4,),
    ),
    HedsQuestion(
        "3.3.7",
        "Conditions in which evaluators work",
        f"{DESIGN}-experimental_conditions",
        (
            "1. Evaluators carry out assessments at a place of their own choosing",
            "2. Evaluators carry out assessments in a lab, and conditions are controlled to be the same for each evaluator.",
            "3. Evaluators carry out assessments in a lab, and conditions are not controlled to be the same for different "
            "evaluators.",
            "4. Evaluators carry out assessments in a real-life situation, and conditions are controlled to be the same for "
            "each evaluator",
            "5. Evaluators carry out assessments in a real-life situation, and conditions are not controlled to be the same "
            "for different evaluators.",
            "6. Evaluators carry out assessments outside of the lab, in a situation designed to resemble a real-life "
            "situation, and conditions are controlled to be the same for each evaluator",
            "7. Evaluators carry out assessments outside of the lab, in a situation designed to resemble a real-life "
            "situation, and conditions are not controlled to be the same for different evaluators.",
            "8. Other (please describe)",
        ),
        explained=(8,),
    ),
    HedsQuestion(
        "3.3.8",
        "How conditions vary between evaluators, or N/A if they are controlled",
        f"{DESIGN}-evaluators_place_of_choosing",
    ),
    HedsQuestion(
        "4.1.1",
        "Type of quality assessed",
        f"{CRITERIA}-criteria-quality_type",
        ("1. Correctness", "2. Goodness", "3. Feature"),
    ),
    HedsQuestion(
        "4.1.2",
        "Aspect of outputs assessed",
        f"{CRITERIA}-criteria-output_aspect",
        ("1. Form of output", "2. Content of output", "3. Both form and content of output"),
    ),
    HedsQuestion(
        "4.1.3",
        "Assessed in its own right or against a frame of reference",
        f"{CRITERIA}-criteria-self_vs_external_frame",
        (
            "1. Quality of output in its own right",
            "2. Quality of output relative to the input",
            "3. Quality of output relative to a system-external frame of reference",
        ),
    ),
    HedsQuestion(
        "4.2.1",
        "Objective or subjective",
        f"{CRITERIA}-evaluation_mode-objective_or_subjective",
        ("1. Objective", "2. Subjective"),
    ),
    HedsQuestion(
        "4.2.2", "Absolute or relative", f"{CRITERIA}-evaluation_mode-absolute_or_relative", ("1. Absolute", "2. Relative")
    ),
    HedsQuestion(
        "4.2.3",
        "Intrinsic or extrinsic",
        f"{CRITERIA}-evaluation_mode-intrinsic_or_extrinsic",
        ("1. Intrinsic", "2. Extrinsic"),
    ),
    HedsQuestion("4.3.1.1", "Name of the criterion, as evaluators see it", f"{ASKED}-qc_name-participant_criterion_name"),
    HedsQuestion(
        "4.3.1.2",
        "Its name in a standard list of criteria, with the paper, for example QCET’s",
        f"{ASKED}-qc_name-mapped_criterion_name",
        is_short=True,
    ),
    # the form's id is misspelt
    HedsQuestion("4.3.2", "Definition given to evaluators", f"{ASKED}-participant_criterion_definiiton"),
    HedsQuestion("4.3.3", "Size of the scale", f"{ASKED}-size_of_scale"),
    HedsQuestion("4.3.4", "Values of the scale", f"{ASKED}-list_or_range"),
    HedsQuestion(
        "4.3.5",
        "How the scale is presented",
        f"{ASKED}-scale_presented_as",
        (
            "1. Multiple-choice options",
            "2. Check-boxes",
            "3. Slider",
            "4. N/A (there is no rating instrument)",
            "5. Other (please describe)",
        ),
        explained=(5,),
    ),
    HedsQuestion("4.3.6", "Task, if there is no rating instrument", f"{ASKED}-task_description"),
    HedsQuestion("4.3.7", "Verbatim question or instruction", f"{ASKED}-verbatim_question"),
    HedsQuestion(
        "4.3.8",
        "Form of response elicitation",
        f"{ASKED}-form_of_response",
        (
            "1. (Dis)agreement with quality statement",
            "2. Direct quality estimation",
            "3. Relative quality estimation (including ranking)",
            "4. Counting occurrences in text",
            "5. Qualitative feedback (e.g. via comments entered in a text box)",
            "6. Evaluation through post-editing/annotation",
            "7. Output classification or labelling",
            "8. User-text interaction measurements",
            "9. Task performance measurements",
            "10. User-system interaction measurements",
            "11. Other (please describe)",
        ),
        explained=(11,),
    ),
    HedsQuestion("4.3.9", "How responses are aggregated", f"{ASKED}-response_aggregation"),
    HedsQuestion("4.3.10", "Effect size and significance", f"{ASKED}-effect_size_method"),
    HedsQuestion("4.3.11.1", "How agreement between evaluators was measured", f"{ASKED}-inter_annotator-agreement"),
    HedsQuestion("4.3.11.2", "Agreement between evaluators", f"{ASKED}-inter_annotator-agreement_score"),
    HedsQuestion(
        "4.3.12.1", "How agreement within evaluators was measured", f"{ASKED}-intra_annotator-intra_annotator_agreement"
    ),
    HedsQuestion("4.3.12.2", "Agreement within evaluators", f"{ASKED}-intra_annotator-intra_annotator_agreement_score"),
    HedsQuestion("5.1", "Which research ethics committee approved it, or that none did", f"{ETHICS}-review_body"),
    HedsQuestion("5.2", "Personal data in outputs or responses", f"{ETHICS}-personal_data", PERSONAL, explained=(2,)),
    HedsQuestion(
        "5.3", "Special category data in outputs or responses", f"{ETHICS}-special_category_data", SPECIAL, explained=(2,)
    ),
    HedsQuestion("5.4", "Impact assessments, or that there was none", f"{ETHICS}-impact_assessments"),
]
BY_NUMBER = {question.number: question for question in QUESTIONS}
