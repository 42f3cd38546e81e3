"""Makes the installations of earlier commits, and what those said of their boards, with those commits' own code.

    git worktree add /tmp/old 81241e2 && cd /tmp/old
    DATA_DIR=/tmp/made BROKER_URL=memory:// SECRET_KEY=none HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 \\
        python /path/to/tests/golden/installations/make.py 81241e2

writes 81241e2.tar.xz (the database, and the comparators' files) and 81241e2.json.xz beside this file. All texts are random
words, and all answers are drawn here: nobody gave them. It runs in 6a0906d and in 81241e2, whose modules have other names.
"""

# ruff: noqa: I001  (what is a module of the product depends on the commit)
import http.server
import json
import lzma
import os
import random
import sys
import tarfile
import threading
import uuid
import zlib
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
DATA = Path(os.environ["DATA_DIR"])
sys.path[:0] = [os.getcwd(), str(HERE)]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django  # noqa: E402

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

settings.ALLOWED_HOSTS = ["testserver"]
NEW = Path("annotation/campaigns").exists()  # 81241e2, or 6a0906d

from annotation.models import Campaign, Item, Job, User  # noqa: E402

if NEW:
    from annotation.annotating.assignment import next_assignment
    from annotation.annotating.submissions import submit
    from annotation.assessment.adjudication import adjudicate
    from annotation.assessment.assess import assess
    from annotation.assessment.decisions import overrule
    from annotation.campaigns.known_answers import mark_known
    from annotation.campaigns.lifecycle import create_campaign
    from annotation.campaigns.protocol import CriterionSpec
    from annotation.data.importer import import_judgments, import_outputs, import_scores
    from annotation.people.accounts import add_annotator
    from leaderboard.tournaments.start import rules_named, set_board, start_tournament
else:
    from annotation.assignment import next_assignment
    from annotation.importing import import_judgments, import_outputs, import_scores
    from annotation.services import CriterionSpec, add_annotator, adjudicate, create_campaign, mark_known, overrule, submit
    from leaderboard.services import rules_named, set_board, start_tournament

    from annotation.assessment import assess

import said  # noqa: E402

from evaluator import tasks as evaluator_tasks  # noqa: E402
from evaluator.services import start_training  # noqa: E402
from leaderboard import systems, tasks  # noqa: E402
from leaderboard.models import Tournament  # noqa: E402

WORDS = [f"w{i}" for i in range(30)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SYSTEMS = {"Person": ("good", 4.4), "Fine": ("good", 3.8), "Plain": ("w0", 3.0), "Poor": ("bad", 1.9)}
PEOPLE = {"ann": -0.3, "ben": 0.0, "cem": 0.1, "dot": 0.4}
DRAWN = random.Random(20)


def main(commit: str) -> None:
    call_command("migrate", verbosity=0)
    researcher = User.objects.create_user(said.RESEARCHER, may_create_campaigns=True)
    talk(researcher)
    answered(researcher)
    groups(researcher)
    keep(commit)


def talk(researcher) -> None:
    """Scores on two criteria, pairs, three snapshots, comparators, and boards of every kind."""
    campaign = create_campaign(
        slug="talk",
        title="Small talk (answers drawn by a program)",
        criteria=[CriterionSpec("Overall"), CriterionSpec("Wit")],
        pairwise=True,
        user=researcher,
    )
    rows = outputs(12)
    import_outputs(campaign, write("outputs", rows), human_systems=["Person"])
    import_scores(campaign, write("scores", scores(rows[:32], "Overall", 0.9)), simulated=True)
    campaign = freeze(campaign)
    by("people", campaign, criterion="Overall")
    import_scores(campaign, write("scores", scores(rows[32:], "Overall", 0.9)), simulated=True)
    import_scores(campaign, write("scores", scores(rows, "Wit", 2.5)), simulated=True)
    import_judgments(campaign, write("judgments", judgments(rows)), simulated=True)
    snapshot = freeze(campaign).snapshots.first()
    for decision in snapshot.decisions.all():
        if not decision.is_usable:
            overrule(decision, researcher, "It is wanted for a board.")
    for criterion in ("Overall", "Wit", ""):
        by("people", campaign, criterion=criterion)
    by("people", campaign, criterion="", rules=rules_named("bradley-terry"))
    by("people", campaign, criterion="", rules=rules_named("paper"), seed=3)
    by("people", campaign, criterion="Overall", rules=rules_named("paper"))
    score = campaign.criteria.get(name="Overall").scores.first()
    adjudicate(campaign, researcher, score.criterion_id, score.output_id, None, f"{score.value:g}", "Read again.")
    campaign = freeze(campaign)
    train(campaign, criterion="Overall")
    for rules in ("", "bradley-terry", "paper"):
        by("comparator", campaign, rules=rules_named(rules), seed=1)
    by("comparator", campaign, games=40)
    by("comparator", campaign, level="sample", games=400)
    by("calibrated", campaign, criterion="Overall", seed=5)
    by("calibrated", campaign, criterion="")
    train(campaign, criterion="Overall", recipe={"architecture": "joint", "epochs": 1})
    by("comparator", campaign, version=campaign.comparators.first(), seed=2)
    if NEW:
        other_judges(campaign)
    late = [{key: row[key] for key in ("context_id", "context", "output")} for row in rows[2::4]]
    systems.register(campaign, "Late", write("late", late).open("rb"), "late.jsonl", user=researcher)
    run_waiting()
    by("people", campaign, criterion="Overall")
    plain = campaign.systems.get(name="Plain")
    systems.describe(plain, "Plainer", "Renamed after the boards.", "", researcher)
    systems.set_retired(campaign.systems.get(name="Poor"), True, researcher)
    run_waiting()
    set_board(campaign, is_public=True, plays_new=True, user=researcher)


def other_judges(campaign: Campaign) -> None:
    """A metric, imported scores, a program and a language model: alone, and with people; and a table of judges."""
    keys = campaign.contexts.order_by("pk").values_list("key", flat=True)
    elsewhere = [
        {"context_id": key, "system": system, "score": round(mean + DRAWN.gauss(0, 0.8), 2)}
        for key in keys
        for system, (_, mean) in SYSTEMS.items()
    ]
    run("import_judge_scores", "talk", str(write("elsewhere", elsewhere)), "--judge", "elsewhere")
    play = ("run_tournament", "talk", "--wait", "--judge")
    run(*play, "other", "--named", "ngram")
    run(*play, "other", "--named", "elsewhere", "--seed", "4")
    run(*play, "other", "--named", "elsewhere", "--level", "sample")
    run(*play, "calibrated", "--named", "elsewhere")
    run(*play, "other", "--judge-command", f"python3 {write('program.py', PROGRAM)}")
    with language_model() as url:
        model = ("--language-model", "stub", "--url", url, "--calls", "2000")
        run(*play, "other", *model)
        run(*play, "calibrated", "--criterion", "", *model)
    run("evaluate_judges", "talk", "--page", "--judge", "elsewhere", "--judge", "ngram")


def run(*words: str) -> None:
    with open(os.devnull, "w") as nothing:
        call_command(*words, "--json", stdout=nothing)


def answered(researcher) -> None:
    """Scores and pairs on each criterion, given on the pages' way, with gold, training and repeated items."""
    campaign = create_campaign(
        slug="answered",
        title="Answered item by item (by a program)",
        criteria=[CriterionSpec("Overall"), CriterionSpec("Clarity", 1, 3)],
        pairwise=True,
        pairwise_by_criterion=True,
        asks_reason=True,
        overlap=2,
        gold_percent=20,
        repeat_percent=30,
        consent="Do you agree?",
        user=researcher,
    )
    import_outputs(campaign, write("outputs", outputs(4, "answered")), human_systems=["Person"])
    campaign.refresh_from_db()
    gold = Item.objects.filter(campaign=campaign, other=None).order_by("position").first()
    mark_known(gold, "gold", {"scores": {"Overall": [4, 5], "Clarity": [2, 3]}}, researcher)
    training = Item.objects.filter(campaign=campaign, other=None, purpose="evaluation").order_by("position").first()
    mark_known(training, "training", {"scores": {"Overall": [3], "Clarity": [2]}, "feedback": "It would do."}, researcher)
    for number in range(3):
        user = User.objects.create_user(f"annotator-{number}", first_name=f"A{number}")
        annotator = add_annotator(campaign, user)
        while assignment := next_assignment(annotator):
            submit(annotator, assignment.pk, key(), answer(campaign, assignment.item), 5.0, 4.0)
    campaign = freeze(campaign)
    by("people", campaign, criterion="Overall")


def groups(researcher) -> None:
    """Two groups of systems that never met, judged in pairs."""
    campaign = create_campaign(slug="groups", title="Two groups", criteria=[], likert=False, pairwise=True, user=researcher)
    rows = []
    for c in range(12):
        for a, b in (("m1", "m2"), ("m3", "m4")):
            for annotator in ("ann", "ben"):
                choice = DRAWN.choices(["A", "tie", "B"], [6, 2, 2])[0]
                texts = {"output_a": f"{a} says {c}", "output_b": f"{b} says {c}"}
                rows.append(
                    {"context_id": f"g{c}{a}", "context": [f"Say {c}"], "system_a": a, "system_b": b, **texts}
                    | {"annotator": annotator, "choice": choice}
                )
    import_judgments(campaign, write("groups", rows))
    by("people", freeze(campaign), criterion="")


def by(judge: str, campaign: Campaign, **options) -> Tournament:
    return tasks.run(start_tournament(campaign, judge, foreground=True, **options).job_id)


def train(campaign: Campaign, criterion: str, recipe: dict | None = None) -> None:
    chosen = {"encoder": encoder(), "epochs": 2, "learning_rate": 1e-3, "head_learning_rate": 2e-2, "batch_size": 12}
    chosen |= {"max_length": 32, "precision": "fp32", **(recipe or {})}
    evaluator_tasks.run(start_training([campaign], criterion, foreground=True, recipe=chosen).job_id)
    run_waiting()


def run_waiting() -> None:
    """Tournaments that were queued, as a worker would."""
    for job in Job.objects.filter(status="queued", task="leaderboard.tasks.play").order_by("created_at"):
        tasks.run(job.pk)


def freeze(campaign: Campaign) -> Campaign:
    campaign = Campaign.objects.get(pk=campaign.pk)
    assess(campaign, level="interval")
    return campaign


def outputs(contexts: int, prefix: str = "c") -> list[dict]:
    rows = []
    for c in range(contexts):
        turns = [" ".join(DRAWN.choices(WORDS, k=3)) for _ in range(2)]
        for system, (word, _) in SYSTEMS.items():
            text = " ".join([*DRAWN.choices(WORDS, k=DRAWN.randint(2, 5)), word])
            row = {"context_id": f"{prefix}{c:02}", "context": turns, "system": system, "output": text}
            rows.append(row | {"metadata": {"domain": ["travel", "food"][c % 2]}})
    return rows


def scores(rows: list[dict], criterion: str, noise: float) -> list[dict]:
    return [
        {"context_id": row["context_id"], "system": row["system"], "aspect": criterion, "annotator": annotator}
        | {"score": point(SYSTEMS[row["system"]][1] + lean + DRAWN.gauss(0, noise))}
        for row in rows
        for annotator, lean in PEOPLE.items()
    ]


def judgments(rows: list[dict]) -> list[dict]:
    pairs = []
    for first in range(0, len(rows), 4):
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
            for annotator in ("ann", "ben", "cem"):
                pairs.append(judgment(rows[first + a], rows[first + b], annotator))
    return pairs


def judgment(a: dict, b: dict, annotator: str) -> dict:
    lead = SYSTEMS[a["system"]][1] - SYSTEMS[b["system"]][1] + DRAWN.gauss(0, 1)
    choice = "A" if lead > 0.4 else "B" if lead < -0.4 else "tie"
    return {"context_id": a["context_id"], "context": a["context"], "annotator": annotator, "choice": choice} | {
        "system_a": a["system"], "output_a": a["output"], "system_b": b["system"], "output_b": b["output"]
    }  # fmt: skip


def answer(campaign: Campaign, item: Item) -> dict:
    if item.other_id:
        return {"choices": {c.pk: DRAWN.choice(["left", "tie", "right"]) for c in campaign.asked}, "reason": "It reads better."}
    mean = SYSTEMS[item.output.system.name][1]
    return {"scores": {c.pk: min(c.high, point(mean + DRAWN.gauss(0, 0.7))) for c in campaign.asked}}


def point(value: float) -> int:
    return min(5, max(1, round(value)))


def key() -> uuid.UUID:
    return uuid.UUID(int=DRAWN.getrandbits(128), version=4)


def write(name: str, rows) -> Path:
    path = DATA / f"input-{name}.jsonl" if isinstance(rows, list) else DATA / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) if isinstance(rows, list) else rows)
    return path


PROGRAM = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "score": row["output"].count("good") - row["output"].count("bad")}), flush=True)
"""


class language_model:
    """A server that answers by a sum over the question."""

    def __enter__(self) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = {"choices": [{"message": {"role": "assistant", "content": reply_to(body)}, "finish_reason": "stop"}]}
                reply |= {"model": "stub-1", "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
                text = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def __exit__(self, *error) -> None:
        self.server.shutdown()


def reply_to(body: dict) -> str:
    """The same to the same question: A twice as often as B, and sometimes a tie."""
    return json.dumps({"reason": "", "answer": "AABC"[zlib.crc32(body["messages"][-1]["content"].encode()) % 4]})


def encoder() -> str:
    """A folder with a BERT of hidden size 16, random weights."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = DATA / "tiny-encoder"
    if folder.exists():
        return str(folder)
    words = [*SPECIAL, "good", "bad", *WORDS]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    return str(folder)


def keep(commit: str) -> None:
    from django.db import connection

    database = DATA / "comparena.sqlite3"
    client = said.researcher()
    found = said.boards(database)
    told = {
        "boards": [board | {"said": said.said_of(client, board["pk"])} for board in found],
        "campaigns": {slug: said.campaign_says(client, slug) for slug in ("talk", "answered", "groups")},
        "printed": [
            [slug, words, said.printed(slug, *words)] for slug, words in dict.fromkeys(map(asked, found)) if words is not None
        ],
    }
    with lzma.open(HERE / f"{commit}.json.xz", "wt", preset=9) as file:
        json.dump(told, file)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute("DELETE FROM django_session")
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    with tarfile.open(HERE / f"{commit}.tar.xz", "w:xz", preset=9) as archive:
        archive.add(database, "comparena.sqlite3", filter=anonymous)
        archive.add(settings.MODELS_DIR, "models", filter=anonymous)
    for kind in ("tar.xz", "json.xz"):
        print(commit, kind, (HERE / f"{commit}.{kind}").stat().st_size, "bytes;", len(found), "boards")


def asked(board: dict) -> tuple[str, tuple[str, ...]]:
    """(slug, words of the command `leaderboard`) for the newest board of this one's judge and criterion."""
    named = ("--named", board["named"]) if board["named"] else ()
    return board["slug"], ("--judge", board["judge"], *named, "--criterion", board["criterion"])


def anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(sys.argv[1])
