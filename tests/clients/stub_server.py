"""A server of runs that keeps the API's promises and is as rude as the world: what it does next is a list of words."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

CONTEXTS = [{"context_id": f"c{n}", "turns": [f"Hi {n}"], "group": None} for n in range(4)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "StubServer"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.respond(None)

    def do_POST(self):
        self.respond(self.rfile.read(int(self.headers["Content-Length"] or 0)))

    def respond(self, sent: bytes | None):
        stub, path = self.server, unquote(urlsplit(self.path).path).removeprefix("/api/campaigns/talk/")
        body = json.loads(sent) if sent else {}
        how = stub.rude.pop(0) if stub.rude and (sent is None or "checkpoints" in path) else ""
        stub.requests.append((self.command, path, len(sent or b"")))
        if how == "slow":
            time.sleep(stub.slowness)
        if how == "reset before" or stub.is_dead:
            self.close_connection = True
            return
        if how in ("500", "502", "413", "401"):
            return self.answer(int(how), b"<html>Bad Gateway</html>", "text/html")
        if how == "portal":
            return self.answer(200, b"<html>Please sign in to this hotel</html>", "text/html")
        with stub.lock:
            status, found = stub.found(self.command, path, body)
        if how == "reset after":
            self.close_connection = True
            return
        self.answer(status, json.dumps(found).encode(), "application/json")

    def answer(self, status: int, content: bytes, content_type: str):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class StubServer(ThreadingHTTPServer):
    """stored: {step: {context_id: text}} in the order in which they came; twice: steps that were stored although there."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int = 0, stored: dict | None = None):
        super().__init__(("127.0.0.1", port), Handler)
        self.stored = {} if stored is None else stored
        self.bodies: list[dict] = []
        self.rude: list[str] = []
        self.is_dead = False
        self.slowness, self.stops_at, self.requests, self.lock = 3.0, None, [], threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def kill(self) -> None:
        self.is_dead = True  # also for connections that are open
        self.shutdown()
        self.server_close()

    def found(self, method: str, path: str, body: dict) -> tuple[int, dict]:
        if path == "contexts/":
            return 200, {"count": len(CONTEXTS), "next": None, "previous": None, "results": CONTEXTS}
        if path.endswith("checkpoints/"):
            return self.report(body)
        if path.endswith("choose/"):
            return 201, body
        return 200 if method == "GET" else 201, self.run()

    def report(self, body: dict) -> tuple[int, dict]:
        self.bodies.append(body)
        there = self.stored.setdefault(body["step"], {})
        sent = {row["context_id"]: row["output"] for row in body["outputs"]}
        if any(there.get(name, text) != text for name, text in sent.items()):
            return 409, {"detail": f"Step {body['step']} has other outputs."}
        new = len(sent.keys() - there.keys())
        there |= sent
        return 202 if new else 200, {"step": body["step"], "stored": new, "left_out": []}

    def run(self) -> dict:
        steps = sorted(step for step, texts in self.stored.items() if len(texts) == len(CONTEXTS))
        points = [{"step": step, "strength": float(step)} for step in steps]
        best = {"step": steps[-1], "probability": 0.9, "rank_low": 1, "rank_high": 2, "not_worse": []} if steps else None
        is_stop = bool(self.stops_at and steps and steps[-1] >= self.stops_at)
        verdict = {"word": "no longer improving" if is_stop else "improving", "stop": is_stop, "said": ["Judged by a stub."]}
        nothing = {"word": None, "stop": False, "said": []}
        details = {"points": points, "best": best, "best_known": False, "waiting": 0, "job": None, "streak_stop": False}
        details["judge"] = {"warning": "Comparator 1 did not pass its gate."}
        return {"name": "lstm", **(verdict if steps else nothing), **details}
