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

Install it with `pip install ./clients`, or copy this file. What the server refuses is raised as `Refused`.
"""

import io
import json
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx

Rows = Iterable[dict[str, Any]]
PAGE_SIZE = 1000


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

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Every row of a list, page by page."""
        number = 1
        while True:
            page = self.request("GET", path, params={"page": number, "page_size": PAGE_SIZE}).json()
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
    """The standings of a board, the best first: {system, rank_low, rank_high, rating, low, high, ...}.

    details: the whole board as the API gives it. warnings: what must be said with these numbers wherever they go; str() ends
    with them. signature: with which the board can be made again.
    """

    def __init__(self, details: dict[str, Any]):
        super().__init__(details["standings"])
        self.details = details
        self.warnings: list[str] = [one["text"] for one in details["warnings"]]
        self.signature: str = details["provenance"]["signature"]

    def __str__(self) -> str:
        said = self.details["said"]
        rows = [
            f"{_rank(row):>7}  {row['system']:<32}{row['rating']:>7.0f}  {row['low']:.0f} to {row['high']:.0f}" for row in self
        ]
        head = f"Judged by {said['judged_by']}, on {said['question']}. Rated by {said['method']}. {said['intervals']}"
        return "\n".join([head, *rows, *(f"Warning: {text}" for text in self.warnings), self.signature])


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
        """Rows {context_id or context, system, aspect, annotator, score, [scale]}. how: simulated=True, constants={...}."""
        return self._import("scores", rows, how)

    def import_judgments(self, rows: Rows | str | Path, **how: Any) -> dict[str, Any]:
        """Rows {context, system_a, output_a, system_b, output_b, annotator, choice}. how: simulated=True, constants={...}."""
        return self._import("judgments", rows, how)

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
        snapshot: dict[str, Any] = self.call("POST", "snapshots/", rule)
        return snapshot

    def snapshots(self) -> list[dict[str, Any]]:
        return list(self.client.pages(f"campaigns/{self.slug}/snapshots/"))

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
