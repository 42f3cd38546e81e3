"""The recipes and switches of a training, forwards and backwards."""

import pytest

from evaluator.comparator.settings import PAPER, RECIPES, SWITCHES, Settings, fields_of, options_of


def test_the_papers_recipe():
    """Zhou & Xu (2020): sections 3.1 and 4.1."""
    chosen = Settings(**fields_of("paper"))
    assert chosen.architecture == "joint" and chosen.ties and chosen.strong and chosen.weak and chosen.human
    assert chosen.two_stages and chosen.max_words == 250 and not chosen.from_scratch
    assert not (chosen.next_utterance or chosen.references or chosen.guards)


def test_what_is_chosen_overrides_the_recipe():
    assert fields_of() == fields_of(human=True, strong=False, ties=None) == {}
    assert fields_of("paper", ties=False) == fields_of("paper") | {"ties": False}
    assert not Settings(**fields_of("paper", human=False, weak=False)).weak


def test_without_human_judgments_all_that_needs_none_is_learnt_from():
    unjudged = Settings(**fields_of(human=False))
    assert unjudged.strong and unjudged.weak and unjudged.next_utterance and not unjudged.human
    assert not Settings(**fields_of(human=False, strong=False)).strong


@pytest.mark.parametrize(
    "fields, words",
    [
        ({}, ""),
        ({"strong": True, "next_utterance": False}, "--strong --no-dialogues"),
        (fields_of("paper"), "--recipe paper"),
        (fields_of("paper", ties=False, encoder="bert"), "--recipe paper --no-ties --encoder bert"),
        (fields_of("paper", human=False), "--recipe paper --no-human"),
        (fields_of("paper", architecture="utility", two_stages=False), "--recipe paper --no-two-stages --architecture utility"),
        (fields_of(human=False, weak=False, guards=False), "--no-human --no-weak --no-guards"),
        ({"from_scratch": True, "references": False}, "--no-references --from-scratch"),
    ],
)
def test_the_options_that_choose_the_same_again(fields, words):
    assert " ".join(options_of(fields)) == words


def test_every_field_of_a_recipe_and_every_switch_is_a_setting():
    for recipe in RECIPES.values():
        Settings(**recipe)
    assert all(type(getattr(Settings(), field)) is bool for field in SWITCHES)
    assert PAPER.keys() - SWITCHES.keys() == {"architecture", "human_scores", "human_judgments", "max_words", "max_length"}
