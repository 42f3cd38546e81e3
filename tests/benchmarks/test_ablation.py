"""The table of what each part is worth, on a small campaign; the correlations by hand."""

import numpy as np
import pytest

from annotation.data.importer import import_outputs
from benchmarks.ablation import LEFT_OUT, by_systems, table
from evaluator.comparator.settings import fields_of
from evaluator.models import ComparatorVersion
from tests.evaluator.fixtures import made_world, models_dir, world  # noqa: F401
from tests.evaluator.world import SCORES, World, recipe, write


def test_systems_correlate_by_their_means():
    """Means of three systems: 1, 2, 6 against 0.1, 0.3, 0.2; ranks 1, 2, 3 against 1, 3, 2. Deviations -2, -1, 3 and
    -0.1, 0.1, 0: Pearson 0.1 / sqrt(14 * 0.02) = 0.18898; Spearman 1 - 6 * 2 / 24 = 0.5."""
    systems = np.array([0, 0, 1, 2, 2])
    people = np.array([0.1, 0.1, 0.3, 0.2, np.nan])  # the last was not scored, so its 9 counts nowhere
    found = by_systems(np.array([0.0, 2.0, 2.0, 6.0, 9.0]), people, systems)
    assert found["systems_pearson"] == pytest.approx(0.18898, abs=1e-5)
    assert found["systems_spearman"] == pytest.approx(0.5)
    assert by_systems(np.ones(5), people, systems) == {"systems_pearson": None, "systems_spearman": None}


@pytest.mark.django_db
def test_each_part_is_left_out_once(world, tmp_path):  # noqa: F811
    said: list[str] = []
    quick = recipe(epochs=1, folds=2, max_length=24)
    rows = table("talk", fields_of("paper", **quick), 0, tmp_path, said.append)
    assert [row["name"] for row in rows] == [name for name in LEFT_OUT if "weak" not in name]
    assert "| w/o weak supervision | it has none |" in "\n".join(said)  # there are no checkpoints
    for row in rows:
        value, low, high = row["accuracy"]
        assert 0 <= low <= value <= high <= 1 and -1 <= row["systems_pearson"] <= 1
    assert len({row["accuracy"] + row["outputs"] for row in rows}) == len(rows)  # no row is another's
    assert not ComparatorVersion.objects.exists()
    comparison = next(row for row in rows if row["name"] == "w/o comparison")
    assert comparison["systems_pearson"] > 0.5  # of four systems, and "Person" is the best of them


@pytest.mark.django_db
def test_checkpoints_make_a_row_of_their_own(world, tmp_path, monkeypatch):  # noqa: F811
    rows = [
        {"context_id": row["context_id"], "context": row["context"], "system": "Net", "output": f"w{i}"}
        | {"checkpoint": f"k{i}", "iteration": i, "total_iterations": 10}
        for row in world.rows[::4]
        for i in (1, 9)
    ]
    import_outputs(world.campaign, write(world.folder, "checkpoints.jsonl", rows))
    only = {name: LEFT_OUT[name] for name in ("full model", "w/o weak supervision")}
    monkeypatch.setattr("benchmarks.ablation.LEFT_OUT", only)
    quick = recipe(epochs=1, folds=2, strong=True, weak=True, next_utterance=False)
    assert [row["name"] for row in table("talk", quick, 0, tmp_path, lambda line: None)] == list(only)


@pytest.mark.django_db
def test_without_comparison_no_score_is_read(world, tmp_path, monkeypatch):  # noqa: F811
    """The same texts with people's scores turned round: the probabilities are the same, so the correlation turns its sign."""
    monkeypatch.setattr("benchmarks.ablation.LEFT_OUT", {"w/o comparison": {}})
    quick = recipe(epochs=1, folds=3, strong=True)
    (before,) = table("talk", quick, 0, tmp_path, lambda line: None)
    other = World(tmp_path, slug="song", judged=False)  # as long a name: the same random texts
    other.score("Overall", {system: 6 - score for system, score in SCORES.items()})
    other.freeze()
    (after,) = table("song", quick, 0, tmp_path, lambda line: None)
    assert after["outputs"][0] == pytest.approx(-before["outputs"][0])
    assert after["accuracy"][0] == pytest.approx(1 - before["accuracy"][0])


@pytest.mark.django_db
def test_without_texts_by_people_nothing_is_told_apart(world, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("benchmarks.ablation.LEFT_OUT", {"w/o comparison": {}})
    world.campaign.systems.update(is_human=False)
    world.freeze()
    said: list[str] = []
    assert table("talk", recipe(folds=2), 0, tmp_path, said.append) == []
    assert "| w/o comparison | it has none |" in "\n".join(said)
