"""Files of rankings: each is stored as the judgments of its pairs, leaves as such, and comes back."""

import json

import pytest

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.export import as_csv, as_jsonl, exported_answers
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import PairwiseJudgment
from core.errors import ImportRefused

pytestmark = pytest.mark.django_db
SYSTEMS = ("ant", "bee", "cat", "dog")
# ant before bee and cat, which share a place, before dog
PAIRS = {
    ("ant", "bee"): "A",
    ("ant", "cat"): "A",
    ("ant", "dog"): "A",
    ("bee", "cat"): "tie",
    ("bee", "dog"): "A",
    ("cat", "dog"): "A",
}


@pytest.fixture
def campaign(tmp_path):
    campaign = create_campaign(slug="ranked", criteria=[], pairwise=True, likert=False)
    rows = [{"context_id": c, "context": f"Q {c}", "system": s, "output": f"{s} {c}"} for c in ("c1", "c2") for s in SYSTEMS]
    import_outputs(campaign, written(tmp_path, rows))
    return campaign


def written(folder, rows, name="rows.jsonl"):
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) if isinstance(rows, list) else rows)
    return file


def kept(campaign):
    """{(annotator, context, ranking): {(system, other system): choice}}"""
    found = {}
    about = ("annotator", "output_a__context", "output_a__system", "output_b__system")
    for row in PairwiseJudgment.objects.filter(annotator__campaign=campaign).select_related(*about):
        key = row.annotator.name, row.output_a.context.key, (row.detail or {}).get("ranking")
        found.setdefault(key, {})[row.output_a.system.name, row.output_b.system.name] = row.choice
    return found


WIDE = {"context_id": "c1", "context": "Q c1", "annotator": "p", "ranking_id": "r1"}
ROWS = {
    "signs": [WIDE | {"ranking": "ant > bee = cat > dog"}],
    "list": [WIDE | {"ranking": ["ant", ["cat", "bee"], "dog"]}],
    "a row for each output": [
        {"context_id": "c1", "system": system, "annotator": "p", "rank": rank, "ranking_id": "r1"}
        for system, rank in zip(SYSTEMS, (1, 2, 2, 4), strict=True)
    ],
    "WMT": [
        {"segmentId": "c1", "judgeId": "p", "ranking_id": "r1"}
        | {f"system{n}Id": system for n, system in enumerate(SYSTEMS, start=1)}
        | {f"system{n}rank": rank for n, rank in enumerate((1, 2, 2, 3), start=1)}
    ],
}


@pytest.mark.parametrize("way", ROWS)
def test_a_ranking_is_its_pairs(campaign, tmp_path, way):
    done = import_judgments(campaign, written(tmp_path, ROWS[way]))
    assert kept(campaign) == {("p", "c1", "r1"): PAIRS}
    assert done.new["judgments"] == 6 and any("judgments of its pairs" in sentence for sentence in done.assumed)
    again = import_judgments(campaign, written(tmp_path, ROWS[way]))
    assert not again.new and again.repeated == 6


def test_a_table(campaign, tmp_path):
    table = "context_id,system,annotator,rank\n" + "".join(f"c2,{s},q,{n}\n" for n, s in enumerate(reversed(SYSTEMS), start=1))
    import_judgments(campaign, written(tmp_path, table, "ranks.csv"))
    ((key, pairs),) = kept(campaign).items()
    assert key[:2] == ("q", "c2") and len(key[2]) == 8 and pairs == dict.fromkeys(PAIRS, "B")


def test_the_best_and_the_worst_say_nothing_of_the_others(campaign, tmp_path):
    row = {"context_id": "c1", "annotator": "p", "systems": list(SYSTEMS), "best": "cat", "worst": "ant"}
    import_judgments(campaign, written(tmp_path, [row]))
    (pairs,) = kept(campaign).values()
    assert pairs == {("ant", "bee"): "B", ("ant", "cat"): "B", ("ant", "dog"): "B", ("bee", "cat"): "B", ("cat", "dog"): "A"}


def test_texts_may_come_along(tmp_path):
    campaign = create_campaign(slug="new", criteria=[], pairwise=True, likert=False)
    texts = {system: f"text of {system}" for system in SYSTEMS}
    file = written(tmp_path, [{"context": "Q", "annotator": "p", "outputs": texts, "ranking": "ant > bee = cat > dog"}])
    assert import_outputs(campaign, file).new["outputs"] == 4
    import_judgments(campaign, file)
    assert [*kept(campaign).values()] == [PAIRS]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_rankings_leave_and_come_back(campaign, tmp_path, form):
    rows = [WIDE | {"ranking": "ant > bee = cat > dog"}, WIDE | {"annotator": "q", "ranking": "dog > bee", "ranking_id": "r2"}]
    import_judgments(campaign, written(tmp_path, rows))
    answers = exported_answers(campaign, "judgments")
    file = written(tmp_path, "".join(as_csv(answers, "judgments") if form == "csv" else as_jsonl(answers)), f"out.{form}")
    other = create_campaign(slug="again", criteria=[], pairwise=True, likert=False)
    import_judgments(other, file)
    assert kept(other) == kept(campaign) and len(kept(other)) == 2
    assert assess(other).digest == assess(campaign).digest


@pytest.mark.parametrize(
    "row, why",
    [
        ({"ranking": "ant"}, "2 to 7 systems"),
        ({"ranking": "ant > bee > ant"}, "each once"),
        ({"ranking": [["ant", 3]]}, "names of systems"),
        ({"ranking": "ant > > bee"}, "names of systems"),
        ({"ranking": "ant > eel"}, "eel"),
        ({"systems": ["ant", "bee"], "best": "cat", "worst": "ant"}, "among them the best and the worst"),
    ],
    ids=str,
)
def test_what_is_no_ranking_is_refused(campaign, tmp_path, row, why):
    with pytest.raises(ImportRefused, match=why):
        import_judgments(campaign, written(tmp_path, [{"context_id": "c1", "annotator": "p"} | row]))


def test_a_blank_ranking_is_left_out_and_counted(campaign, tmp_path):
    rows = [WIDE | {"ranking": "ant > bee"}, WIDE | {"annotator": "q", "ranking": ""}]
    done = import_judgments(campaign, written(tmp_path, rows))
    assert sum(done.left_out.values()) == 1 and done.new["judgments"] == 1


def test_a_rank_among_scores_stays_a_score(tmp_path):
    campaign = create_campaign(slug="scored", criteria=[CriterionSpec("rank", 1, 4, best="low")])
    outputs = [{"context_id": "c1", "context": "Q", "system": system, "output": system} for system in SYSTEMS]
    import_outputs(campaign, written(tmp_path, outputs))
    rows = [{"context_id": "c1", "system": s, "annotator": "p", "rank": n} for n, s in enumerate(SYSTEMS, start=1)]
    done = import_scores(campaign, written(tmp_path, rows), aspects=("rank",))
    assert done.new["scores"] == 4
