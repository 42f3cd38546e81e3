"""The comparator of a folder, of whichever architecture its manifest names."""

from pathlib import Path

from evaluator.comparator import checkpoint
from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.predict import Comparator

CLASSES = {kind.architecture: kind for kind in (Comparator, JointComparator)}


def load(directory: str | Path) -> Comparator | JointComparator:
    """Checks every file; raises BadCheckpoint with one sentence."""
    directory = Path(directory)
    return CLASSES[checkpoint.load_manifest(directory).settings.architecture].load(directory)
