"""A language model's judge against a server that is as rude as the world: in every mode the right answer, or none with a
reason, or a sentence that ends the run; never a wrong answer."""

import multiprocessing
import os
import signal
import threading
import time

import pytest

from core.errors import Refused
from evaluator.judges.endpoint import BudgetSpent, Endpoint
from evaluator.judges.language_model import Limits, ModelServer
from evaluator.judges.pairwise_model import LanguageModelJudge
from evaluator.judges.prompt import Prompt
from evaluator.judges.replies import Replies
from evaluator.judges.texts import Text
from tests.evaluator.judges.rude_server import MODES, SAYS, RudeServer, allowed

KEY = "sk-very-secret-key"
LETTERS = {"A": "A", "tie": "C", "B": "B"}
PAIRS = [("good one", "bad one"), ("bad two", "good two")]
REALLY_WAITS = {name for name in MODES if name.startswith("limited_")}
SPELL = {"spell": lambda choice, body: {"reason": "It is.", "answer": LETTERS[choice]}}
HAS_C = {"letter_outside"}  # C is the letter of a tie here


def judge_at(server, tmp_path, real=False, connections=4, unjudged=0.05, timeout=0.4, **other):
    endpoint = Endpoint(
        server.url, KEY, timeout=timeout, connections=connections, wait=time.sleep if real else lambda seconds: None
    )
    asked, prompt = ModelServer(endpoint, "tiny", **other), Prompt("Be fair.", "Overall")
    return LanguageModelJudge(asked, prompt, Replies(tmp_path / "replies.jsonl"), Limits(unjudged))


@pytest.mark.parametrize("mode", sorted(set(MODES) - HAS_C))
def test_in_every_mode_nothing_wrong_is_read(mode, tmp_path):
    texts_a, texts_b = ([Text(("Hello",), text) for text in side] for side in zip(*PAIRS))
    with RudeServer(mode, slow_seconds=0.8, **SPELL) as server:
        judge = judge_at(server, tmp_path, mode in REALLY_WAITS)
        try:
            said = judge.compare(texts_a, texts_b).choices.tolist()
            ended = ""
        except Refused as refused:
            said, ended = [], str(refused)
        assert server.faults == [] and server.elsewhere == [] and server.too_early == []
        assert judge.endpoint.usage.calls >= len(server.requests)  # one on a connection that was closed never came
    expected = {"A": ["tie", "tie"], "tie": ["tie", "tie"]}.get(SAYS.get(mode, ""), ["A", "B"])
    kept = tmp_path / "replies.jsonl"
    assert KEY not in ended and not (kept.exists() and KEY in kept.read_text())
    ways = allowed(mode)
    if ended:
        assert "stop" in ways, ended
        return
    assert all(choice in ("", right) for choice, right in zip(said, expected, strict=True)), said
    if not ways & {"unjudged", "stop"}:
        assert said == expected
    assert judge.used["unjudged"] == said.count("")


def test_a_budget_is_exact_with_16_at_once_and_nothing_is_asked_twice(tmp_path):
    texts = [Text((f"Question {i}",), f"{word} {i}") for i in range(60) for word in ("good", "bad")]
    with RudeServer("plain", delay=0.01, **SPELL) as server:
        judge = judge_at(server, tmp_path, connections=16, timeout=20)
        judge.endpoint.budget = 100
        with pytest.raises(BudgetSpent):
            judge.compare(texts[::2], texts[1::2])
        assert len(server.requests) == 100 and server.at_once > 1
        again = judge_at(server, tmp_path, connections=16, timeout=20)
        assert again.compare(texts[::2], texts[1::2]).choices.tolist() == ["A"] * 60
        assert len(server.requests) == 120 and set(server.asked().values()) == {1}
        assert judge_at(server, tmp_path).compare(texts[::2], texts[1::2]).choices.tolist() == ["A"] * 60
        assert len(server.requests) == 120


@pytest.fixture
def usual_interrupt():
    """As a command has it: a test of `serve` leaves its own handler behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ended_five_times_it_asks_exactly_once(tmp_path, usual_interrupt):
    """Ctrl-C at any moment: what is under way is waited for and kept."""
    texts = [Text((f"Question {i}",), f"{word} {i}") for i in range(60) for word in ("good", "bad")]
    with RudeServer("plain", delay=0.03, **SPELL) as server:
        for ended in range(5):
            wanted = len(server.requests) + 10

            def end(wanted=wanted) -> None:
                while len(server.requests) < wanted:
                    time.sleep(0.001)
                os.kill(os.getpid(), signal.SIGINT)

            threading.Thread(target=end, daemon=True).start()
            judge = judge_at(server, tmp_path, connections=16, timeout=20)
            with pytest.raises(KeyboardInterrupt):
                judge.compare(texts[::2], texts[1::2])
            assert len(server.requests) < 120, ended
        judge = judge_at(server, tmp_path, connections=16, timeout=20)
        assert judge.compare(texts[::2], texts[1::2]).choices.tolist() == ["A"] * 60
        assert set(server.asked().values()) == {1} and len(server.requests) == 120


@pytest.mark.parametrize("connections", [1, 8])
def test_killed_five_times_it_asks_again_only_what_was_under_way(tmp_path, connections):
    """SIGKILL: nothing is caught. Each reply is written before the next question is sent in its place."""
    texts = [Text((f"Question {i}",), f"{word} {i}") for i in range(40) for word in ("good", "bad")]

    def ask():
        judge_at(server, tmp_path, connections=connections, timeout=20).compare(texts[::2], texts[1::2])

    with RudeServer("plain", delay=0.02, **SPELL) as server:
        for _ in range(5):
            child, wanted = multiprocessing.get_context("fork").Process(target=ask), len(server.requests) + 8
            child.start()
            while len(server.requests) < wanted and child.is_alive():
                time.sleep(0.001)
            child.kill()
            child.join()
        ask()
        asked = list(server.asked().values())
        assert len(asked) == 80 and sum(asked) - 80 <= 5 * connections


def test_a_busy_server_is_asked_more_slowly_and_no_pair_is_lost(tmp_path):
    texts = [Text((f"Question {i}",), f"{word} {i}") for i in range(12) for word in ("good", "bad")]
    with RudeServer("plain", rate=20, **SPELL) as server:
        judge = judge_at(server, tmp_path, real=True, connections=16)
        assert judge.compare(texts[::2], texts[1::2]).choices.tolist() == ["A"] * 12
        assert server.too_early == []


def test_a_rate_is_kept(tmp_path):
    texts = [Text((f"Question {i}",), f"{word} {i}") for i in range(6) for word in ("good", "bad")]
    with RudeServer("plain", **SPELL) as server:
        judge = judge_at(server, tmp_path, real=True, connections=16)
        judge.endpoint.rate = 20.0
        judge.compare(texts[::2], texts[1::2])
        came = sorted(request["in"] for request in server.requests)
    assert came[-1] - came[0] > 0.6 * (len(came) - 1) / 20  # single gaps shrink where a busy machine delays a thread


def test_what_is_refused_once_and_for_all_is_not_paid_for_again(tmp_path):
    texts_a, texts_b = [Text(("Hi",), "good"), Text(("Hi",), "alpha good")], [Text(("Hi",), "bad"), Text(("Hi",), "bad")]
    with RudeServer("alpha_refused", **SPELL) as server:
        judge = judge_at(server, tmp_path)
        assert judge.compare(texts_a, texts_b).choices.tolist() == ["A", ""]
        with pytest.raises(Refused, match="1 of 2 pairs; 1 stay unjudged, more than 5%"):
            judge.check()
        asked = len(server.requests)
        again = judge_at(server, tmp_path, unjudged=0.5)
        assert again.compare(texts_a, texts_b).choices.tolist() == ["A", ""] and len(server.requests) == asked
        again.check()
        assert again.used["unjudged"] == 1 and again.forecast(texts_a, texts_b).calls == 0


def test_another_model_and_what_the_server_takes_are_in_the_record(tmp_path):
    texts_a, texts_b = ([Text(("Hello",), text) for text in side] for side in zip(*PAIRS))
    kept = []
    with RudeServer("other_model", **SPELL) as server:
        judge = judge_at(server, tmp_path)
        judge.compare(texts_a, texts_b)
        assert sum(judge.used["other_models"].values()) == 4
    with RudeServer("wants_everything", **SPELL) as server:
        judge = judge_at(server, tmp_path / "other", connections=1, on_profile=kept.append)
        assert judge.compare(texts_a, texts_b).choices.tolist() == ["A", "B"]
        asked = len(server.requests)
        assert judge.used["server"] == kept[-1]
        third = judge_at(server, tmp_path / "third", connections=1, known=kept[-1])
        third.compare(texts_a, texts_b)
        assert len(server.requests) == asked + 4  # nothing is found out anew
