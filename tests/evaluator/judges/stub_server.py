"""A server with chat completions on the loopback, which behaves as badly as it is told to."""

import json
import math
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(answer="A", reason="It is better.", logprobs=None, field="answer", **other) -> dict:
    content = json.dumps({field: answer, "reason": reason})
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    if logprobs:
        before, after = content.split(f'"{answer}"', 1)
        others = [{"token": f'"{letter}', "logprob": math.log(p)} for letter, p in logprobs.items()]
        tokens = [(before[:4], []), (before[4:], []), (f'"{answer}', others), (f'"{after}', [])]
        choice["logprobs"] = {"content": [{"token": t, "logprob": -0.1, "top_logprobs": o} for t, o in tokens]}
    return {"choices": [choice], "usage": {"prompt_tokens": 200, "completion_tokens": 20}, **other}


def shown(request: dict) -> dict:
    """The JSON object with the pair."""
    return json.loads(request["messages"][-1]["content"].rsplit("\n\n", 1)[1])


def honest(request: dict) -> dict:
    pair = shown(request)
    if "answer" in pair:
        return completion(4 if "good" in pair["answer"] else 2, field="score")
    return completion("A" if "good" in pair["A"] else "B" if "good" in pair["B"] else "C")


class Server:
    """Answers with `script`, one entry a request, then with `honest`. An entry is a function of the request, a dict, or
    (status, headers, body bytes), or "reset" or "slow"."""

    def __init__(self):
        self.script, self.requests, self.headers = [], [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(request)
                outer.headers.append((self.path, self.headers.get("Authorization")))
                step = outer.script.pop(0) if outer.script else honest
                if step == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                    return
                if step == "slow":
                    outer.released.wait(10)
                    return
                answer = step(request) if callable(step) else step
                status, headers, body = answer if isinstance(answer, tuple) else (200, {}, json.dumps(answer).encode())
                self.send_response(status)
                for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                if int(headers.get("Content-Length", len(body))) > len(body):
                    self.close_connection = True

            def log_message(self, *args):
                pass

        self.released = threading.Event()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self.released.set()
        self.http.shutdown()
        self.http.server_close()
