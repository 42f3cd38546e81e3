"""Who says what in a context, and how much of it is seen at first."""

import pytest

from annotation.annotating.conversation import LINE, LONG, conversation, line_count


def speakers(turns, roles=None):
    earlier, latest = conversation(turns, roles)
    return [utterance.speaker for utterance in earlier + latest]


def test_chat_messages_are_labelled_by_their_roles():
    roles = ["system", "user", "assistant", "human", "Narrator"]
    assert speakers(["a", "b", "c", "d", "e"], roles) == ["System", "User", "Assistant", "User", "Narrator"]
    _, latest = conversation(["a", "b", "c"], ["system", "user", "assistant"])
    assert [utterance.is_second for utterance in latest] == [False, False, True]


def test_a_plain_dialogue_alternates():
    _, latest = conversation(["a", "b", "c"])
    assert [utterance.speaker for utterance in latest] == ["Speaker 1", "Speaker 2", "Speaker 1"]
    assert [utterance.is_second for utterance in latest] == [False, True, False]


@pytest.mark.parametrize("turns", [[], ["a text"], ["Ann: hi", "Bob: hello", "Ann: how are you?"]])
def test_what_is_no_dialogue_or_names_its_speakers_has_no_labels(turns):
    assert speakers(turns) == [""] * len(turns)


@pytest.mark.parametrize("roles", ["user", ["user"], [1, 2], {"a": 1}, ["user", None]])
def test_roles_that_do_not_fit_are_not_believed(roles):
    assert speakers(["a", "b"], roles) == ["Speaker 1", "Speaker 2"]


def test_the_latest_turns_of_a_long_dialogue_are_shown():
    turns = ["x" * 3 * LINE] * 10  # of three lines each: four are twelve
    earlier, latest = conversation(turns)
    assert (len(earlier), len(latest)) == (6, 4) and not any(utterance.is_long for utterance in latest)


def test_a_context_that_just_fits_is_whole():
    assert [len(part) for part in conversation(["x"] * LONG)] == [0, LONG]
    assert [len(part) for part in conversation(["x"] * (LONG + 1))] == [7, 12]


def test_the_last_turn_is_there_however_long():
    earlier, (last,) = conversation(["a", "b", "line\n" * 40])
    assert len(earlier) == 2 and last.is_long
    assert conversation(["line\n" * 40])[1][0].is_long and not conversation(["line\n" * LONG])[1][0].is_long


def test_lines_are_counted_by_width_and_by_breaks():
    assert [line_count(text) for text in ("", "a", "a\n\nb", "x" * (LINE + 1))] == [1, 1, 3, 2]
