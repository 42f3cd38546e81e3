"""Many trainings at once are judged as the product judges one, and the rules beside it are right by hand."""

from functools import partial

import numpy as np

from benchmarks.validity.curves import training
from benchmarks.validity.harness import Store
from benchmarks.validity.training_curves import (
    CELLS,
    NEVER,
    RULES,
    SETS,
    Batch,
    Cell,
    Compared,
    best_sets,
    fill,
    paper,
    patience,
    rows_of,
    sets_table,
    table,
)
from evaluator.judges.protocol import by_order
from evaluator.selection.curve import ByUtility, curve_of
from evaluator.selection.losing_streak import against_previous, losing_streak
from evaluator.selection.plateau import Alone, look, looks_until


def test_a_batch_stops_where_the_product_does():
    made = [training("flat_after", 100, 60, 0.0, 0.0, seed, group_size=2, group_share=0.3) for seed in (1, 2)]
    stops = Batch([Compared(utility) for _, utility, _ in made], made[0][2]).stops()
    assert (stops < NEVER).any()
    for stop, (_, utility, groups) in zip(stops, made):
        curve = curve_of(np.arange(100), ByUtility(utility, by_order), 60, groups)
        said = {m: look(Alone(curve), RULES, m).stops(RULES.worthwhile_slope)[0] for m in looks_until(min(stop, 100))[-3:]}
        assert [m for m, stopped in said.items() if stopped] == ([stop] if stop < NEVER else [])


def test_the_published_rule_is_the_products():
    for seed in range(5):
        _, utility, _ = training("down_after", 60, 100, 0.05, 0.5, seed)
        curve = curve_of(np.arange(60), ByUtility(utility, by_order), 100)
        said = losing_streak(against_previous(curve, RULES.previous), RULES).stopped_at
        assert paper(utility) == (NEVER if said is None else said + 1)


def test_tables_show_what_is_kept_and_shares_that_only_round_to_1(tmp_path):
    cell, store = CELLS[0], Store(tmp_path / "rows.jsonl")
    assert cell.name == "slow, 100, 0"
    rows = [{"ours": 40 if seed else NEVER, "paper": NEVER, "patience": 5} for seed in range(5000)]
    fill(store, cell.name, range(5000), lambda part: ({"seed": seed, **rows[seed]} for seed in part))
    again = Store(store.file)
    fill(again, cell.name, range(5000), lambda part: iter([]))  # everything is there
    assert table(again, CELLS, range(5000)).splitlines()[2:] == [
        "| slow | 100 | 0 | 5,000 | 0 / 0 / 0 / .999 / .999 / .999 | 0 / 0 / 0 / 0 / 0 / 0 | 1 / 1 / 1 / 1 / 1 / 1 |"
    ]


def test_the_set_of_a_steep_rise_is_the_end_and_holds_the_best(tmp_path):
    cell = Cell("flat_after", 100, 0.0, 0.0)
    store = Store(tmp_path / "rows.jsonl")
    fill(store, SETS + cell.name, range(2), partial(best_sets, cell))
    held, size, said = np.mean([row["30"] for row in rows_of(store, SETS + cell.name, range(2))], axis=0)
    assert held == 1 and size < 8 and said >= 0.95
    assert sets_table(store, [cell], range(2)).splitlines()[2].startswith("| flat_after | 100 | 0 | 2 | ")


def test_patience_waits_for_five_without_a_new_best():
    values = np.array([0, 1, 3, 2, 2, 2, 2, 2, 9.0])[:, None]
    assert patience(values) == 8 and patience(values[:7]) == NEVER
