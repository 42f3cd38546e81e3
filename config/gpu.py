"""Whether a worker's jobs run on a graphics card. torch is asked in a process of its own: the worker itself never loads it."""

import logging
import os
import subprocess
import sys

log = logging.getLogger(__name__)

DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")  # NVIDIA's; the same under Windows (WSL); AMD's
ASK = "from evaluator.encoders import devices; print(devices.chosen().type)"


def is_used() -> bool:
    """What `evaluator.encoders.devices` says; False at once where there is no driver or COMPARENA_DEVICE names the CPU."""
    named = os.environ.get("COMPARENA_DEVICE", "")
    if named == "cpu" or not (named or sys.platform == "darwin" or any(map(os.path.exists, DRIVERS))):
        return False
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    asked = subprocess.run([sys.executable, "-c", ASK], cwd=root, capture_output=True, text=True)
    if asked.returncode:
        log.error("No graphics card can be used: %s", asked.stderr.strip().rpartition("\n")[2])
    return asked.stdout.strip() in ("cuda", "mps")
