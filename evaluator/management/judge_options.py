"""Options that set up judges which no page may: programs, reward models, COMET, and a language model over HTTP."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.models import Campaign
from core.errors import Refused
from evaluator import model_settings, prompts
from evaluator.judges import protocol
from evaluator.judges.endpoint import KEY_VARIABLE
from evaluator.judges.jury import WAYS
from evaluator.judges.language_model import UNJUDGED
from evaluator.metrics.inputs import MODELS, ModelSource
from evaluator.metrics.registry import METRICS
from evaluator.models import Judge
from evaluator.roster import jury_of, set_up

REPEATED = (
    "judge_command",
    "pair_judge_command",
    "reward_model",
    "comet",
    "language_model",
    "url",
    "key",
    "calls",
    "money",
    "price",
    "free_form",
    "connections",
    "rate",
    "unjudged",
    "reply_tokens",
    "extra_body",
    "prompt",
    "examples",
    "with_references",
    "jury",
    "by",
    "pairs",
    "encoder",
    "masked",
    "causal",
    "pooling",
)  # what gives the same judges again
Kind = Judge.Kind


@dataclass(frozen=True)
class Option:
    """A judge that the options name: its kind, its name, and how it is asked."""

    kind: str
    name: str
    settings: dict[str, Any]
    asked: prompts.Asked | None = None  # of a language model


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
    parser.add_argument("--language-model", metavar="MODEL", help="name of a language model at --url")
    parser.add_argument("--url", help="address of a server with OpenAI's chat completions API, including /v1")
    parser.add_argument(
        "--key",
        default=KEY_VARIABLE,
        metavar="VARIABLE",
        help="name of the environment variable of workers that holds the key; the key itself is stored nowhere",
    )
    parser.add_argument("--calls", type=int, help="maximum number of requests to the language model, ever; required")
    parser.add_argument("--money", type=float, help="maximum cost of the language model, ever, by --price")
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
    parser.add_argument("--connections", type=int, default=16, help="requests to the language model at once; default: 16")
    parser.add_argument("--rate", type=float, help="most requests to the language model in a second")
    parser.add_argument(
        "--unjudged",
        type=float,
        default=UNJUDGED,
        help="share of pairs that a language model may leave unjudged; default: 0.05",
    )
    parser.add_argument(
        "--reply-tokens", type=int, help="longest reply of a language model in tokens; a reply that is cut off gets more"
    )
    parser.add_argument(
        "--extra-body",
        metavar="JSON",
        help="an object whose fields each request to the language model carries besides; boards show it: no secret",
    )
    parser.add_argument("--free-form", action="store_true", help="for servers that do not support response_format")
    parser.add_argument(
        "--prompt",
        metavar="NAME",
        help="what a language model is asked: pairwise (default), five-point, score, one of the campaign's, or NAME.md",
    )
    parser.add_argument(
        "--examples", type=int, default=0, metavar="K", help="show the language model K of people's answers, of other contexts"
    )
    parser.add_argument(
        "--with-references", action="store_true", help="show the language model what people wrote for the same context"
    )
    parser.add_argument("--jury", nargs="+", metavar="NAME", help="several judges of the campaign that answer together")
    parser.add_argument("--by", choices=WAYS, help="how a jury answers: mean of probabilities (default), or vote")
    parser.add_argument(
        "--replies", metavar="FILE", help="a file of replies from an earlier run, which are not asked for again"
    )


def add_model_arguments(parser) -> None:
    """Models for the metrics that need one: further options than those of `add_arguments`."""
    for need, reads in (
        ("encoder", "an encoder"),
        ("masked", "a masked language model"),
        ("causal", "a causal language model"),
    ):
        parser.add_argument(
            f"--{need}",
            action="extend",
            nargs="+",
            metavar="MODEL",
            help=f"{reads} for the metrics that need one: a folder, or a name on the hub; several give a row each",
        )
    parser.add_argument(
        "--pooling",
        choices=("mean", "cls", "last"),
        help="how --encoder makes one vector of a text; default: as its files say, else by its family",
    )


def models_of(given: dict) -> dict[str, list[ModelSource]]:
    """{need: models}, of the options that name any. Raises Refused where two have one name."""
    found = {}
    if given["pooling"] and not given["encoder"]:
        raise Refused("--pooling is for encoders: name one with --encoder.")
    for need in MODELS:
        sources = [str(Path(one).absolute()) if Path(one).is_dir() else one for one in given[need] or ()]
        names = [Path(one).name for one in sources]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise Refused(f"--{need}: two models are called {twice[0]!r}; rename a folder, since rows have the model's name.")
        if sources:
            pooling = given["pooling"] or "" if need == "encoder" else ""
            found[need] = [ModelSource(source, pooling) for source in sources]
    return found


def metrics_of(given: dict, names: Sequence[str] = ()) -> list[Option]:
    """Metrics with the models that the options name: these metrics, or all that read with such models. Raises Refused where
    one of them reads with none that is named."""
    models = models_of(given)
    if unknown := [name for name in names if name not in METRICS]:
        raise Refused(f"There is no metric {unknown[0]!r}; there are: {', '.join(METRICS)}.")
    if idle := [name for name in names if METRICS[name].model not in models]:
        named = ", ".join(f"--{need}" for need in models)
        raise Refused(f"The metric {idle[0]!r} does not read with {named or 'a model; name one with --encoder'}.")
    chosen = names or [name for name, metric in METRICS.items() if metric.model in models]
    return [
        Option(Kind.MODEL_METRIC, one.named(name), {"metric": name, "model": one.source, "pooling": one.pooling})
        for name in chosen
        for one in models[METRICS[name].model]
    ]


def options_of(given: dict, campaign: Campaign) -> list[Option]:
    """The judges that the options name. Raises Refused where an option lacks another."""
    found: list[Option] = []
    timeout = given["timeout"]
    for option, reads, name in (("judge_command", "pointwise", "program"), ("pair_judge_command", "pairwise", "pair program")):
        if (command := given[option]) is not None:
            found.append(Option(Kind.PROGRAM, name, {"command": command, "reads": reads, "timeout": timeout}))
    if model := given["reward_model"]:
        source = str(Path(model).resolve()) if Path(model).is_dir() else model
        found.append(Option(Kind.REWARD_MODEL, Path(model).name, {"model": source}))
    if model := given["comet"]:
        name = f"comet {model.rsplit('/', 1)[-1]}"
        found.append(Option(Kind.PROGRAM, name, {"comet": model, "timeout": timeout}))
    if model := given["language_model"]:
        settings, asked = model_settings.settings_of(given), _asked(given, campaign)
        found.append(Option(Kind.LANGUAGE_MODEL, model, settings | prompts.settings_of(asked), asked))
    elif given["prompt"] or given["examples"] or given["with_references"]:
        raise Refused("--prompt, --examples and --with-references are for a language model: name one with --language-model.")
    if given["jury"]:
        found.append(Option(Kind.JURY, "jury", jury_of(campaign, given["jury"], given["by"] or WAYS[0])))
    elif given["by"]:
        raise Refused("--by is for a jury: name its judges with --jury.")
    return found


def set_up_judges(given: dict, campaign: Campaign, name: str = "", metrics: Sequence[Option] = ()) -> list[Judge]:
    """Their rows; name: of the one that is named, where it is not to have its own; metrics: of `metrics_of`."""
    found = [*options_of(given, campaign), *metrics]
    if name and len(found) > 1:
        raise Refused(f"One name fits one judge. You named: {', '.join(one.name for one in found)}.")
    for one in found:
        if one.asked and "prompt" in one.settings:
            prompts.keep(campaign, one.asked.file)
    rows = [set_up(campaign, one.kind, name or one.name, one.settings) for one in found]
    for row in rows:
        if row.kind == Kind.LANGUAGE_MODEL and given["replies"]:
            from evaluator.worker.replies import RowReplies

            RowReplies(row, _file(given["replies"])).keep_all()
    return rows


def players(given: dict, campaign: Campaign, criterion: str, seed: int, known: Any = None) -> list[tuple[str, protocol.Judge]]:
    """(name, judge at work) of those that the options name, set up for the campaign too; for a forecast nothing is stored.
    known: the `Material` of the snapshot that they are set beside."""
    from evaluator.worker.players import at_work

    if not given["forecast"]:
        return [(row.name, at_work(row, criterion, seed, known)) for row in set_up_judges(given, campaign)]
    return [(one.name, at_work(_row(campaign, one), criterion, seed, known)) for one in options_of(given, campaign)]


def model_words(given: dict) -> list[str]:
    """The options of `add_model_arguments` as they were typed."""
    return [word for name in (*MODELS, "pooling") if given[name] for word in _typed(name, given[name])]


def words(given: dict) -> list[str]:
    """The options that name these judges again, as they were typed."""
    of_model = given["language_model"] is not None
    usual = model_settings.DEFAULTS
    chosen = {name: given[name] for name in REPEATED if name not in usual or of_model and given[name] != usual[name]}
    return [word for name, value in chosen.items() if value not in (None, False) for word in _typed(name, value)]


def _typed(name: str, value: Any) -> list[str]:
    values = [] if value is True else [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
    return [f"--{name.replace('_', '-')}", *values]


def _row(campaign: Campaign, one: Option) -> Judge:
    """The stored one of these settings, whose replies are known, else one that is never stored."""
    digest = Judge.digest_of(one.kind, one.settings)
    known = campaign.judges.filter(kind=one.kind, digest=digest).first()
    if known:
        return known
    settings = dict(one.settings)
    if one.asked and "prompt" in settings:
        settings["prompt"] = {**settings["prompt"], "text": one.asked.file.text}
    return Judge(campaign=campaign, kind=one.kind, name=one.name, settings=settings, digest=digest)


def _asked(given: dict, campaign: Campaign) -> prompts.Asked:
    """A prompt whose name ends in .md is a file."""
    name, text = given["prompt"] or "", ""
    if name.endswith(".md"):
        try:
            text = _file(name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            raise Refused(f"{name} is no text in UTF-8.") from None
        if not text.strip():
            raise Refused(f"{name} is empty.")
        name = Path(name).stem
    return prompts.asked(campaign, name, text, given["examples"], given["with_references"])


def _file(name: str) -> Path:
    path = Path(name)
    if not path.exists():
        raise Refused(f"There is no file {name!r}.")
    return path
