"""`make bench`: what a round robin costs, utility against joint, in one run. Made-up words of lengths as in dialogue.

Each is timed on a sample and multiplied up, with one model of each and with as many members as a default training gives either
kind (`Settings.folds`): outputs that nobody judged are read by all of them. The cosine and the references beside utilities are
looked up once, whatever the members.
"""

import resource
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

from benchmarks.database import own_database
from evaluator.comparator import storage
from evaluator.comparator.joint_model import JointModel, both_orders
from evaluator.comparator.references import References, beside_pairs
from evaluator.comparator.settings import Settings
from evaluator.comparator.utility_model import UtilityModel, utilities
from evaluator.encoders import pretrained
from evaluator.encoders.devices import use_bf16
from evaluator.encoders.encoding import TURNS, Encoder, by_length
from evaluator.encoders.hidden_states import embed
from evaluator.encoders.pretrained import default_encoder, pretrained_encoder
from evaluator.judges.calibration import Head
from evaluator.judges.texts import Text

SAMPLE = 400  # texts, and pairs of them, that are timed; the rest is multiplication
ROUNDS = 6  # the shortest counts: a machine of two cores that others share is by turns a tenth slower
SYSTEMS = 20
WORDS = "time people way water day man thing woman life child world school house night word money book friend game".split()


def field(systems: int, contexts: int, rng: np.random.Generator) -> list[Text]:
    """One output of each system for each context, about as long as in dailydialog_zhao."""
    said = lambda low, high: " ".join(rng.choice(WORDS, rng.integers(low, high)))
    texts = []
    for _ in range(contexts):
        turns = tuple(said(5, 20) for _ in range(4))
        texts += [Text(turns, said(4, 20)) for _ in range(systems)]
    return texts


def dialogues(width: int) -> References:
    """Embeddings, made up, of 6,000 exchanges with five replies each, to be looked up."""
    rng = torch.Generator().manual_seed(0)
    vectors = lambda n: torch.nn.functional.normalize(torch.randn(n, width, generator=rng), dim=-1)
    return References(vectors(6_000), vectors(30_000), torch.full((6_000,), 5))


def saved(place: Path, settings: Settings) -> Path:
    """The folder of a comparator with the weights that it would start from."""
    pretrained.save_encoder(default_encoder(), place)
    model = (JointModel if settings.architecture == "joint" else UtilityModel)(pretrained_encoder(default_encoder()))
    members = [pretrained.save_weights(model, place / f"member-{i}.safetensors") for i in range(settings.folds)]
    known = storage.save_references(dialogues(model.encoder.config.hidden_size), place / "references.safetensors")
    head = Head(1.0, 0.3, 0.5, references=1.0)
    storage.save_manifest(storage.Manifest(settings, 0, "", {}, head, members, {}, 1e9, None, known), place)
    return place


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def round_robin(systems: int, contexts: int, model, joint, cross, encoder: Encoder) -> None:
    rng = np.random.default_rng(0)
    texts = field(systems, SAMPLE // systems, rng)
    pairs = contexts * systems * (systems - 1) // 2
    c = rng.integers(SAMPLE // systems, size=SAMPLE)
    a, shift = rng.integers(systems, size=SAMPLE), rng.integers(1, systems, size=SAMPLE)
    first, second = [texts[i] for i in c * systems + a], [texts[i] for i in c * systems + (a + shift) % systems]
    both = [(" ".join(x.context), f"{x.output} [SEP] {y.output}") for x, y in [*zip(first, second), *zip(second, first)]]

    known = dialogues(model.encoder.config.hidden_size)

    def one_by_one(members: int) -> None:
        cosines, _ = beside_pairs(model.encoder, known, encoder, texts)
        sequences = encoder.pairs(texts)
        for _ in range(members):
            utilities(model, encoder, sequences, cosines, range(len(texts)))

    def together(members: int) -> None:
        a, sequences = np.arange(SAMPLE), encoder.pairs([*first, *second])
        for _ in range(members):
            both_orders(joint, encoder, sequences, a, a + SAMPLE, None)

    def compare(members: int, what: str, theirs) -> None:
        rounds = [(seconds(lambda: one_by_one(members)), seconds(theirs)) for _ in range(ROUNDS)]
        ours, taken = (min(column) for column in zip(*rounds))
        ours, taken = ours * contexts * systems / len(texts), taken * pairs / SAMPLE
        line = f"round robin of {systems} systems x {contexts} contexts, utility / {what}, {members} of each"
        print(f"{line}: {ours:.1f} s against {taken:.0f} s, {taken / ours:.1f} times faster", flush=True)

    for members in (1, Settings().folds):
        compare(members, "our joint, both orders", partial(together, members))
    if cross:
        predict = lambda: cross.predict(both, batch_size=64, show_progress_bar=False)
        compare(1, "sentence-transformers' CrossEncoder.predict, both orders, fp32", predict)


def overhead(model, encoder: Encoder) -> None:
    """Our judging of unread texts against the bare encoder on batches that are tokenised and sorted beforehand."""
    texts = field(10, 100, np.random.default_rng(1))
    sequences = encoder.pairs(texts)
    batches = [encoder.batch(sequences, rows) for rows in by_length(sequences.lengths, 64)]

    def bare() -> None:
        with torch.inference_mode():
            for batch in batches:
                embed(model.encoder, batch)

    cosines = torch.zeros(len(texts))
    bare()
    theirs = min(seconds(bare) for _ in range(2))
    ours = min(seconds(lambda: utilities(model, encoder, encoder.pairs(texts), cosines, range(len(texts)))) for _ in range(2))
    print(f"encoding {len(texts)} texts {ours:.1f} s / bare encoder {theirs:.1f} s: {theirs / ours:.0%} of its rate")


def from_database(model, encoder: Encoder) -> None:
    """Judging a campaign's outputs by a comparator as trained by default: read, tokenised, sorted, encoded by each member,
    guarded and remembered, against the bare encoder on the same sequences (pairs for each member, and the strings of the
    cosine) in batches made beforehand."""
    from annotation.models import Campaign, Context, Output, System
    from evaluator.models import ComparatorVersion, Utility
    from evaluator.versions.selectors import folder
    from evaluator.worker import comparators

    texts = field(SYSTEMS, 200, np.random.default_rng(2))
    campaign = Campaign.objects.create(slug="bench", title="bench")
    systems = [System.objects.create(campaign=campaign, name=f"system {i}") for i in range(SYSTEMS)]
    for i in range(0, len(texts), SYSTEMS):
        context = Context.objects.create(campaign=campaign, key=f"c{i}", turns=list(texts[i].context))
        theirs = zip(systems, texts[i : i + SYSTEMS])
        Output.objects.bulk_create(Output(system=s, context=context, text=t.output) for s, t in theirs)
    version = ComparatorVersion.objects.create(name="bench", snapshots=[], settings={}, seed=0, code="1", metrics={})
    recipe = Settings()
    saved(folder(version), recipe)
    comparators.load(version)  # so that no file is read for the first time

    def ours() -> None:
        Utility.objects.all().delete()
        comparators.utilities(version, Output.objects.select_related("context"))

    strings = dict.fromkeys([*(" ".join(t.context[-TURNS:]) for t in texts), *(t.output for t in texts)])
    batches = []
    for sequences, times in ((encoder.pairs(texts), recipe.folds), (encoder.singles(list(strings), keep_end=True), 1)):
        batches += times * [encoder.batch(sequences, rows) for rows in by_length(sequences.lengths, 64)]

    def bare() -> None:
        with torch.inference_mode():
            for batch in batches:
                embed(model.encoder, batch)

    rounds = [(seconds(bare), seconds(ours)) for _ in range(ROUNDS)]
    theirs, taken = (min(column) for column in zip(*rounds))
    assert Utility.objects.count() == len(texts)
    what = f"judging {len(texts)} outputs of a database {taken:.1f} s / bare encoder {theirs:.1f} s"
    print(f"{what}: {theirs / taken:.0%} of its rate", flush=True)


def cross_encoder():
    """The peer, where it is installed."""
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        print("sentence-transformers is not installed; its CrossEncoder is not measured")
        return None
    return CrossEncoder(default_encoder(), num_labels=3, device="cpu", max_length=128, local_files_only=True)


def main() -> None:
    with own_database():
        measure()


def measure() -> None:
    bf16 = use_bf16("auto", torch.device("cpu"))
    encoder = Encoder(AutoTokenizer.from_pretrained(default_encoder(), local_files_only=True), 128, precision="auto")
    model = UtilityModel(pretrained_encoder(default_encoder())).eval()
    joint = JointModel(pretrained_encoder(default_encoder())).eval()
    cross = cross_encoder()
    print(f"precision {'bf16' if bf16 else 'fp32'}, {torch.get_num_threads()} threads")
    overhead(model, encoder)
    from_database(model, encoder)
    for systems in (SYSTEMS, 100):
        round_robin(systems, 200, model, joint, cross, encoder)
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()
