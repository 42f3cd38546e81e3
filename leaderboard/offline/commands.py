"""The commands that need no server: `comparena gate`, `check_judge`, `doctor`, `watch_run`,
`train_generator`.

Only what a command asks for is imported: no Django, no torch. Bad input is one sentence on stderr and exit code 3, so that it
is told from a verdict; a fault of the program is 4.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from core.errors import ImportRefused, Refused
from core.version import code_version

BAD_INPUT, BROKEN = 3, 4


class Parser(argparse.ArgumentParser):
    bad_input = BAD_INPUT

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(self.bad_input, f"{self.prog}: {message}\n")


def main(words: Sequence[str]) -> int:
    """words: the command's name and its options. Returns the exit code; a fault of ours is none of the verdicts'."""
    parser = PARSERS[words[0]]()
    options = parser.parse_args(list(words[1:]))
    options.bad_input = parser.bad_input
    options.words = list(words[1:])
    try:
        return int(options.run(options))
    except Refused as refused:
        return _refused(refused, options)
    except Exception:
        traceback.print_exc()
        print(f"comparena {options.command}: this is a fault of the program, not of the file.", file=sys.stderr)
        return BROKEN


def _print(content: str) -> None:
    """A reader that has read enough changes no exit code."""
    try:
        print(content, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused(refused: Refused, options: argparse.Namespace) -> int:
    told = refused.told() if isinstance(refused, ImportRefused) else str(refused)
    print(f"comparena {options.command}: {told}", file=sys.stderr)
    if options.json:
        first = refused.errors[0] if isinstance(refused, ImportRefused) else None
        where = {"file": first.file, "line": first.line or first.row, "field": first.field} if first else {}
        print(json.dumps({"error": told, **where, "exit_code": options.bad_input}, ensure_ascii=False))
    return int(options.bad_input)


def _parser(name: str, run: Callable[[argparse.Namespace], int], about: str) -> Parser:
    parser = Parser(f"comparena {name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.set_defaults(run=run, command=name)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    return parser


def _file_options(parser: Parser, of: str = "") -> None:
    parser.add_argument(
        "--column", action="append", default=[], metavar="FIELD=COLUMN", help=f"which column{of} holds a field; repeatable"
    )
    parser.add_argument(
        "--constant", action="append", default=[], metavar="FIELD=VALUE", help=f"what is the same in all rows{of}; repeatable"
    )
    parser.add_argument("--encoding", default="", help=f"of a text file{of}; default: its mark, else UTF-8")


def _assignments(words: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise Refused(f"{option} {word}: expected NAME=VALUE.")
        found[name] = value
    return found


def gate_parser() -> Parser:
    about = (
        "Is NEW not worse than OLD by more than a margin? PASS, FAIL or INCONCLUSIVE, with exit code 0, 1 or 2; 3 for bad\n"
        "input, 4 for a fault of the program.\n"
        "The verdict is wrong with a chance of at most 5%, however often it is asked of a growing file."
    )
    parser = _parser("gate", _gate, about)
    parser.add_argument("new", metavar="NEW", help="the new system, as the file calls it; NAME@CHECKPOINT for one checkpoint")
    parser.add_argument("old", metavar="OLD", help="the system that it is compared with")
    parser.add_argument("--judgments", required=True, metavar="FILE", help="judgments of pairs or scores, of any program")
    parser.add_argument(
        "--margin",
        required=True,
        type=float,
        metavar="D",
        help="how much worse is tolerated: share of wins less losses, 0 to 1",
    )
    parser.add_argument("--judge", metavar="NAME", help="whose judgments count; default: people's, else the only program's")
    parser.add_argument("--criterion", metavar="NAME", help="where the file has answers on several")
    parser.add_argument(
        "--best", choices=("high", "low"), help="which end of a scale is best; default: the file's word, else high"
    )
    parser.add_argument("--confidence", type=float, default=0.95, help="of the interval; default 0.95")
    _file_options(parser)
    return parser


def _gate(options: argparse.Namespace) -> int:
    from leaderboard.offline import answers, gate, text

    if not 0 <= options.margin < 1:
        raise Refused(f"--margin {options.margin:g}: the margin lies from 0 to below 1.")
    if not 0 < options.confidence < 1:
        raise Refused(f"--confidence {options.confidence:g}: the confidence lies between 0 and 1.")
    columns, constants = _assignments(options.column, "--column"), _assignments(options.constant, "--constant")
    constants |= {"best": options.best} if options.best else {}
    read = answers.read(options.judgments, answers.How(columns or None, constants, encoding=options.encoding))
    found = gate.gate(read, options.new, options.old, options.margin, options.judge, options.criterion, options.confidence)
    result = found.as_dict() | text.account(read) | {"code": code_version()}
    _print(json.dumps(result, ensure_ascii=False) if options.json else text.gate(result))
    return found.exit_code


def check_judge_parser() -> Parser:
    about = (
        "Does a judge agree with people, by how much does it misstate each system, and what do both together say?\n"
        "Its answers are corrected by what people said of a part of the same texts, which the judge must not have chosen."
    )
    parser = _parser("check_judge", _check_judge, about)
    parser.add_argument("file", metavar="OUTPUTS_OR_VOTES", help="what the judge said: votes, a log, or a column of a table")
    parser.add_argument("--people", required=True, metavar="LABELS", help="what people said; may be the same file")
    parser.add_argument(
        "--judge", action="append", default=[], metavar="COLUMN", help="a column of scores, or a judge's name; repeatable"
    )
    parser.add_argument(
        "--label", action="append", default=[], metavar="COLUMN", help="a column of people's scores in LABELS; repeatable"
    )
    parser.add_argument("--criterion", metavar="NAME", help="where people answered on several")
    parser.add_argument(
        "--best", choices=("high", "low"), help="which end of both files' scales is best; default: the files' word, else high"
    )
    parser.add_argument(
        "--annotators",
        choices=("expert", "skilled", "crowd"),
        default="crowd",
        help="for epsilon of the alternative annotator test; default crowd",
    )
    parser.add_argument(
        "--judge-scale",
        choices=("auto", "ranks", "no"),
        default="auto",
        help="how the judge's scores come on people's scale: by ranks, as they are, or by ranks where they lie outside it",
    )
    parser.add_argument("--html", metavar="FILE", help="write one page that stands alone")
    parser.add_argument("--seed", type=int, default=0)
    _file_options(parser, " of OUTPUTS_OR_VOTES")
    parser.add_argument(
        "--people-column", action="append", default=[], metavar="FIELD=COLUMN", help="which column of LABELS holds a field"
    )
    parser.add_argument(
        "--people-constant", action="append", default=[], metavar="FIELD=VALUE", help="what is the same in all rows of LABELS"
    )
    return parser


def _check_judge(options: argparse.Namespace) -> int:
    from leaderboard.offline import judge_check, judge_files, judge_page, judge_report, text

    judge, people = judge_files.both(options)
    found = judge_check.check(judge, people, options.annotators, options.seed, options.judge_scale)
    result = judge_report.as_dict(found)
    result["assumed"] = [*dict.fromkeys([*judge.assumed, *people.assumed, *result["assumed"]])]
    result |= {"files": [text.account(judge), text.account(people)], "seed": options.seed, "code": code_version()}
    result["command"] = "comparena " + shlex.join(["check_judge", *options.words])
    if options.html:
        _write(options.html, judge_page.page(result))
    _print(
        json.dumps(result, ensure_ascii=False)
        if options.json
        else f"{judge_report.text(result)}\nSeed {options.seed}. Code {result['code']}."
    )
    return 0


def _write(path: str, content: str) -> None:
    try:
        Path(path).write_text(content, encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path} can't be written ({error.strerror}).") from error


def doctor_parser() -> Parser:
    about = "What a file is, what an import would store of it, what could be computed, and the command to run."
    parser = _parser("doctor", _doctor, about)
    parser.add_argument("file", metavar="FILE", help="of any program")
    return parser


def _doctor(options: argparse.Namespace) -> int:
    from leaderboard.offline import file_account

    result = file_account.account(options.file) | {"code": code_version()}
    _print(json.dumps(result, ensure_ascii=False) if options.json else file_account.text(result))
    return 0


def watch_parser() -> Parser:
    about = (
        "Watch a training: a line for each checkpoint whose outputs come into FOLDER as step-100.jsonl, step-200.jsonl, ...\n"
        "Exit code 3: stop the training; 0: go on; 2 for bad input, 4 for a fault of the program. It waits for more files\n"
        "until the training is to stop, or --total is reached; with --once it reads what is there. A file counts once it\n"
        "answers every context, or has not changed between two looks."
    )
    parser = _parser("watch_run", _watch, about)
    parser.bad_input = 2  # 3 stops a training
    parser.add_argument("folder", metavar="FOLDER", help="rows of {context_id, context, output}, as imports have them")
    parser.add_argument("--judge", metavar="NAME_OR_FOLDER", help="a metric by its name, or a comparator's folder")
    parser.add_argument("--judge-command", metavar="CMD", help="a program: reads {id, context, output}, writes {id, score}")
    parser.add_argument(
        "--contexts", metavar="FILE", help="rows of {context_id, context, group, references}; default: the first file's"
    )
    parser.add_argument("--worthwhile", type=float, default=1.0, metavar="POINTS", help="of win rate above 50%%; default 1")
    parser.add_argument("--per", type=int, default=1000, metavar="STEPS", help="in which it is to be gained; default 1000")
    parser.add_argument("--error", type=float, default=0.05, help="of stopping a training that gains as much; default 0.05")
    parser.add_argument("--once", action="store_true", help="read what is there and end")
    parser.add_argument("--total", type=int, metavar="STEP", help="the last step, at which it ends")
    parser.add_argument("--every", type=float, default=5.0, metavar="SECONDS", help="between two looks; default 5")
    return parser


def _watch(options: argparse.Namespace) -> int:
    from leaderboard.offline import watch

    watch.check(options)
    return watch.watch(options, _print)


def train_generator_parser() -> Parser:
    about = (
        "Train a small generator from dialogues, and write its checkpoints' outputs into a folder, a file each, as imports\n"
        "and watch_run read them. With a judge it stops where the training no longer gains what is worthwhile (exit code 3)."
    )
    parser = _parser("train_generator", _train_generator, about)
    parser.bad_input = 2  # 3 stops a training
    parser.add_argument("name", metavar="NAME", help="of the system")
    named = "lstm (default), convolutional, transformer, or the folder of a causal language model"
    parser.add_argument("--architecture", default="lstm", metavar="NAME_OR_FOLDER", help=named)
    parser.add_argument("--dialogues", metavar="FILE", help="rows of {turns} to learn from")
    parser.add_argument("--contexts", metavar="FILE", help="rows of {context_id, context} to answer")
    parser.add_argument("--watch", metavar="SLUG", help="report to this campaign's run NAME, which has contexts and a judge")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="for step-100.jsonl, step-200.jsonl, ...")
    parser.add_argument(
        "--iterations", type=int, default=1200, help="of the whole training; default 1200; 0: a folder's model as it is"
    )
    parser.add_argument("--every", type=int, default=100, metavar="N", help="iterations between two checkpoints; default 100")
    parser.add_argument("--decoder", choices=("greedy", "ancestral", "nucleus", "beam"), default="nucleus")
    parser.add_argument("--seed", type=int, default=0, help="of weights, batches and outputs; default 0")
    parser.add_argument("--judge", metavar="NAME_OR_FOLDER", help="a metric, a comparator's folder, or a campaign's judge")
    parser.add_argument("--judge-command", metavar="CMD", help="a program: reads {id, context, output}, writes {id, score}")
    parser.add_argument("--worthwhile", type=float, default=1.0, metavar="POINTS", help="of win rate above 50%%; default 1")
    parser.add_argument("--per", type=int, default=100, metavar="N", help="iterations in which it is to be gained; default 100")
    return parser


def _train_generator(options: argparse.Namespace) -> int:
    from leaderboard.offline import generator_run

    return generator_run.train(options, _print)


PARSERS: dict[str, Callable[[], Parser]] = {
    "train_generator": train_generator_parser,
    "gate": gate_parser,
    "check_judge": check_judge_parser,
    "doctor": doctor_parser,
    "watch_run": watch_parser,
}


def summary() -> str:
    """What `comparena help` says of them."""
    rows: list[Any] = ["Without a server, from files alone:"]
    for name, parser in PARSERS.items():
        rows.append(f"  {name:<12} {(parser().description or '').splitlines()[0]}")
    return "\n".join(rows)
