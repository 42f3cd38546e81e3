# SPDX-License-Identifier: MIT
"""A small Python client for Comparena's REST API: one file, which needs httpx alone.

    from comparena_client import Client

    client = Client("http://127.0.0.1:8000", token="comparena_...")
    talk = client.create_campaign("talk", title="Small talk", criteria=[{"name": "Overall", "low": 1, "high": 5}])
    talk.import_outputs([{"context": "Hi", "system": "parrot", "output": "Hello"}, ...])
    talk.set_status("open")
    print(talk.invite("pilot"))                     # the link to send to annotators
    talk.assess()                                   # accept their answers as a snapshot
    client.wait(talk.train())
    board = talk.play("people")                     # a list of rows, with board.warnings beside them
    print(board)                                    # the table, and what must be said with it

A training that is watched while it goes on (docs/judges/training-loops.md):

    run = talk.run("lstm-3e-4", total=12_000)
    for step in range(500, 12_500, 500):
        train_until(step)
        if run.report(step, generate(model, run.contexts)).stop:
            break
    print(run.best())

Install it with `pip install ./clients`, or copy this file. What the server refuses is raised as `Refused`.
"""

import atexit
import io
import json
import logging
import math
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

Rows = Iterable[dict[str, Any]]
PAGE_SIZE = 1000
PART = 4_000_000  # bytes of JSON in one request of a report
FOR_GOOD = (400, 409, 413, 422)  # a report that is refused so is refused again however often it is sent
AWAY = (408, 425, 429, 502, 503, 504, 507)  # so does a server answer that is busy, or a proxy in front of one that is away
log = logging.getLogger("comparena")


class Refused(Exception):
    """The server refused a request, or a job failed. str() is its sentence.

    status: the HTTP status, 0 for a job. errors: [{"field", "line", "message", ...}], for an import one for each wrong row.
    request_id: what the server's log calls the request, "" where it is not known.
    """

    def __init__(self, message: str, status: int = 0, errors: list[dict[str, Any]] | None = None, request_id: str = ""):
        super().__init__(message)
        self.status, self.errors, self.request_id = status, errors or [], request_id


class Client:
    """A server, spoken to with a token that was made on the page of an account."""

    def __init__(self, url: str, token: str = "", timeout: float = 60.0):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=f"{self.url}/api/", headers=headers, timeout=timeout, transport=httpx.HTTPTransport(retries=2)
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def request(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Any call of the API, by its path below /api/. how: as httpx's `request`. Every POST gets an Idempotency-Key, so that
        repeating it after a broken connection makes nothing twice. Raises Refused."""
        if method == "POST":
            how["headers"] = {"Idempotency-Key": str(uuid.uuid4())} | dict(how.get("headers") or {})
        response = self._http.request(method, path.lstrip("/"), **how)
        if response.is_success:
            return response
        try:
            problem = response.json()
        except ValueError:
            problem = {}
        problem = problem if isinstance(problem, dict) else {}
        message = problem.get("detail") or problem.get("message") or f"HTTP {response.status_code}"
        raise Refused(message, response.status_code, problem.get("errors"), problem.get("request_id", ""))

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """JSON out, JSON in; None where the answer is empty."""
        response = self.request(method, path, **({} if body is None else {"json": body}))
        return response.json() if response.content else None

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Every row of a list, page by page."""
        number = 1
        while True:
            page = self.request("GET", path, params={**params, "page": number, "page_size": PAGE_SIZE}).json()
            if isinstance(page, list):
                yield from page
                return
            yield from page["results"]
            if not page["next"]:
                return
            number += 1

    def campaigns(self) -> list[dict[str, Any]]:
        return list(self.pages("campaigns/"))

    def campaign(self, slug: str) -> "Campaign":
        """A campaign by its slug; nothing is asked of the server yet."""
        return Campaign(self, slug)

    def create_campaign(self, slug: str, **settings: Any) -> "Campaign":
        """settings: `template`, `title`, `criteria`, `pairwise`, `overlap`, ...: the fields of POST /api/campaigns/."""
        self.call("POST", "campaigns/", {"slug": slug, **settings})
        return Campaign(self, slug)

    def bring_back(self, file: str | Path, slug: str = "") -> "Campaign":
        """The campaign of an archive, with equal hashes, boards and times. slug: another short name."""
        path = Path(file)
        with path.open("rb") as opened:
            answer = self.request("POST", "archives/", data={"slug": slug} if slug else {}, files={"file": (path.name, opened)})
        made = answer.json()
        if answer.status_code == 202:
            self.wait(made)
        return Campaign(self, made["campaign"])

    def job(self, job: "dict[str, Any] | str") -> dict[str, Any]:
        """How a job stands now."""
        found: dict[str, Any] = self.call("GET", f"jobs/{job if isinstance(job, str) else job['id']}/")
        return found

    def wait(self, job: "dict[str, Any] | str", timeout: float = 3600.0, every: float = 1.0) -> dict[str, Any]:
        """The job once it is done, asked for every so many seconds. Raises Refused where it failed or was cancelled, and
        TimeoutError after `timeout` seconds, when the job goes on."""
        end = time.monotonic() + timeout
        while True:
            stand = self.job(job)
            if stand["status"] == "done":
                return stand
            if stand["status"] in ("failed", "cancelled"):
                raise Refused(stand["error"] or f"{stand['title']}: {stand['status']}.")
            if time.monotonic() >= end:
                raise TimeoutError(f"{stand['title']}: {stand['status']} after {timeout:g} seconds")
            time.sleep(every)


class Board(list[dict[str, Any]]):
    """The standings of a board, the best first: {system, rank_low, rank_high, rating, low, high, best, ...}. best: the chance
    to be the best, of one system on this board; what is known of two systems must hold for all pairs at once.

    details: the whole board as the API gives it. warnings: what must be said with these numbers wherever they go; str() ends
    with them. signature: with which the board can be made again.
    """

    def __init__(self, details: dict[str, Any]):
        super().__init__(details["standings"])
        self.details = details
        self.warnings: list[str] = [one["text"] for one in details["warnings"]]
        self.signature: str = details["provenance"]["signature"]

    def __str__(self) -> str:
        said, own = self.details["said"], self.details["said"].get("own_name", "")
        head = f"{'rank':>7}  {'system':<32}{'rating':>7}  {'95% interval':<16}{own:<{self._width(own)}}best"
        rows = [line for row, group in self._grouped() for line in (*group, self._line(row, own))]
        answers = f": {said['answers']}" if said["answers"] else ""
        about = f"Judged by {said['judged_by']}, on {said['question']}{answers}. Rated by {said['method']}. {said['intervals']}"
        below = [said["headline"], said["ranks"], said.get("best_meaning"), *(f"Warning: {text}" for text in self.warnings)]
        return "\n".join([about, head, *rows, *filter(None, below), self.signature])

    def _grouped(self) -> Iterator[tuple[dict[str, Any], list[str]]]:
        """Each row, and what stands above it: the group that begins with it, where some systems never met."""
        is_split, group = len(self.details["groups"]) > 1, None
        for row in sorted(self, key=lambda row: row["group"] or 0) if is_split else self:
            begins = is_split and row["group"] != group
            group = row["group"]
            yield row, [f"Group {group}"] if begins else []

    def _line(self, row: dict[str, Any], own: str) -> str:
        name = row["system"] + (" (human)" if row["human_written"] else "")
        interval = f"{row['low']:.0f} to {row['high']:.0f}"
        estimate = f"{self._estimate(row['own']):<{self._width(own)}}" if own else ""
        best = (
            ""
            if row["best"] is None
            else "<1%"
            if row["best"] < 0.01
            else ">99%"
            if row["best"] > 0.99
            else f"{row['best']:.0%}"
        )
        return f"{_rank(row):>7}  {name:<32}{row['rating']:>7.0f}  {interval:<16}{estimate}{best}".rstrip()

    def _estimate(self, own: dict[str, Any] | None) -> str:
        """In the question's unit: 3.42 (3.10 to 3.74), or 71% (64% to 77%)."""
        if own is None:
            return ""
        write = "{:.0%}".format if self.details["question"]["unit"] == "share" else "{:.2f}".format
        ends = "" if own["low"] is None or own["high"] is None else f" ({write(own['low'])} to {write(own['high'])})"
        return write(own["value"]) + ends

    @staticmethod
    def _width(own: str) -> int:
        return max(24, len(own) + 2) if own else 0


def _rank(row: dict[str, Any]) -> str:
    """2, or 2-4."""
    low, high = row["rank_low"], row["rank_high"]
    return "" if low is None else str(low) if low == high else f"{low}-{high}"


class Campaign:
    """One campaign. Rows and boards are lists of dicts, as docs/campaigns/import.md and docs/api.md name their fields."""

    def __init__(self, client: Client, slug: str):
        self.client, self.slug = client, slug

    def call(self, method: str, path: str = "", body: Any = None) -> Any:
        return self.client.call(method, f"campaigns/{self.slug}/{path}", body)

    def details(self) -> dict[str, Any]:
        """Its settings, and `numbers`: how many outputs, judgments, annotators, ... it has."""
        found: dict[str, Any] = self.call("GET")
        return found

    def change(self, **settings: Any) -> dict[str, Any]:
        changed: dict[str, Any] = self.call("PATCH", "", settings)
        return changed

    def set_status(self, status: str) -> None:
        """draft, open, paused or closed."""
        self.call("PUT", "status/", {"status": status})

    def import_outputs(self, rows: Rows | str | Path, **how: Any) -> dict[str, Any]:
        """Rows {context, system, output, ...}, or a file of any kind that the import page reads. Returns {rows, new, ...}.

        how: human_systems=[names], system="name", systems=[columns], keep_columns=True, columns={field: column}, dry_run=True.
        """
        return self._import("outputs", rows, how)

    def import_scores(self, rows: Rows | str | Path, **how: Any) -> dict[str, Any]:
        """Rows {context_id or context, system, aspect, annotator, score, [scale]}.

        how: simulated=True, constants={...}, contradictions="leave_out" or "latest".
        """
        return self._import("scores", rows, how)

    def import_judgments(self, rows: Rows | str | Path, **how: Any) -> dict[str, Any]:
        """Rows {context, system_a, output_a, system_b, output_b, annotator, choice}. how: as for scores."""
        return self._import("judgments", rows, how)

    def import_spans(self, rows: Rows | str | Path, **how: Any) -> dict[str, Any]:
        """Errors that people marked: rows {context_id or context, system, aspect, annotator, errors: [{start, end, severity,
        category}]}, in characters of the output. how: as for scores."""
        return self._import("spans", rows, how)

    def import_judge_scores(self, rows: Rows | str | Path, **how: Any) -> dict[str, Any]:
        """What programs said: rows {context_id or context, system, judge, score}. how: judge="name", replace=True."""
        return self._import("judge_scores", rows, how)

    def import_judge_pairs(self, rows: Rows | str | Path, **how: Any) -> dict[str, Any]:
        """Rows {context_id or context, system_a, system_b, judge, and choice or a, tie, b}. how: as for scores."""
        return self._import("judge_pairs", rows, how)

    def _import(self, what: str, rows: Rows | str | Path, how: dict[str, Any]) -> dict[str, Any]:
        data = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in how.items()}
        if isinstance(rows, str | Path):
            name, content = Path(rows).name, Path(rows).read_bytes()
        else:
            name, content = f"{what}.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()
        path = f"campaigns/{self.slug}/import/{what}/"
        response = self.client.request("POST", path, data=data, files={"file": (name, io.BytesIO(content))})
        answer: dict[str, Any] = response.json()
        if response.status_code != 202:
            return answer
        imported: dict[str, Any] = self.client.wait(answer)["imported"]  # a long file is a worker's
        if imported["state"] == "refused":
            raise Refused(imported["errors"][0]["message"], 422, imported["errors"])
        return imported

    def invite(self, label: str = "", cap: int | None = None) -> str:
        """A new link that lets annotators in; cap: how many."""
        made = self.call("POST", "invitations/", {"label": label, "cap": cap})
        return f"{self.client.url}/join/{made['token']}/"

    def outputs(self) -> list[dict[str, Any]]:
        """The texts that are there now, with their contexts."""
        return self._exported("outputs")

    def scores(self) -> list[dict[str, Any]]:
        """People's scores that count now, under pseudonyms."""
        return self._exported("scores")

    def judgments(self) -> list[dict[str, Any]]:
        """People's judgments of pairs that count now, under pseudonyms."""
        return self._exported("judgments")

    def _exported(self, what: str) -> list[dict[str, Any]]:
        text = self.client.request("GET", f"campaigns/{self.slug}/export/{what}/jsonl/").text
        return [json.loads(line) for line in text.split("\n") if line]

    def archive(self, file: str | Path) -> None:
        """Write the whole campaign into a file, which `Client.bring_back` makes the same campaign of."""
        self.client.wait(self.call("POST", "archive/"))
        Path(file).write_bytes(self.client.request("GET", f"campaigns/{self.slug}/archive/").content)

    def assess(self, **rule: Any) -> dict[str, Any]:
        """Judge how far people agree, and freeze what is accepted as a snapshot. rule: mad, level, on_zero_mad, verdict."""
        response = self.client.request("POST", f"campaigns/{self.slug}/snapshots/", json=rule)
        snapshot: dict[str, Any] = response.json()
        if response.status_code == 202:  # many answers are a worker's
            snapshot = self.call("GET", f"snapshots/{self.client.wait(snapshot['job'])['snapshot']}/")
        return snapshot

    def snapshots(self) -> list[dict[str, Any]]:
        return list(self.client.pages(f"campaigns/{self.slug}/snapshots/"))

    def snapshot_files(self, file: str | Path, digest: str = "") -> None:
        """Write a snapshot's files into one zip, for TRL, Inspect, Every Eval Ever, the Hub and Zenodo. digest: of `snapshots`;
        empty: of the one that was accepted last."""
        Path(file).write_bytes(self._of_snapshot("published/", digest).content)

    def preferences(self, margin: float | None = None, digest: str = "") -> list[dict[str, Any]]:
        """Pairs {prompt, chosen, rejected, ...} of a snapshot: of two outputs the one that more people preferred. margin: also
        outputs of one context whose mean scores differ by so many points. digest: as for `snapshot_files`."""
        params = {} if margin is None else {"margin": margin}
        text = self._of_snapshot("export/preferences/jsonl/", digest, **params).text
        return [json.loads(line) for line in text.split("\n") if line]

    def _of_snapshot(self, what: str, digest: str, **params: Any) -> httpx.Response:
        path = f"campaigns/{self.slug}/snapshots/{digest or self.snapshots()[0]['digest']}/{what}"
        response = self.client.request("GET", path, params=params)
        if response.status_code == 202:  # many answers are a worker's
            self.client.wait(response.json()["job"])
            response = self.client.request("GET", path, params=params)
        if response.status_code != 200:
            raise Refused("The campaign changed while its files were written; ask again.", response.status_code)
        return response

    def train(self, **how: Any) -> dict[str, Any]:
        """Queue the training of a comparator on the newest snapshot; returns its job, for `Client.wait`. how: criterion, seed,
        recipe, base, ..."""
        job: dict[str, Any] = self.call("POST", "trainings/", how)
        return job

    def comparators(self) -> list[dict[str, Any]]:
        return list(self.client.pages(f"campaigns/{self.slug}/comparators/"))

    def promote(self, name: str, reason: str = "") -> None:
        """Let a comparator serve the campaign; reason: needed where it did not pass its gate."""
        self.call("POST", f"comparators/{name}/promote/", {"reason": reason})

    def play(self, basis: str = "people", judge: str = "", timeout: float = 3600.0, **how: Any) -> Board:
        """Play a tournament and return its board when it is finished. basis: people, judge, or corrected, which is people
        corrected by a judge. judge: its name; by default the comparator in use. how: criterion, rating, seed, games."""
        made = self.call("POST", "tournaments/", {"basis": basis, "judge": judge, **how})
        self.client.wait(made["job"], timeout)
        return Board(self.client.call("GET", f"tournaments/{made['id']}/"))

    def board(self, basis: str = "", judge: str = "", criterion: str | None = None) -> Board:
        """The newest board. Without a basis, the one that the leaderboard's page opens on."""
        params = {"basis": basis, "judge": judge} | ({} if criterion is None else {"criterion": criterion})
        path = f"campaigns/{self.slug}/leaderboard/"
        return Board(self.client.request("GET", path, params=params).json())

    def contexts(self, run: str = "") -> list[dict[str, Any]]:
        """What a generator has to answer: rows {context_id, turns, group}. run: those of a run, in its order."""
        return list(self.client.pages(f"campaigns/{self.slug}/contexts/", **({"run": run} if run else {})))

    def runs(self) -> list[dict[str, Any]]:
        """The trainings that are watched: rows {name, judge, checkpoints, word, ...}."""
        return list(self.client.pages(f"campaigns/{self.slug}/runs/"))

    def run(self, name: str, total: int | None = None, *, folder: str | Path | None = None, **how: Any) -> "Run":
        """A training that is watched; the same name again goes on with it. total: its planned steps, if known. how: judge,
        contexts (how many), settings={...}, worthwhile, per, error, previous, losses, plays. folder: where reports wait while
        the server is away."""
        return Run(self, name, total, folder, how)


@dataclass(frozen=True)
class Advice:
    """What is known of a run now. word: improving, open, no longer improving or getting worse. stop: whether the sequential
    rule says stop; streak_stop: whether the paper's rule does. said: what must be said with it, warnings first. waiting: how
    many checkpoints nobody has judged yet. details: the whole answer of the API."""

    word: str = "open"
    stop: bool = False
    streak_stop: bool = False
    said: list[str] = field(default_factory=lambda: ["No checkpoint has been judged yet."])
    best: dict[str, Any] | None = None
    points: list[dict[str, Any]] = field(default_factory=list)
    waiting: int = 0
    details: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, details: dict[str, Any]) -> "Advice":
        names = ("stop", "streak_stop", "best", "points", "waiting")
        said = {"word": details["word"], "said": details["said"]} if details["word"] else {}
        return cls(**said, **{name: details[name] for name in names}, details=details)

    @property
    def is_coming(self) -> bool:
        """Whether more checkpoints are going to be judged."""
        return self.waiting > 0 and (self.details.get("job") or {}).get("status") not in ("failed", "cancelled")

    def strength(self, step: int) -> float | None:
        """Of the checkpoint of this step; None as long as it is not judged."""
        return next((point["strength"] for point in self.points if point["step"] == step), None)


class _Away(Exception):
    """The server cannot be reached, or does not answer as Comparena does."""


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        raise _Away(str(error) or type(error).__name__) from None
    except Refused as refused:
        if 400 <= refused.status and refused.status not in AWAY:
            raise
        raise _Away(str(refused)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise _Away(f"the answer is not Comparena's: {error}") from None


class _Outbox:
    """Reports that the server has not confirmed: a file each, which is there as a whole or not at all. What the disk does not
    take stays in memory."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._in_memory: dict[int, bytes] = {}

    def write(self, name: str, content: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{name}.{os.getpid()}.partial"
        try:
            with partial.open("wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
            partial.replace(self.folder / name)
        except OSError:
            partial.unlink(missing_ok=True)
            raise

    def put(self, step: int, body: dict[str, Any]) -> None:
        """Keep it, unless a report of this step waits already: the first one stands, as on the server."""
        content = json.dumps(body, allow_nan=False).encode()
        if step in self.steps():
            if self._content(step) != content:
                log.warning("Step %s waits to be sent with other outputs. Those stand; the new ones are left out.", step)
            return
        try:
            self.write(self._file(step).name, content)
        except OSError as error:
            log.warning("Step %s is kept in memory alone, until it is sent: %s", step, error)
            self._in_memory[step] = content

    def steps(self) -> list[int]:
        """The steps that wait, in order."""
        files = self.folder.glob("step-*.json")
        kept = [int(number) for file in files if (number := file.stem.removeprefix("step-")).isdecimal()]
        return sorted({*kept, *self._in_memory})

    def get(self, step: int) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self._content(step))
        return body

    def drop(self, step: int) -> None:
        self._in_memory.pop(step, None)
        self._file(step).unlink(missing_ok=True)

    def set_aside(self, step: int, why: str) -> None:
        """Out of the way of those after it, and not lost."""
        file = self._file(step)
        aside = file.with_suffix(".refused")
        if self._in_memory.pop(step, None) is None and file.exists():
            file.replace(aside)
            log.warning("Step %s is refused and set aside as %s: %s", step, aside, why)
        else:
            log.warning("Step %s is refused: %s", step, why)

    def _content(self, step: int) -> bytes:
        return self._in_memory.get(step) or self._file(step).read_bytes()

    def _file(self, step: int) -> Path:
        return self.folder / f"step-{step:012d}.json"


class Run:
    """One training that is watched. `contexts`: what to answer, rows {context_id, turns, ...}, in the order of the outputs.

    A thread sends the reports, one after the other, and asks for the verdict, so that the training waits only where it asks
    to. While the server is away they wait in `folder` (.comparena-runs/CAMPAIGN/NAME), and a training that goes on later, or
    is opened again under its name, sends them first. Where several processes train one model, one of them reports.
    """

    GRACE = 30.0  # seconds that `wait` gives a server that is away
    LAST = 5.0  # and that the end of a program does
    FIRST, LONGEST = 0.5, 30.0  # pauses between attempts, each twice the last
    POLLED = 3.0  # the longest pause while checkpoints are judged

    def __init__(self, campaign: Campaign, name: str, total: int | None, folder: str | Path | None, how: dict[str, Any]):
        self.campaign, self.name, self.total = campaign, name, total
        self.folder = Path(folder) if folder else Path(".comparena-runs") / campaign.slug / quote(name, safe=" ")
        self._path = f"campaigns/{campaign.slug}/runs/{quote(name, safe='')}/"
        self._opening = {"name": name, **({} if total is None else {"total_steps": total}), **how}
        self._outbox, self._known, self._is_open = _Outbox(self.folder), Advice(), False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = self._answered = self._failed = self._errors = 0
        self._away_since = self._silent_since = 0.0  # since a request failed; since one waits for an answer
        self._doubt = ""
        try:
            self._open()
            with _reaching():
                self.contexts = campaign.contexts(name)
            self._known = self._verdict()
            self._remember()
        except _Away as error:
            self.contexts = self._remembered(error)
        if not self.contexts:
            raise Refused(f"The campaign {campaign.slug} has no contexts yet. Import them first.")
        atexit.register(self._leave)
        if self._outbox.steps():
            self._ask()

    def report(
        self,
        step: int,
        outputs: Sequence[str] | Mapping[str, str],
        *,
        validation_loss: float | None = None,
        log_probabilities: Sequence[float] | Mapping[str, float] | None = None,
        wait: bool = False,
        timeout: float = 600.0,
    ) -> Advice:
        """What the model writes after so many steps: a text for each of `contexts` in their order, or {context_id: text}.

        Returns the newest verdict that is known, often that of earlier checkpoints. wait: first wait until this one is judged,
        for at most `timeout` seconds. The same step again is stored once. A loss or a log probability that is no finite
        number is left out.
        """
        texts, logs = self._by_context(outputs), self._by_context({} if log_probabilities is None else log_probabilities)
        for row in self.contexts:
            if not isinstance(texts.get(row["context_id"]), str):
                found = texts.get(row["context_id"])
                raise ValueError(f"Step {step}: context {row['context_id']!r} needs a text, found {found!r}.")
        rows = [{"context_id": name, "output": text, **_finite("logprob", logs.get(name))} for name, text in texts.items()]
        body = {"step": int(step), "outputs": rows, **_finite("validation_loss", validation_loss)}
        self._outbox.put(int(step), body | ({} if self.total is None else {"total_steps": self.total}))
        asked = self._ask()
        if wait:
            self._wait(lambda: self._answered >= asked and not self._known.is_coming, timeout, is_patient=False)
        return self._known

    def advice(self, timeout: float = 600.0) -> Advice:
        """The verdict on all that was reported, once that is judged. Where the server stays away: the newest that is known."""
        asked = self._ask()
        self._wait(lambda: self._answered >= asked and not self._known.is_coming, timeout, is_patient=True)
        return self._known

    def best(self, timeout: float = 600.0) -> dict[str, Any]:
        """The best checkpoint: step, probability, rank_low, rank_high, and not_worse: the steps that are not known to be
        worse. known: False where more than half of them may be it, so that it is the likeliest alone. said: what must be said
        with it, warnings first. Raises Refused where none is judged, or where reports still wait, as the server is away."""
        known = self.advice(timeout)
        if self._outbox.steps():
            raise Refused(f"{self.campaign.client.url} is away. {self._left()}")
        if known.best is None:
            raise Refused(" ".join(known.said) or "No checkpoint has been judged yet.")
        if known.waiting:
            log.warning("The best of those that are judged: %d checkpoints are not, %s.", known.waiting, known.details["job"])
        return {**known.best, "known": known.details.get("best_known", True), "said": known.said}

    def choose(self, step: int, purpose: str = "board", beside: int | None = None) -> dict[str, Any]:
        """purpose: "board" lets this checkpoint play, "people" asks people about pairs of it and of step `beside`."""
        body = {"step": step, "purpose": purpose} | ({} if beside is None else {"beside": beside})
        chosen: dict[str, Any] = self.campaign.client.call("POST", f"{self._path}choose/", body)
        return chosen

    def close(self, timeout: float = 60.0) -> None:
        """Send what waits, and say that the training has ended."""
        asked = self._ask()
        self._wait(lambda: self._answered >= asked, timeout, is_patient=True)
        self.campaign.client.call("POST", f"{self._path}close/")

    def _by_context(self, values: Any) -> dict[str, Any]:
        names = [row["context_id"] for row in self.contexts]
        if isinstance(values, Mapping):
            unknown = values.keys() - set(names)
            if unknown:
                raise ValueError(f"The campaign has no context {sorted(unknown)[0]!r}.")
            return {name: values[name] for name in names if name in values}
        values = [values] if isinstance(values, str) else list(values)
        if len(values) != len(names):
            raise ValueError(f"Expected {len(names)} values, one for each context in their order, found {len(values)}.")
        return dict(zip(names, values, strict=True))

    def _remember(self) -> None:
        try:
            self._outbox.write("contexts.json", json.dumps(self.contexts).encode())
        except OSError as error:
            log.warning("%s cannot be written, so that nothing is kept while the server is away: %s", self.folder, error)

    def _remembered(self, error: Exception) -> list[dict[str, Any]]:
        """The contexts, of a training that goes on while the server is away."""
        try:
            contexts: list[dict[str, Any]] = json.loads((self.folder / "contexts.json").read_bytes())
        except (OSError, ValueError):
            raise Refused(f"{self.campaign.client.url} cannot be reached: {error}") from None
        log.warning("%s is away (%s). Reports wait in %s.", self.campaign.client.url, error, self.folder)
        return contexts

    # What the thread does; the condition guards what it shares with the training.

    def _ask(self) -> int:
        """The number of this request: `_answered` reaches it once everything that waited is sent and the verdict is known."""
        with self._changed:
            self._asked += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name=f"comparena {self.name}", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return self._asked

    def _wait(self, is_done: Callable[[], bool], timeout: float, is_patient: bool) -> None:
        """Until it is done, or the time is over, or the server said nothing for too long: since now where it is patient, else
        since it went, so that an outage holds a training up once and not at each report."""
        begin = time.monotonic()
        with self._changed:
            asked = self._asked
            while not is_done():
                now, silent = time.monotonic(), self._silent_since or self._away_since
                is_tried = self._failed >= asked or now - begin >= self.LAST
                is_hopeless = silent and is_tried and now - max(silent, begin * is_patient) >= self.GRACE
                if is_hopeless or now - begin >= timeout:
                    return
                self._changed.wait(0.2)

    def _work(self) -> None:
        pause: float | None = 0.0
        asked = 0
        while True:
            with self._changed:
                if self._asked == asked:
                    self._changed.wait(pause)
                pause = 0.0 if self._asked > asked else pause
                asked = self._asked
            try:
                known = self._round(asked)
            except Exception as error:  # whatever it is, the training goes on, and the reports stay
                pause = self._say_away(error, asked, pause or 0.0)
            else:
                pause = min(self.POLLED, 1.5 * (pause or 0.3)) if known.is_coming else None

    def _say_away(self, error: Exception, asked: int, pause: float) -> float:
        """How long to wait before the next attempt."""
        with self._changed:
            self._failed = asked
            if not self._away_since:
                self._away_since = time.monotonic()
                why = error if isinstance(error, _Away | Refused) else f"{type(error).__name__}: {error}"
                log.warning("The server is away (%s).", why)
                log.warning("Reports of %s wait in %s and are sent later, in order.", self.name, self.folder)
            self._changed.notify_all()
        return min(self.LONGEST, 2 * pause or self.FIRST)

    def _round(self, asked: int) -> Advice:
        """Send what waits, then ask how the run stands. Raises _Away."""
        if not self._is_open:
            self._open()
        for step in self._outbox.steps():
            self._send(step)
        known = self._verdict()
        with self._changed:
            if self._away_since:
                log.warning("The server is back: every report of %s is sent.", self.name)
            self._known, self._answered, self._away_since = known, asked, 0.0
            self._changed.notify_all()
        return known

    def _open(self) -> None:
        self._answer("POST", f"campaigns/{self.campaign.slug}/runs/", self._opening)
        self._is_open = True

    def _verdict(self) -> Advice:
        with _reaching():
            known = Advice.of(self._answer("GET", self._path))
        doubt = (known.details.get("judge") or {}).get("warning") or ""
        if known.points and doubt and doubt != self._doubt:  # each once: who watches the training alone has to know
            log.warning("%s", doubt)
            self._doubt = doubt
        return known

    def _send(self, step: int) -> None:
        try:
            for part in _parts(self._outbox.get(step)):
                self._answer("POST", f"{self._path}checkpoints/", part)
        except Refused as refused:
            self._errors += refused.status == 500
            if refused.status not in FOR_GOOD and self._errors < 5:
                raise
            self._outbox.set_aside(step, str(refused))
        except json.JSONDecodeError as error:  # the file was damaged
            self._outbox.set_aside(step, str(error))
        else:
            self._outbox.drop(step)
        self._errors = 0

    def _answer(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Raises Refused, or _Away where somebody else than Comparena answers."""
        how: dict[str, Any] = {"timeout": httpx.Timeout(60.0, connect=5.0)}
        if body is not None:
            how |= {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
        self._silent_since = self._silent_since or time.monotonic()
        try:
            with _reaching():
                answer: dict[str, Any] = self.campaign.client.request(method, path, **how).json()
                if not isinstance(answer, dict):
                    raise TypeError("no object")
        except Refused:
            self._silent_since = 0.0
            raise
        self._silent_since = 0.0
        return answer

    def _leave(self) -> None:
        """At the end of the program: what waits gets a last chance."""
        if self._outbox.steps():
            self._ask()
            self._wait(lambda: not self._outbox.steps(), self.LAST, is_patient=False)
        if self._outbox.steps():
            log.warning(self._left())

    def _left(self) -> str:
        """What still waits, and how it is sent."""
        again = f"Client({self.campaign.client.url!r}, TOKEN).campaign({self.campaign.slug!r}).run({self.name!r}).advice()"
        return f"{len(self._outbox.steps())} reports wait in {self.folder.resolve()}. In this folder, {again} sends them."


def _finite(name: str, value: Any) -> dict[str, float]:
    """{name: value}, or nothing where that is no finite number."""
    if value is None or not math.isfinite(float(value)):
        return {}
    return {name: float(value)}


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    """A report in pieces of at most PART bytes of JSON; an output that is longer has a piece of its own."""
    pieces: list[list[dict[str, Any]]] = [[]]
    size = room = len(json.dumps({**body, "outputs": [], "part": 10**6, "parts": 10**6}))
    for row in body["outputs"]:
        length = len(json.dumps(row)) + 2
        if pieces[-1] and size + length > PART:
            pieces.append([])
            size = room
        pieces[-1].append(row)
        size += length
    if len(pieces) == 1:
        return [body]
    return [{**body, "outputs": rows, "part": number, "parts": len(pieces)} for number, rows in enumerate(pieces, 1)]
