"""A tiny causal language model, built from a config, behind OpenAI's chat completions: what vLLM or Ollama do, in sixty lines.

It reads bytes and has random weights. The letter or the point of its answer is chosen by its probability after the prompt,
which is how servers constrain a reply to a schema, less that after blanks (Zhao et al. 2021, contextual calibration): otherwise
random weights say the same whatever they read.
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from transformers import GPT2Config, GPT2LMHeadModel

POSITIONS = 512  # bytes that it reads, the last ones


def tiny_model(seed: int = 0) -> GPT2LMHeadModel:
    torch.manual_seed(seed)
    size = {"bos_token_id": None, "eos_token_id": None, "n_embd": 16, "n_layer": 1, "n_head": 2, "initializer_range": 0.5}
    return GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=POSITIONS, **size)).eval()


def completion(model: GPT2LMHeadModel, request: dict) -> dict:
    """The reply to a chat completion, with the log-probabilities of the letters or of the points of which its schema lets it
    choose."""
    fields = request["response_format"]["json_schema"]["schema"]["properties"]
    field = next(name for name in fields if name != "reason")
    labels = [str(one) for one in fields[field]["enum"]]
    quote = '"' if fields[field]["type"] == "string" else ""
    before, after = f'{{"{field}": {quote}', f'{quote}, "reason": "No reason."}}'
    prompt = "\n".join(message["content"] for message in request["messages"])
    ids = list((prompt + before).encode())
    blank = [ord(" ")] * (len(ids) - len(before)) + list(before.encode())
    with torch.inference_mode():
        read = torch.tensor([ids[-POSITIONS:], blank[-POSITIONS:]])
        logits = model(read).logits[:, -1, [ord(label) for label in labels]]
    logprobs = dict(zip(labels, torch.log_softmax(logits[0] - logits[1], 0).tolist()))
    letter = max(logprobs, key=logprobs.__getitem__)
    tokens = [(before, []), (letter, [{"token": t, "logprob": p} for t, p in logprobs.items()]), (after, [])]
    return {
        "model": request["model"],
        "choices": [
            {
                "message": {"role": "assistant", "content": before + letter + after},
                "finish_reason": "stop",
                "logprobs": {"content": [{"token": t, "logprob": -0.1, "top_logprobs": top} for t, top in tokens]},
            }
        ],
        "usage": {"prompt_tokens": len(ids), "completion_tokens": len(letter + after)},
    }


def serve(model: GPT2LMHeadModel, port: int = 0, before: Callable[[dict], bool] = lambda request: True) -> ThreadingHTTPServer:
    """A running server; before: called with each request, False drops the connection without an answer."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:  # one answer at a time
                if not before(request):
                    self.close_connection = True
                    return
                body = json.dumps(completion(model, request)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server
