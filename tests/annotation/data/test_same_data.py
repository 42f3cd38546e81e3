"""The same answers give the same snapshot in whichever tool's shape they come, and the same board of answers with them."""

import json
import os
import random
from pathlib import Path

import pytest

from annotation import snapshots
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Campaign
from tests.annotation.data.same_data import WITH_TIES, WITHOUT_TIES, alpaca_eval_without_ids, contexts

pytestmark = pytest.mark.django_db
SHARED = Path(os.environ.get("SHARED_DATA", Path(__file__).parents[3].parent / "shared" / "data"))


def votes(ties: bool, number: int = 8) -> list[dict]:
    """Invented: three systems, number contexts, three people."""
    rng, rows = random.Random(1), []
    for n in range(number):
        for a, b in (("ape", "bee"), ("ape", "emu"), ("bee", "emu")):
            for who in ("7", "8", "9"):
                choice = rng.choice(["A", "B", "tie"] if ties else ["A", "B"])
                texts = {"system_a": a, "output_a": f"{a} says {n}", "system_b": b, "output_b": f"{b} says {n}"}
                about = {"context_id": f"q{n}", "context": [f"What of {n}?"]}
                rows.append(about | texts | {"annotator": who, "choice": choice})
    return rows


def lines(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def snapshot_of(tmp_path: Path, rows: list[dict], shape) -> snapshots.Snapshot:
    campaign = create_campaign(slug=f"talk-{Campaign.objects.count()}", criteria=[], pairwise=True, likert=False)
    import_outputs(campaign, lines(tmp_path / "texts.jsonl", contexts(rows)))
    done = import_judgments(campaign, lines(tmp_path / "votes.jsonl", shape(rows)))
    assert done.new["judgments"] == done.rows == len(rows) and not done.left_out
    return assess(campaign)


@pytest.mark.parametrize("ties", [True, False])
def test_votes(tmp_path, ties):
    rows = votes(ties)
    digests = {name: snapshot_of(tmp_path, rows, s).digest for name, s in (WITH_TIES if ties else WITHOUT_TIES).items()}
    assert len(set(digests.values())) == 1, digests


def test_a_text_that_several_contexts_have_tells_none(tmp_path):
    """Of ten contexts, four have the same text; a file without ids says nothing of which."""
    rows = votes(True, 10)
    for row in rows:
        number = int(row["context_id"][1:])
        if number < 4:
            row["context"] = ["What of it?"]
    campaign = create_campaign(slug="talk", criteria=[], pairwise=True, likert=False)
    import_outputs(campaign, lines(tmp_path / "texts.jsonl", contexts(rows)))
    done = import_judgments(campaign, lines(tmp_path / "votes.jsonl", alpaca_eval_without_ids(rows)))
    assert (done.rows, done.new["judgments"]) == (90, 54)
    assert done.left_out == {"has no context_id, and several contexts have its text": 36}
    done = import_judgments(campaign, lines(tmp_path / "votes.jsonl", WITH_TIES["AlpacaEval"](rows)))
    assert (done.new["judgments"], done.repeated) == (36, 54)


def scored() -> tuple[list[dict], list[dict]]:
    """Invented: (outputs, scores) of two systems on six contexts by two people, as USR's release has them."""
    rng, outputs, scores = random.Random(2), [], []
    for n in range(6):
        for system in ("ape", "bee"):
            about = {"context_id": f"c{n}", "system": system}
            outputs.append(about | {"context": [f"Hi {n}", "Yes?"], "output": f"{system} {n}"})
            for who in ("r1", "r2"):
                scores.append(about | {"aspect": "Natural", "scale": [1, 3], "annotator": who, "score": rng.randint(1, 3)})
    return outputs, scores


def label_studio(outputs, scores):
    for output in outputs:
        key = output["context_id"], output["system"]
        said = [row for row in scores if (row["context_id"], row["system"]) == key]
        result = lambda row: [{"from_name": row["aspect"], "type": "rating", "value": {"rating": row["score"]}}]
        marks = [{"completed_by": row["annotator"], "result": result(row)} for row in said]
        yield {"data": {"context_id": key[0], "system": key[1], "text": output["output"]}, "annotations": marks}


def argilla(outputs, scores):
    for task in label_studio(outputs, scores):
        marks = [(mark["completed_by"], mark["result"][0]) for mark in task["annotations"]]
        said: dict = {}
        for who, result in marks:
            said.setdefault(result["from_name"], []).append({"value": result["value"]["rating"], "user_id": who})
        yield {"fields": task["data"], "responses": said}


def wide(outputs, scores):
    people = dict.fromkeys(row["annotator"] for row in scores)
    for who in people:
        own = [row for row in scores if row["annotator"] == who]
        yield {"annotator": who} | {f"{r['context_id']}|{r['system']}|{r['aspect']}": r["score"] for r in own}


SCORES = {"our own": lambda outputs, scores: scores, "Label Studio": label_studio, "Argilla": argilla, "a wide sheet": wide}


def digest_of_scores(tmp_path, outputs, scores, shape) -> str:
    campaign = create_campaign(slug=f"talk-{Campaign.objects.count()}", criteria=[])
    import_outputs(campaign, lines(tmp_path / "texts.jsonl", outputs))
    scales = {row["aspect"]: row["scale"] for row in scores}
    assert len(scales) == 1
    file = lines(tmp_path / "scores.jsonl", shape(outputs, scores))
    done = import_scores(campaign, file, constants={"scale": "{}-{}".format(*scales.popitem()[1])})
    assert done.new["scores"] == done.rows == len(scores)
    return assess(campaign).digest


def test_scores(tmp_path):
    digests = {name: digest_of_scores(tmp_path, *scored(), shape) for name, shape in SCORES.items()}
    assert len(set(digests.values())) == 1, digests


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
@pytest.mark.skipif("PUBLIC_DATA" not in os.environ, reason="a minute: set PUBLIC_DATA")
class TestPublicData:
    @pytest.fixture
    def votes(self):
        rows = [json.loads(line) for line in (SHARED / "pandalm.pairwise.jsonl").read_text(encoding="utf-8").splitlines()]
        for row in rows:
            row["context"] = ["\n".join(row["context"])]  # a chat's message, as arenas have it
        return rows

    def test_pandalm(self, tmp_path, votes):
        """Also the 114 votes on four prompts that stand under several ids each. TRL's files have no ties."""
        digests = {name: snapshot_of(tmp_path, votes, shape).digest for name, shape in WITH_TIES.items()}
        assert len(votes) == 2073 and len(set(digests.values())) == 1, digests
        decided = [row for row in votes if row["choice"] != "tie"]
        digests = {name: snapshot_of(tmp_path, decided, shape).digest for name, shape in WITHOUT_TIES.items()}
        assert len(set(digests.values())) == 1, digests

    def test_pandalm_without_ids(self, tmp_path, votes):
        """Files of AlpacaEval whose inputs had no ids say nothing of which prompt is meant, and leave these votes out."""
        campaign = create_campaign(slug="all", criteria=[], pairwise=True, likert=False)
        import_outputs(campaign, lines(tmp_path / "texts.jsonl", contexts(votes)))
        done = import_judgments(campaign, lines(tmp_path / "votes.jsonl", alpaca_eval_without_ids(votes)))
        assert (done.rows, done.new["judgments"], list(done.left_out.values())) == (2073, 1959, [114])
        assert len(done.listed) == 114

    @pytest.mark.parametrize("criterion", ["Natural", "Overall", "Uses Knowledge"])
    def test_usr(self, tmp_path, criterion):
        read = lambda name: [json.loads(line) for line in (SHARED / name).read_text(encoding="utf-8").splitlines()]
        outputs = [
            {k: row[k] for k in ("context_id", "context", "system", "output")} for row in read("usr_topical_chat.outputs.jsonl")
        ]
        scores = [row for row in read("usr_topical_chat.ratings.jsonl") if row["aspect"] == criterion]
        digests = {name: digest_of_scores(tmp_path, outputs, scores, shape) for name, shape in SCORES.items()}
        assert len(set(digests.values())) == 1, digests
