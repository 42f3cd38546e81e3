"""`--device`, for commands that learn or judge in their own process."""

import os

from core.errors import Refused


def add_device(parser) -> None:
    parser.add_argument("--device", help='"cuda", "cuda:1", "mps" or "cpu"; default: COMPARENA_DEVICE, or the best there is')


def use_device(name: str | None) -> None:
    """From now on, in this process. Refused where there is none of this name."""
    from evaluator.encoders import devices

    if name:
        os.environ[devices.SETTING] = name
    try:
        devices.chosen()
    except ValueError as error:
        raise Refused(str(error)) from error
