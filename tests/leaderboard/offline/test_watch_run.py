"""`comparena watch_run`: a line for each whole checkpoint of a folder, and an exit code that stops a training or does not."""

import gzip
import json
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from evaluator.comparator.settings import Settings
from evaluator.comparator.storage import Manifest
from evaluator.judges.calibration import Head
from evaluator.judges.texts import Text, context_key, keys_of
from evaluator.selection.rules import Rules
from leaderboard.offline import watch
from leaderboard.offline.commands import main
from leaderboard.offline.run_folder import Contexts, RunFolder

SCORES = "\n".join(  # a program that prefers the text with fewer "um"
    (
        "import json, sys",
        "for line in sys.stdin:",
        "    row = json.loads(line)",
        "    print(json.dumps({'id': row['id'], 'score': -row['output'].split().count('um')}))",
    )
)


@pytest.fixture
def judge(tmp_path):
    program = tmp_path / "judge.py"
    program.write_text(SCORES)
    return f"{sys.executable} {program}"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def rows(ums, contexts=6, **more):
    return [
        {"context_id": f"c{i}", "context": f"Question {i}?", "output": "yes " + "um " * ums(i), **more} for i in range(contexts)
    ]


def lines(written):
    return "".join(json.dumps(row) + "\n" for row in written)


def write(folder, name, written):
    (folder / name).write_text(written if isinstance(written, str) else lines(written), encoding="utf-8")


def poll(folder, contexts=None):
    said = []
    run = RunFolder(folder, contexts, said.append)
    return run, said


def test_steps_are_numbers_and_files_of_another_name_are_named_once(folder):
    for name in ("step-1000.jsonl", "step-9.jsonl", "step-010.jsonl", "step-final.jsonl", "other.jsonl"):
        write(folder, name, rows(lambda i: i))
    run, said = poll(folder)
    assert run.new(last=True) == [9, 10, 1000] and run.new(last=True) == []
    assert said == ["step-final.jsonl is ignored: a checkpoint's file is called step-NUMBER.jsonl, or .jsonl.gz."]


def test_a_file_that_grows_counts_once_it_answers_every_context(folder):
    write(folder, "step-1.jsonl", rows(lambda i: i))
    run, said = poll(folder)
    assert run.new() == [] and run.new() == [1]  # of the first one nobody knows the contexts: it must lie still
    whole = lines(rows(lambda i: 0))
    for written, expected in ((whole[:-70], []), (whole[:-9], []), (whole, [2])):
        write(folder, "step-2.jsonl", written)
        assert run.new() == expected
    assert said == []


def test_a_half_file_that_lies_still_is_named_once_and_the_others_go_on(folder):
    write(folder, "step-1.jsonl", rows(lambda i: i))
    write(folder, "step-2.jsonl", lines(rows(lambda i: 0))[:-9])
    write(folder, "step-3.jsonl", rows(lambda i: 0))
    run, said = poll(folder)
    assert [run.new(), run.new(), run.new(), run.new()] == [[], [1, 3], [], []]
    (sentence,) = said
    assert sentence.startswith("step-2.jsonl is left out: step-2.jsonl, line 6: is not JSON")


def test_outputs_meet_by_context_and_what_is_missing_is_no_output(folder):
    write(folder, "step-1.jsonl", rows(lambda i: i))
    write(folder, "step-2.jsonl", list(reversed(rows(lambda i: i)))[:-1] + [{"context_id": "new", "output": "x"}])
    run, said = poll(folder)
    run.new(last=True)
    assert run.outputs(2) == [None, *run.outputs(1)[1:]]
    assert said == ["step-2.jsonl: outputs of contexts that the first file does not have are left out."]


def test_packed_files_are_read_and_other_files_of_a_step_are_named(folder):
    content = lines(rows(lambda i: i)).encode()
    (folder / "step-1.jsonl.gz").write_bytes(gzip.compress(content))
    write(folder, "step-01.jsonl", content.decode())
    write(folder, "step-001.jsonl", rows(lambda i: 9))
    run, said = poll(folder)
    assert run.new(last=True) == [1]
    assert run.outputs(1)[0].count("um") == 9
    assert len(said) == 2 and all("another file of step 1 was read, with other outputs" in sentence for sentence in said)


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ([{"context_id": "c0", "output": 3}], "line 1, field 'output': expected a text."),
        ([{"output": "x"}], "line 1, field 'context_id': a row needs a context_id or a context."),
        (rows(lambda i: 0, system="other"), "line 1, field 'system': expected '', whose training this is, found 'other'."),
        ("", "step-2.jsonl: is empty; at least one row was expected."),
    ],
)
def test_a_bad_file_is_left_out_with_line_and_field(folder, wrong, sentence):
    write(folder, "step-1.jsonl", rows(lambda i: i))
    write(folder, "step-2.jsonl", wrong)
    run, said = poll(folder)
    assert run.new(last=True) == [1]
    assert said == [f"step-2.jsonl is left out: {sentence}"]


def test_a_training_that_gets_worse_ends_with_3(folder, judge, capsys):
    for step in range(10):
        write(folder, f"step-{100 * step}.jsonl", rows(lambda i, step=step: 2 * step + (i * step) % 2))
    assert main(["watch_run", str(folder), "--judge-command", judge, "--once"]) == 3
    captured = capsys.readouterr()
    printed = captured.out.splitlines()
    costs = [line for line in captured.err.splitlines() if "outputs of a checkpoint" in line]
    assert len(costs) == 2 and "not known" in costs[0] and "by its newest 1 evaluation here" in costs[1]
    assert [line.split(";")[0] for line in printed] == [f"step {100 * step}" for step in range(10)]
    assert printed[0].split("; ")[1:4] == ["6 of 6 contexts", "nothing to compare with", "no slope yet"]
    assert printed[-1].endswith("getting worse: stop; the published rule: stop")


def test_equal_checkpoints_are_no_verdict_on_six_contexts(folder, judge, capsys):
    for step in range(10):
        write(folder, f"step-{100 * step}.jsonl", rows(lambda i: i))
    assert main(["watch_run", str(folder), "--judge-command", judge, "--once", "--json"]) == 0
    captured = capsys.readouterr()
    facts = json.loads(captured.out.splitlines()[-1])
    assert facts["unit"] == "context" and "No context names a group, so all count as independent." in captured.err
    assert (facts["word"], facts["outputs"], facts["points"][0]["ties"]) == ("open", 6, 12)
    assert facts["best_known"] is False and main(["watch_run", str(folder), "--judge-command", judge, "--once"]) == 0
    assert "; likeliest best step " in capsys.readouterr().out.splitlines()[-1]


def test_a_comparator_finds_its_groups_by_the_words_of_their_contexts(monkeypatch):
    """It was taught by c0 in fold 1, c1 and c2 in fold 0; c3 is new, and of the group of c0."""
    turns = {f"c{i}": (f"Question {i}?",) for i in range(4)}
    folds = {
        context_key(turns["c0"]): 1,
        context_key(turns["c1"]): 0,
        context_key(turns["c2"]): 0,
        keys_of(Text((), "", group="x"))[0]: 2,
    }
    judge = SimpleNamespace(
        kind="pointwise", manifest=Manifest(Settings(), 0, "", folds, Head(1.0, 0.0, 0.0), [""] * 3, {}, 1.0)
    )
    monkeypatch.setattr(watch, "judge_of", lambda options, references: judge)
    contexts = Contexts(turns, {"c0": "a", "c1": "x", "c3": "a"})
    watched = watch.watched_by(None, contexts, Rules())
    texts = watched._texts([""] * 4, range(4))
    assert [judge.manifest.fold_of(text) for text in texts] == [1, 0, 0, 1]
    assert judge.manifest.fold_of(Text(("new",), "", group="x")) == 0  # this group x, not that of whoever taught it
    judge.manifest = replace(judge.manifest, folds=folds | {context_key(turns["c3"]): 0})
    watch.watched_by(None, contexts, Rules())
    assert judge.manifest.fold_of(Text(("new",), "", group="a")) is None  # its contexts lie in two folds


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["missing", "--judge", "ngram"], "There is no folder missing."),
        (["{folder}", "--judge", "nobody"], "'nobody' is neither a folder nor a metric"),
        (["{folder}"], "Name the judge"),
        (["{folder}", "--judge", "ngram", "--worthwhile", "0"], "A worthwhile gain is between 0 and 50 points"),
    ],
)
def test_bad_input_is_never_a_stop(folder, capsys, words, sentence):
    assert main(["watch_run", *(word.format(folder=folder) for word in words)]) == 2
    assert sentence in capsys.readouterr().err


def test_an_empty_folder_goes_on(folder, judge, capsys):
    assert main(["watch_run", str(folder), "--judge-command", judge, "--once"]) == 0
    assert "no whole step-NUMBER.jsonl" in capsys.readouterr().err


def test_a_generator_is_trained_into_a_folder_that_is_watched(folder, judge, capsys):
    """An iteration each: what is tested is the files, which an import and `watch_run` read."""
    talk = [{"turns": ["Where is it?", "It is here."]}, {"turns": ["Is it there?", "No, here."]}]
    write(folder, "talk.jsonl", talk)
    groups = [{"group": "a"}, {"group": ""}, {"metadata": {"conversation": "b", "turn": 2, "turns": 3}}]
    asked = [{"context_id": f"c{i}", "context": [f"Where is {i}?"], **of} for i, of in enumerate(groups)]
    write(folder, "contexts.jsonl", asked)
    words = [
        "train_generator",
        "small",
        "--dialogues",
        str(folder / "talk.jsonl"),
        "--contexts",
        str(folder / "contexts.jsonl"),
    ]
    words += ["--out", str(folder / "out"), "--iterations", "2", "--every", "1"]
    assert main([*words, "--judge-command", judge]) == 0
    said = capsys.readouterr()
    assert [line.split(";")[0] for line in said.out.splitlines()] == ["step 1 of 2", "step 2 of 2"]
    assert main(["watch_run", str(folder / "out"), "--judge-command", judge, "--once"]) == 0
    watched = capsys.readouterr()
    assert "step 2; 3 of 3 contexts" in watched.out and "No context names a group" not in said.err + watched.err
    row, *others = map(json.loads, (folder / "out/step-2.jsonl").read_text(encoding="utf-8").splitlines())
    assert [one.get("group") for one in (row, *others)] == ["a", None, "b"]
    assert (row["context_id"], row["system"], row["iteration"], row["total_iterations"]) == ("c0", "small", 2, 2)
    assert main(words) == 2 and "holds checkpoints already" in capsys.readouterr().err
    nothing = [*words[:2], *words[4:7], str(folder / "other")]
    assert main(nothing) == 2 and "--dialogues with a file" in capsys.readouterr().err
    assert main([*nothing, "--architecture", "gru"]) == 2 and "no architecture 'gru'" in capsys.readouterr().err


def test_a_causal_model_of_a_folder_answers_as_it_is_and_learns(folder, judge, capsys):
    from tests.tiny_gpt2 import saved

    talk = [["Where is it?", "It is here."], ["Is it there?", "No, here."]]
    model = saved(folder / "gpt2", [text for turns in talk for text in turns])
    write(folder, "talk.jsonl", [{"turns": turns} for turns in talk])
    write(folder, "contexts.jsonl", [{"context_id": f"c{i}", "context": [turns[0]]} for i, turns in enumerate(talk)])
    words = ["train_generator", "small", "--architecture", model, "--contexts", str(folder / "contexts.jsonl")]
    as_it_is, learns = [*words, "--iterations", "0"], [*words, "--dialogues", str(folder / "talk.jsonl"), "--iterations", "1"]
    assert main([*as_it_is, "--out", str(folder / "as-it-is")]) == 0
    assert capsys.readouterr().out == "step 0 of 0; before it learns\n"
    assert main([*learns, "--every", "1", "--out", str(folder / "out"), "--judge-command", judge]) == 0
    assert [line.split(";")[0] for line in capsys.readouterr().out.splitlines()] == ["step 0 of 1", "step 1 of 1"]
    files = [folder / name for name in ("as-it-is/step-0.jsonl", "out/step-0.jsonl", "out/step-1.jsonl")]
    rows_of = [[json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files]
    said = [[(row["context_id"], row["output"], row["logprob"]) for row in each] for each in rows_of]
    assert said[0] == said[1] and [row[0] for row in said[2]] == ["c0", "c1"]  # what has not learned yet says the same
    assert [row[2] for row in said[1]] != [row[2] for row in said[2]] and all(row[2] < 0 for row in said[2])
    spoken = set(" ".join(text for turns in talk for text in turns).split())
    assert all(output and set(output.split()) <= spoken for each in said for _, output, _ in each)
    assert main(["watch_run", str(folder / "out"), "--judge-command", judge, "--once"]) == 0
    assert "step 1; 2 of 2 contexts" in capsys.readouterr().out


def test_a_watched_generator_reports_to_the_campaigns_run(folder, monkeypatch, capsys):
    from tests.clients.stub_server import CONTEXTS, StubServer

    write(folder, "talk.jsonl", [{"turns": ["Where is it?", "It is here."]}, {"turns": ["Is it there?", "No, here."]}])
    words = ["train_generator", "small", "--dialogues", str(folder / "talk.jsonl"), "--out", str(folder / "out")]
    words += ["--iterations", "2", "--every", "1", "--watch", "talk"]
    monkeypatch.chdir(folder)  # where the client keeps what the server has not confirmed
    monkeypatch.delenv("COMPARENA_URL", raising=False)
    assert main(words) == 2 and "COMPARENA_URL" in capsys.readouterr().err
    assert main([*words, "--contexts", "c.jsonl"]) == 2 and "leave out --contexts" in capsys.readouterr().err
    assert main(words[:-2]) == 2 and "or --watch with a campaign" in capsys.readouterr().err
    stub = StubServer()
    monkeypatch.setenv("COMPARENA_URL", stub.url)
    monkeypatch.setenv("COMPARENA_TOKEN", "token")
    try:
        assert main(words) == 0
        deadline = time.monotonic() + 30
        while len(stub.stored) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        stub.kill()
    for step in (1, 2):
        rows = [json.loads(line) for line in (folder / f"out/step-{step}.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [row["context_id"] for row in rows] == [context["context_id"] for context in CONTEXTS]
        assert stub.stored[step] == {row["context_id"]: row["output"] for row in rows}
