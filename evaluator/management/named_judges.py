"""Options that name judges from elsewhere: programs, reward models, COMET, and a language model over HTTP."""

import os
from pathlib import Path

from annotation.models import Campaign
from core.errors import Refused
from evaluator.judges.comet import CometJudge
from evaluator.judges.endpoint import KEY_VARIABLE, Endpoint, Price
from evaluator.judges.language_model import LanguageModelJudge
from evaluator.judges.program import ProgramJudge, ProgramPairJudge
from evaluator.judges.prompt import Prompt
from evaluator.judges.protocol import Judge
from evaluator.judges.replies import Replies

REPEATED = (
    "judge_command",
    "pair_judge_command",
    "reward_model",
    "comet",
    "language_model",
    "url",
    "pairs",
)  # what gives the same judges again


def add_arguments(parser) -> None:
    parser.add_argument(
        "--judge-command", metavar="CMD", help="a program: reads {id, context, output, references}, writes {id, score}"
    )
    parser.add_argument(
        "--pair-judge-command",
        metavar="CMD",
        help="a program: reads {id, context, output_a, output_b, references}, writes {id, a, tie, b}",
    )
    parser.add_argument(
        "--reward-model", metavar="MODEL", help="a reward model or cross-encoder: a folder, or a name on the hub"
    )
    parser.add_argument("--comet", metavar="MODEL", help="a COMET model, run by COMET's own command comet-score")
    parser.add_argument("--timeout", type=float, default=3600.0, help="time limit of a program, in seconds")
    parser.add_argument(
        "--language-model", metavar="MODEL", help=f"name of a language model at --url; the key is read from {KEY_VARIABLE}"
    )
    parser.add_argument("--url", help="address of a server with OpenAI's chat completions API, including /v1")
    parser.add_argument("--calls", type=int, help="maximum number of requests to the language model; required")
    parser.add_argument(
        "--price",
        type=float,
        nargs=2,
        metavar=("READ", "WRITE"),
        default=(0.0, 0.0),
        help="prices per million tokens, to estimate the cost",
    )
    parser.add_argument(
        "--forecast", action="store_true", help="estimate the cost of the language model without sending a request"
    )
    parser.add_argument("--free-form", action="store_true", help="for servers that do not support response_format")
    parser.add_argument("--replies", metavar="FILE", help="file that keeps the language model's replies; default: in DATA_DIR")


def judges(
    options: dict, campaign: Campaign, criterion: str, references: dict, seed: int, kept: Path
) -> list[tuple[str, Judge]]:
    """(name, judge) of those that the options name; kept: where a language model's replies lie by default."""
    found: list[tuple[str, Judge]] = []
    if (command := options["judge_command"]) is not None:
        found.append(("program", ProgramJudge(command, references, options["timeout"])))
    if (command := options["pair_judge_command"]) is not None:
        found.append(("pair program", ProgramPairJudge(command, references, options["timeout"])))
    if options["reward_model"]:
        from evaluator.metrics.reward_model import RewardModel

        reward_model = RewardModel.load(options["reward_model"])
        found.append((reward_model.name, reward_model))
    if options["comet"]:
        found.append((f"comet {options['comet'].rsplit('/', 1)[-1]}", CometJudge(options["comet"], options["timeout"])))
    if options["language_model"]:
        found.append((options["language_model"], _language_model(options, campaign, criterion, seed, kept)))
    return found


def words(options: dict) -> list[str]:
    """The options that name these judges again, as they were typed."""
    given = {name: options[name] for name in REPEATED if options[name] is not None}
    return [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def _language_model(options: dict, campaign: Campaign, criterion: str, seed: int, kept: Path) -> LanguageModelJudge:
    if not options["url"]:
        raise Refused("A language model needs an address: give --url, including /v1.")
    if options["calls"] is None and not options["forecast"]:
        raise Refused("Set the maximum number of requests with --calls; --forecast shows how many are needed.")
    endpoint = Endpoint(options["url"], os.environ.get(KEY_VARIABLE, ""), options["calls"])
    replies = Replies(Path(options["replies"]) if options["replies"] else kept)
    constrained = not options["free_form"]
    prompt = _prompt(campaign, criterion)
    return LanguageModelJudge(
        endpoint, options["language_model"], prompt, replies, Price(*options["price"]), seed, constrained=constrained
    )


def _prompt(campaign: Campaign, criterion: str) -> Prompt:
    """With what annotators read: the guidelines, and what the criterion and its points mean."""
    known = campaign.criteria.filter(name=criterion).first()
    if known is None:
        return Prompt(campaign.guidelines, criterion)
    points = {str(known.low): known.low_label, str(known.high): known.high_label} | known.anchors
    scale = "; ".join(f"{point} means {label}" for point, label in sorted(points.items()) if label)
    return Prompt(campaign.guidelines, criterion, " ".join(part for part in (known.description, scale) if part))
