"""The comparator of a folder, of whichever architecture its manifest names."""

from pathlib import Path

from evaluator.comparator import storage
from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.predict import Comparator
from evaluator.encoders import pretrained


def load(directory: str | Path) -> Comparator | JointComparator:
    """Checks every file; raises BadCheckpoint with one sentence."""
    directory = Path(directory)
    manifest = storage.load_manifest(directory)
    kind = JointComparator if manifest.settings.architecture == "joint" else Comparator
    comparator = kind(directory, manifest)
    pretrained.load_encoder(directory)
    return comparator
