"""pull and push against a server on the loopback that speaks as much of the Hub's language as they need."""

import base64
import gzip
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.management import CommandError

from annotation.models import Output
from tests.evaluator.world import World, command

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
ROWS = [{"context_id": f"h{n}", "context": "Hi?", "system": s, "output": f"{s} {n}"} for n in range(3) for s in ("one", "two")]
FILES = {"data/outputs.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(), "README.md": b"# Rows"}


class Hub(BaseHTTPRequestHandler):
    files, commits, sizes, status, tokens, private, silence = FILES, [], {}, 0, set(), True, 0.0
    rude = rude_file = ""  # how it answers whatever it is asked, or where a file is fetched

    def log_message(self, *args):
        pass

    def answer(self, body, status=200, **headers):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def do_HEAD(self):
        self.do_GET()

    def misbehave(self, how):
        """Until the client has had enough."""
        if how == "wait":
            return self.answer({"error": "busy"}, 429, Retry_After="1000000")
        if how == "limit":
            return self.answer({"error": "busy"}, 429, RateLimit='"api";r=0;t=1000000')
        if how == "packed":
            return self.answer(gzip.compress(b" " * 2**20), Content_Encoding="gzip")
        if how == "deep":
            return self.answer(b"[" * 200_000, Content_Type="application/json")
        if how == "pages":
            again = f"<http://{self.headers['Host']}/api/datasets/alice/rows/tree/main?cursor=1>; rel=next"
            return self.answer([{"type": "file", "path": "a.csv", "size": 1, "oid": "a"}], Link=again.replace("next", '"next"'))
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while how == "endless":
                self.wfile.write(b" " * 2**20)
            while how == "slow":
                self.wfile.write(b" ")
                time.sleep(0.02)

    def do_GET(self):
        self.tokens.add(self.headers.get("Authorization"))
        if self.rude:
            return self.misbehave(self.rude)
        if self.status:
            return self.answer({"error": "no"}, self.status)
        name = self.path.partition("/resolve/main/")[2]
        if name in self.files and self.rude_file and self.command == "GET":
            return self.misbehave(self.rude_file)
        if name in self.files:
            return self.answer(self.files[name], ETag='"abc"', X_Repo_Commit="0" * 40)
        if name:
            return self.answer({}, 404, X_Error_Code="EntryNotFound")
        if "/api/datasets/alice/rows" in self.path:
            found = [{"rfilename": name} for name in self.files]
            tree = [{"type": "file", "path": n, "size": len(c), "oid": "a"} for n, c in self.files.items()]
            return self.answer(tree if "/tree/" in self.path else {"id": "alice/rows", "sha": "0" * 40, "siblings": found})
        if self.path.startswith("/api/datasets/alice/talk"):
            return self.answer({"id": "alice/talk", "sha": "0" * 40, "private": self.private, "siblings": []})
        return self.answer({}, 404, X_Error_Code="RepoNotFound")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.tokens.add(self.headers.get("Authorization"))
        time.sleep(self.silence)
        if self.status:
            return self.answer({"not": "what was asked for"}, self.status)
        if "/paths-info/" in self.path:
            asked = (
                json.loads(body)["paths"] if body.startswith(b"{") else [name for name in self.files if name.encode() in body]
            )
            there = [n for n in self.files if n in asked or n.replace("/", "%2F").encode() in body]
            sizes = {n: self.sizes.get(n, len(self.files[n])) for n in there}
            return self.answer([{"type": "file", "path": n, "size": size, "oid": "a"} for n, size in sizes.items()])
        if self.path == "/api/repos/create":
            self.commits.append(json.loads(body))
            return self.answer({"url": f"http://{self.headers['Host']}/datasets/alice/talk", "name": "alice/talk"})
        if self.path == "/api/validate-yaml":  # the card's head
            return self.answer({"errors": [], "warnings": []})
        if "/preupload/" in self.path:
            asked = json.loads(body)["files"]
            return self.answer({"files": [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in asked]})
        if "/commit/" in self.path:
            self.commits += [json.loads(line) for line in body.splitlines()]
            return self.answer(
                {
                    "commitUrl": f"http://{self.headers['Host']}/datasets/alice/talk/commit/1",
                    "commitOid": "1" * 40,
                    "success": True,
                }
            )
        return self.answer({}, 404)


@pytest.fixture
def hub(monkeypatch):
    from huggingface_hub import constants

    class Fresh(Hub):
        commits, sizes, status, tokens, private, silence = [], {}, 0, set(), True, 0.0
        rude = rude_file = ""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Fresh)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    yield Fresh
    server.shutdown()
    server.server_close()


@pytest.fixture
def talk(db, tmp_path):
    return World(tmp_path, slug="talk")


class TestPull:
    def test_a_file_is_imported_with_its_account(self, hub, talk):
        before = Output.objects.count()
        checked = command("pull", "talk", "hf://datasets/alice/rows/data/outputs.jsonl", "--dry-run")
        assert checked["rows"] == 6 and checked["new"]["outputs"] == 6 and Output.objects.count() == before
        done = command("pull", "talk", "hf://datasets/alice/rows")  # the only file with rows
        assert done["new"]["outputs"] == 6 and done["from"] == "hf://datasets/alice/rows"
        assert Output.objects.count() == before + 6 and "Bearer hf_secret" in hub.tokens

    @pytest.mark.parametrize(
        "address, said",
        [
            ("https://x", "An address on the Hub is"),
            ("hf://datasets/alice/../x", "An address on the Hub is"),
            ("hf://datasets/alice/rows/nothing.csv", "has no file 'nothing.csv'"),
            ("hf://datasets/alice/none", "no data set 'alice/none'"),
        ],
    )
    def test_what_is_not_there_is_said_in_one_sentence(self, hub, talk, address, said):
        with pytest.raises(CommandError, match=said) as refused:
            command("pull", "talk", address)
        assert "\n" not in str(refused.value) and "hf_secret" not in str(refused.value)

    def test_a_file_that_is_too_large_is_not_fetched(self, hub, talk):
        hub.sizes["data/outputs.jsonl"] = 600 * 2**20
        with pytest.raises(CommandError, match="600 MB; at most 512 MB"):
            command("pull", "talk", "hf://datasets/alice/rows/data/outputs.jsonl")

    @pytest.mark.parametrize(
        "how, said",
        [
            ("wait", "asks to wait 1,000,000 seconds"),
            ("limit", "asks to wait 1,000,000 seconds"),
            ("packed", "packed bytes"),
            ("deep", "can't be reached or understood"),
            ("pages", "was asked 20 times"),
            ("endless", "longer than 2 MB"),
            ("slow", "too slowly"),
        ],
    )
    def test_what_never_ends_is_ended(self, hub, talk, monkeypatch, how, said):
        for name, bound in {"MOST_REQUESTS": 20, "MOST_BYTES": 2 * 2**20, "SECONDS": 0.2, "SLOWEST": 1000}.items():
            monkeypatch.setattr(f"leaderboard.hub_client.{name}", bound)
        hub.rude = how
        with pytest.raises(CommandError, match=said) as refused:
            command("pull", "talk", "hf://datasets/alice/rows")
        assert "\n" not in str(refused.value) and not Output.objects.filter(context__key="h0").exists()

    @pytest.mark.parametrize("how, said", [("endless", "longer than 1 MB"), ("slow", "too slowly"), ("packed", "packed bytes")])
    def test_a_file_is_no_longer_than_was_said(self, hub, talk, monkeypatch, how, said):
        for name, bound in {"MAX_UNPACKED_BYTES": 2**20, "SECONDS": 0.2, "SLOWEST": 1000}.items():
            monkeypatch.setattr(f"leaderboard.hub_client.{name}", bound)
        hub.rude_file = how
        with pytest.raises(CommandError, match=said):
            command("pull", "talk", "hf://datasets/alice/rows/data/outputs.jsonl")
        assert not Output.objects.filter(context__key="h0").exists()

    def test_it_is_off_unless_somebody_turns_it_on(self, talk):
        with pytest.raises(CommandError, match="HF_HUB_OFFLINE=0"):
            command("pull", "talk", "hf://datasets/alice/rows/data/outputs.jsonl")


class TestPush:
    def test_a_snapshots_files_and_its_card_arrive(self, hub, talk):
        told = command("push", "talk", "alice/talk")
        assert told["address"].endswith("/commit/1") and hub.commits[0]["visibility"] == "private" and told["public"] is False
        sent = {c["value"]["path"]: base64.b64decode(c["value"]["content"]) for c in hub.commits if c.get("key") == "file"}
        assert len(sent) == told["files"] and {"README.md", "snapshot.jsonl", "CITATION.cff"} <= sent.keys()
        assert sent["README.md"].startswith(b"---\n") and told["snapshot"].encode() in sent["README.md"]

    def test_what_everybody_may_see_takes_nothing_unless_that_is_meant(self, hub, talk):
        hub.private = False
        with pytest.raises(CommandError, match="Everybody may see alice/talk"):
            command("push", "talk", "alice/talk")
        assert not any(c.get("key") == "file" for c in hub.commits)
        assert command("push", "talk", "alice/talk", "--public")["public"] is True

    def test_a_server_that_never_answers_is_one_sentence(self, hub, talk, monkeypatch):
        monkeypatch.setattr("leaderboard.hub_client.SECONDS", 0.05)
        hub.silence = 0.5
        with pytest.raises(CommandError, match="can't be reached"):
            command("push", "talk", "alice/talk")

    def test_a_dry_run_sends_nothing(self, hub, talk):
        told = command("push", "talk", "alice/talk", "--dry-run")
        assert told["bytes"]["README.md"] > 100 and not hub.commits and not hub.tokens

    @pytest.mark.parametrize(
        "status, said", [(200, "understood"), (401, "HF_TOKEN"), (403, "HF_TOKEN may not"), (500, "status 500")]
    )
    def test_a_refusal_is_one_sentence(self, hub, talk, status, said):
        hub.status = status
        with pytest.raises(CommandError, match=said) as refused:
            command("push", "talk", "alice/talk")
        assert "\n" not in str(refused.value)

    def test_a_server_that_is_away_is_one_sentence(self, hub, talk, monkeypatch):
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        with pytest.raises(CommandError, match="can't be reached"):
            command("push", "talk", "alice/talk")
