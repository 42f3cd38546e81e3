"""Making a base of conversations (comparator/base.py). Imported when a command runs, since it needs torch."""

from collections.abc import Callable, Sequence
from pathlib import Path

from core.errors import Refused
from evaluator.comparator.base import drawn, make_base
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import exchanges
from evaluator.encoders.pretrained import BadCheckpoint
from evaluator.trainings.dialogues import Conversation


def make(
    folder: Path,
    conversations: Sequence[Conversation],
    settings: Settings,
    seed: int,
    most: int,
    watch: Callable[[float, str], None],
) -> dict:
    """Its name and manifest; of the replies in the conversations, about `most` are learnt from."""
    shown = drawn(exchanges(conversations), most, seed)
    try:
        manifest = make_base(shown, settings, seed, folder, lambda done, message, point: watch(done, message))
    except (ValueError, BadCheckpoint) as error:
        raise Refused(f"The base could not be made. {error}") from error
    told = ("exchanges", "conversations", "seconds", "sha256", "files")
    return {"base": folder.name, **{name: manifest[name] for name in told}, "folder": str(folder)}
