"""What a page offers before anything is asked: the judges that are set up, what each is asked, and what that would cost.

Torch is not needed for it, so a web process makes the same prompts as a worker (`prompt_of`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign, Criterion, Snapshot
from core.errors import Refused
from evaluator import model_settings, prompts
from evaluator.judges.endpoint import Endpoint, Price
from evaluator.judges.language_model import LONGEST_REPLY, UNJUDGED, CallForecast, Limits, ModelServer
from evaluator.judges.pairwise_model import LanguageModelJudge
from evaluator.judges.pointwise_model import LanguageModelScorer
from evaluator.judges.prompt import Prompt, Scale
from evaluator.judges.prompt_examples import Example, Examples
from evaluator.judges.replies import Replies
from evaluator.models import Judge
from evaluator.roster import SET_UP, set_up
from evaluator.trainings import sources
from evaluator.versions.selectors import basis


@dataclass(frozen=True)
class Offer:
    """prompt: all that is sent; forecast: of a table, where nothing is kept yet; left: requests of its budget; why: what stands
    in the way of a forecast."""

    name: str
    kind: str
    prompt: str = ""
    forecast: CallForecast | None = None
    left: int | None = None
    why: str = ""


def offers(campaign: Campaign, snapshot: Snapshot | None, criterion: str | None = None, seed: int = 0) -> list[Offer]:
    """Of all judges that are set up in the campaign."""
    rows = list(campaign.judges.filter(kind__in=SET_UP).select_related("campaign"))
    if not rows or snapshot is None:
        return [Offer(row.name, row.kind) for row in rows]
    chosen = basis(snapshot, criterion)
    source = None
    found = []
    for row in rows:
        if row.kind != Judge.Kind.LANGUAGE_MODEL:
            found.append(Offer(row.name, row.kind))
            continue
        source = source or sources.read(snapshot, chosen.criterion, chosen.judgments)
        found.append(_of_model(row, chosen.criterion, source, seed))
    return found


def _of_model(row: Judge, criterion: str, source: sources.Source, seed: int) -> Offer:
    calls = row.settings["budget"]["calls"]
    left = None if calls is None else max(calls - row.calls, 0)
    try:
        prompt = prompt_of(row, criterion, seed, source)
        endpoint = Endpoint(row.settings["url"], connections=row.settings.get("connections", 1), rate=row.settings.get("rate"))
        player = model_of(row, endpoint, prompt, seed)
    except Refused as refused:
        return Offer(row.name, row.kind, left=left, why=str(refused))
    pairs = sorted({(pair.a, pair.b) for pair in source.pairs})
    return Offer(row.name, row.kind, prompt.shown, player.forecast_on(source.texts, pairs), left)


def model_of(
    row: Judge,
    endpoint: Endpoint,
    prompt: Prompt,
    seed: int,
    replies: Replies | None = None,
    on_profile: Callable[[dict[str, Any]], None] | None = None,
) -> LanguageModelJudge | LanguageModelScorer:
    """A language model as its row says."""
    asked = row.settings
    server = ModelServer(
        endpoint,
        asked["model"],
        Price(*asked["price"]),
        constrained=not asked["free_form"],
        extra=asked.get("extra") or {},
        known=asked.get("server") or {},
        on_profile=on_profile,
    )
    limits = Limits(asked.get("unjudged", UNJUDGED), asked.get("longest", LONGEST_REPLY))
    player = LanguageModelScorer if prompt.asks_for_score else LanguageModelJudge
    return player(server, prompt, replies, limits, seed)


def set_up_model(
    campaign: Campaign, endpoint: str, model: str, calls: int, name: str = "", user: Any = None, **asked: Any
) -> Judge:
    """A language model at a configured endpoint. asked: prompt, text, examples, references, as `prompts.asked` takes them, and
    money. Raises Refused."""
    known = model_settings.configured()
    if endpoint not in known:
        raise Refused(f"There is no endpoint {endpoint!r}; there are: {', '.join(known) or 'none'}.")
    options = known[endpoint].options(model, calls, asked.pop("money", None))
    how = prompts.asked(campaign, **asked)
    if "prompt" in (chosen := prompts.settings_of(how)):
        prompts.keep(campaign, how.file)
    return set_up(campaign, Judge.Kind.LANGUAGE_MODEL, name or model, model_settings.settings_of(options) | chosen, user)


def prompt_of(judge: Judge, criterion: str, seed: int, source: sources.Source | None) -> Prompt:
    """With what annotators read: the guidelines, and what the criterion and its points mean. source: whose answers it may show
    as examples. Raises Refused where there are none and some are asked for."""
    campaign, how = judge.campaign, prompts.of_settings(judge.campaign, judge.settings)
    row = campaign.criteria.filter(name=criterion).first()
    scale = Scale(row.low, row.high, row.best == "low") if row else None
    examples = None
    if how.examples:
        if source is None:
            raise Refused("Examples are people's accepted answers, and there are none yet; assess_quality freezes them.")
        pool = _scored(source, how.file.scale, scale) if how.file.asks == "score" else _compared(source)
        examples = Examples(tuple(pool), how.examples, seed)
    about = (campaign.guidelines, criterion, _meaning(row) if row else "")
    return Prompt(*about, how.file, scale, examples, how.references)


def _meaning(row: Criterion) -> str:
    points = {str(row.low): row.low_label, str(row.high): row.high_label} | row.anchors
    scale = "; ".join(f"{point} means {label}" for point, label in sorted(points.items()) if label)
    turned = "The lowest point is best." if row.best == "low" else ""
    return " ".join(part for part in (row.description, scale, turned) if part)


def _scored(source: sources.Source, own: tuple[int, int] | None, scale: Scale | None) -> Sequence[Example]:
    """Outputs with people's mean score, to the nearest point of the scale that is asked for."""
    asked = Scale(*own) if own else scale
    if asked is None:
        return []
    found = []
    for text, share in zip(source.texts, source.scores[:, 0].tolist(), strict=True):  # 0 to 1, 1 is best
        if np.isfinite(share):
            point = round(asked.low + (asked.high - asked.low) * share)
            found.append(Example((text,), asked.low + asked.high - point if asked.lowest_best else point))
    return found


def _compared(source: sources.Source) -> Sequence[Example]:
    letters = {"A": "A", "tie": "C", "B": "B"}
    return [Example((source.texts[p.a], source.texts[p.b]), letters[p.choice]) for p in source.pairs]
