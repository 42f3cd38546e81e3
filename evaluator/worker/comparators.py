"""A version of the registry at work: loaded, checked, and what it says of outputs. Imported inside task bodies and commands."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from transformers.utils.logging import disable_progress_bar

from annotation.models import Context, Output
from annotation.models.corpus import HAS_SOURCE
from core.errors import Refused
from evaluator.comparator import architectures, storage
from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.predict import Comparator
from evaluator.encoders import pretrained
from evaluator.judges.protocol import (
    Judge,
    OnProgress,
    PairwiseVerdicts,
    PointwiseVerdicts,
    Preferences,
    Verdicts,
    pairs_of,
    preferences,
    verdicts_on,
)
from evaluator.judges.texts import Text
from evaluator.metaevaluation.refit import Refit, log_odds
from evaluator.models import ComparatorVersion, Utility
from evaluator.trainings.sources import text_in
from evaluator.versions.selectors import architecture, folder

CHUNK = 1024  # rows of a file, or outputs of a campaign, that are judged together

Report = Callable[[float, str], None]
Shared = Callable[[Callable[[], Iterable[Any]], Callable[[Any, Report], Any]], list[Any]]  # `annotation.parts.share` of a job

disable_progress_bar()  # of reading weights; stderr belongs to our own


def text_of(output: Output) -> Text:
    return text_in(output.context, output.text)


def load(version: ComparatorVersion, of_files: bool = False) -> Comparator | JointComparator:
    """of_files: it judges texts of files, which name groups as its campaigns do."""
    try:
        comparator = architectures.load(folder(version))
    except (pretrained.BadCheckpoint, ValueError) as error:  # ValueError: there is no such device
        raise Refused(f"Comparator {version.name} cannot be used. {error}") from error
    comparator.manifest = _of_here(version, comparator.manifest, of_files)
    return comparator


def _of_here(version: ComparatorVersion, manifest: storage.Manifest, of_files: bool = False) -> storage.Manifest:
    """With the names of groups that its texts have. Those of an installation name the campaign, too: an uploaded version finds
    the groups that it learned from by the words of its campaigns' contexts, and so does one that judges files."""
    if not (of_files or version.settings.get("uploaded")):
        return manifest
    contexts = Context.objects.filter(HAS_SOURCE, campaign__comparators=version)
    texts = (
        (text_in(context, ""), context.source) for context in contexts.only("campaign", "key", "turns", "group", "metadata")
    )
    return manifest.with_groups_of(replace(text, group=group) if of_files else text for text, group in texts)


def taught(version: ComparatorVersion) -> Callable[[Text], bool] | None:
    """Of a text, did every member learn from its context or group (`Manifest.taught`)? None where that is so of no text, or its
    file cannot be read."""
    try:
        manifest = storage.load_manifest(folder(version))
    except pretrained.BadCheckpoint:
        return None
    manifest = _of_here(version, manifest)
    return manifest.taught if manifest.beside else None


def check(folder: Path) -> storage.Manifest:
    """Load every member of a comparator in a folder and let it judge two texts; returns its manifest. Raises Refused."""
    texts = [Text(("How are you?",), answer) for answer in ("Fine, thank you.", "On the table.")]
    try:
        comparator = architectures.load(folder)
        scores = comparator.score(texts)
    except pretrained.BadCheckpoint as error:
        raise Refused(str(error).replace(f"{folder}/", "")) from error
    if not np.isfinite(scores).all():
        raise Refused("It does not give a finite number for a simple text.")
    return comparator.manifest


def verdicts(
    version: ComparatorVersion,
    outputs: Iterable[Output],
    report: Report | None = None,
    across: Iterable[tuple[int, int]] = (),
    refit: dict | None = None,
    shared: Shared | None = None,
) -> Verdicts:
    """What the version says of the outputs (their contexts selected with them). One that gives utilities is loaded only for
    those that are not remembered. across: pairs of ids from different contexts that a joint one is asked about too; refit: a
    `Refit` as a dict, of the campaign that the outputs are of (`selectors.refit`); shared: lets other workers judge some."""
    anew = Refit(**refit) if refit else None
    if architecture(version) == "joint":
        outputs, across = list(outputs), list(across)
        in_parts = _in_parts(version, outputs, shared) if shared and not across else None
        said = in_parts or verdicts_of(load(version), outputs, report, across)
        assert isinstance(said, PairwiseVerdicts), "a joint one reads pairs"
        return replace(said, read=anew.preferences(log_odds(said.read.probabilities))) if anew else said
    try:
        head = storage.load_manifest(folder(version)).head
    except pretrained.BadCheckpoint as error:
        raise Refused(f"Comparator {version.name} cannot be used. {error}") from error
    of_two = (lambda u_a, u_b: anew.preferences(u_a - u_b)) if anew else head.preferences
    return PointwiseVerdicts(utilities(version, outputs, report, shared), of_two)


def _in_parts(version: ComparatorVersion, outputs: Sequence[Output], shared: Shared) -> PairwiseVerdicts | None:
    """What a joint version says of every two outputs of a context; None where that is too little to be shared."""
    ordered = sorted(outputs, key=lambda output: output.pk)
    ids = [output.pk for output in ordered]
    pairs = [(ids[i], ids[j]) for i, j in zip(*pairs_of([text_of(output) for output in ordered]), strict=True)]
    if len(pairs) <= CHUNK:
        return None
    of_parts = shared(lambda: ({"pairs": part} for part in chunks(pairs, CHUNK)), part_work(version))
    p = np.array([one for part in of_parts for one in part])  # (g, 3)
    return PairwiseVerdicts({pair: row for row, pair in enumerate(pairs)}, Preferences.likeliest(p))


def part_work(version: ComparatorVersion) -> Callable[[Any, Report], Any]:
    """What works on one part: {"outputs": ids}, whose utilities are stored, or {"pairs": [ids]}, whose probabilities (n, 3) are
    the result. The version is loaded once."""
    loaded: list[Comparator | JointComparator] = []

    def work(part: dict, report: Report) -> list | None:
        comparator = loaded[0] if loaded else load(version)
        loaded[:] = [comparator]
        asked = part.get("outputs") or sorted({pk for pair in part["pairs"] for pk in pair})
        found = {output.pk: output for pks in chunks(asked, 500) for output in _read(pks)}
        if "outputs" in part:
            outputs = [found[pk] for pk in asked]
            _judge(version, comparator, outputs, lambda done, message, _: report(done, message))
            return None
        place, texts = {pk: i for i, pk in enumerate(asked)}, [text_of(found[pk]) for pk in asked]
        a, b = ([place[pk] for pk in side] for side in zip(*part["pairs"], strict=True))
        watch = lambda done, message, _: report(done, message)
        return preferences(comparator, texts, a, b, watch).probabilities.tolist()

    return work


def _read(pks: Sequence[int]) -> Iterable[Output]:
    return Output.objects.select_related("context").filter(pk__in=pks)


def verdicts_of(
    judge: Judge, outputs: Iterable[Output], report: Report | None = None, across: Iterable[tuple[int, int]] = ()
) -> Verdicts:
    """What any judge says of the outputs (their contexts selected with them); nothing is remembered. across: as `verdicts`."""
    return verdicts_on(judge, {output.pk: text_of(output) for output in outputs}, _without_point(report), across)


def disagreement(
    version: ComparatorVersion, outputs_a: Sequence[Output], outputs_b: Sequence[Output], report: Report | None = None
) -> np.ndarray:
    """(n,) how far the version's members differ on each pair of outputs of a context (their contexts selected with them)."""
    comparator = load(version)
    if len(comparator.models) < 2:
        raise Refused(f"Comparator {version.name} has only one member, so its members cannot disagree.")
    texts_a, texts_b = ([text_of(output) for output in side] for side in (outputs_a, outputs_b))
    return comparator.disagreement(texts_a, texts_b, _without_point(report))


def _without_point(report: Report | None) -> OnProgress | None:
    """What a comparator tells as it goes, less the point of a learning curve, which judging has not."""
    return (lambda done, message, _: report(done, message)) if report else None


def utilities(
    version: ComparatorVersion, outputs: Iterable[Output], report: Report | None = None, shared: Shared | None = None
) -> dict[int, float]:
    """{output id: utility}; each output is judged once by a version, and remembered. Of a joint version the scores, which
    depend on what is judged together and so are not. shared: as `verdicts`."""
    by_id = {output.pk: output for output in outputs}
    if architecture(version) == "joint":
        scores = load(version).score([text_of(output) for output in by_id.values()])
        return dict(zip(by_id, scores.tolist(), strict=True))
    known = _known(version, by_id)
    missing = [output for pk, output in by_id.items() if pk not in known]
    # Like lengths together: less padding. A context's outputs together: it is embedded once, unless two parts share it.
    missing.sort(key=lambda output: (-sum(map(len, output.context.turns)), output.context.key))
    if not missing:
        return known
    if shared and len(missing) > CHUNK:
        shared(lambda: ({"outputs": [o.pk for o in part]} for part in chunks(missing, CHUNK)), part_work(version))
        known |= _known(version, [output.pk for output in missing])
        missing = [output for output in missing if output.pk not in known]  # of an earlier attempt's parts, were it so
    comparator = load(version) if missing else None
    for start in range(0, len(missing), CHUNK):
        part = missing[start : start + CHUNK]

        def watch(fraction, message, _, start=start, part=part):
            if report:
                report((start + fraction * len(part)) / len(missing), f"Judging {len(missing)} outputs")

        known |= _judge(version, comparator, part, watch)
    return known


def _known(version: ComparatorVersion, pks: Iterable[int]) -> dict[int, float]:
    """{output id: utility} of those that are remembered: as of one moment, since what is missing is then judged together, and
    another board of the version may be writing its own."""
    wanted = set(pks)
    if not wanted:
        return {}
    rows = Utility.objects.filter(version=version, output__gte=min(wanted), output__lte=max(wanted))
    return {pk: value for pk, value in rows.values_list("output_id", "value") if pk in wanted}


def _judge(version: ComparatorVersion, comparator, outputs: Sequence[Output], watch: OnProgress) -> dict[int, float]:
    """Judge outputs together and remember what is said of them."""
    assert isinstance(comparator, Comparator)  # a joint one gives no utilities
    u = comparator.utilities([text_of(output) for output in outputs], on_progress=watch)
    said = {output.pk: float(value) for output, value in zip(outputs, u, strict=True)}
    rows = [Utility(version=version, output_id=pk, value=value) for pk, value in said.items()]
    Utility.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
    return said


def chunks(items: Iterable, size: int) -> Iterator[list]:
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk
