"""How fast a language model's judge asks, beside plain httpx with as many connections, of the same server in the same run.

    python -m benchmarks.load.language_model [PAIRS]

The server answers each request after half a second. Each pair takes two requests.
"""

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from evaluator.judges.endpoint import Endpoint
from evaluator.judges.language_model import ModelServer
from evaluator.judges.pairwise_model import LanguageModelJudge
from evaluator.judges.prompt import Prompt
from evaluator.judges.replies import Replies
from evaluator.judges.texts import Text
from tests.evaluator.judges.rude_server import RudeServer
from tests.evaluator.judges.test_rude_server import SPELL

DELAY, CONNECTIONS = 0.5, 16


def main(pairs: int) -> None:
    texts = [Text((f"Question {i}",), f"{word} {i}") for i in range(pairs) for word in ("good", "bad")]
    with RudeServer("plain", delay=DELAY, **SPELL) as server, tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint(server.url, connections=CONNECTIONS)
        judge = LanguageModelJudge(ModelServer(endpoint, "tiny"), Prompt(), Replies(Path(folder) / "replies.jsonl"))
        began = time.monotonic()
        judge.compare(texts[::2], texts[1::2])
        ours = time.monotonic() - began
        requests = [request["body"] for request in server.requests]
        limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
        began = time.monotonic()
        with httpx.Client(limits=limits, timeout=60) as client, ThreadPoolExecutor(CONNECTIONS) as threads:
            list(threads.map(lambda body: client.post(f"{server.url}/chat/completions", json=body).json(), requests))
        peer = time.monotonic() - began
    print(f"judge {len(requests) / ours:.1f} requests a second, httpx {len(requests) / peer:.1f}: {peer / ours:.0%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
