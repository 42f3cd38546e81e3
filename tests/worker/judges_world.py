"""Run in an installation of its own: `judges_world.py FOLDER URL` makes a campaign with a judge of every family, and says what
a browser and a client sign in with. URL: of a language model's server."""

import json
import shlex
import sys
from pathlib import Path

import django

PASSWORD = "long enough for a test"  # noqa: S105 of this world alone


def main(folder: Path, url: str) -> None:
    import torch
    from django.core.management import call_command
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    from annotation.models import Job
    from annotation.people.tokens import make_token
    from evaluator import tasks as training
    from evaluator.models import Judge
    from evaluator.roster import candidates, judge_named
    from evaluator.trainings.services import start_training
    from leaderboard.models import Tournament
    from tests.evaluator.world import SCORES, World, command, recipe, tiny_encoder, write

    call_command("migrate", verbosity=0)
    world = World(folder)
    world.alice.set_password(PASSWORD)
    world.alice.save()
    for architecture in ("utility", "joint"):
        chosen = recipe(architecture=architecture, epochs=1)
        training.run(start_training([world.campaign], foreground=True, recipe=chosen).job_id)
    torch.manual_seed(1)
    size = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    model = BertForSequenceClassification(BertConfig(vocab_size=37, max_position_embeddings=64, num_labels=1, **size))
    model.save_pretrained(folder / "reward")
    AutoTokenizer.from_pretrained(tiny_encoder()).save_pretrained(folder / "reward")
    rows = [{"context_id": r["context_id"], "system": r["system"], "score": SCORES[r["system"]]} for r in world.rows]
    command("import_judge_scores", "talk", write(folder, "elsewhere.jsonl", rows), "--judge", "elsewhere")
    for name in ("reward", "slow reward"):
        command("set_up_judge", "talk", "--name", name, "--reward-model", str(folder / "reward"))
    command("set_up_judge", "talk", "--language-model", "tiny", "--url", url, "--calls", "1000", "--price", "2", "10")
    for name, option in (("scorer", "judge"), ("pair scorer", "pair-judge"), ("slow pair scorer", "pair-judge")):
        (folder / name).mkdir()
        run = shlex.join([sys.executable, str(Path(__file__).with_name("judge.py")), str(folder / name)])
        command("set_up_judge", "talk", "--name", name, f"--{option}-command", run)
    Tournament.objects.all().delete()  # what a promoted comparator plays by itself
    Job.objects.filter(status=Job.Status.QUEUED).delete()
    names = [one.name for one in candidates(world.campaign) if one.kind != Judge.Kind.METRIC]
    judges = {name: judge_named(world.campaign, name).kind for name in ("rouge-1", *names)}
    print(json.dumps({"key": make_token(world.alice, "a test")[1], "user": world.alice.username, "judges": judges}))


if __name__ == "__main__":
    django.setup()
    main(Path(sys.argv[1]), sys.argv[2])
