"""`make lint` knows the fields of Django's models: a query or an instance with a name that a model has not is an error."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLANTS = {  # a line with a wrong name, and the same with a right one
    "Campaign.objects.filter(colour=1)": "Campaign.objects.filter(slug='talk')",
    "Campaign.objects.values('colour')": "Campaign.objects.values('slug')",
    "Item.objects.exclude(colour=1).exists()": "Item.objects.exclude(position=1).exists()",
    "Campaign(colour=1)": "Campaign(slug='talk')",
    "Campaign.objects.get(pk=1).colour": "Campaign.objects.get(pk=1).slug",
    "Campaign.objects.get(pk=1).items.filter(colour=1)": "Campaign.objects.get(pk=1).items.filter(position=1)",
    "Tournament.objects.order_by('campaign').filter(colour=1)": "Tournament.objects.order_by('campaign').filter(seed=1)",
}


def complaints(folder: Path, lines: list[str]) -> set[int]:
    """The numbers of the planted lines of which mypy complains, in a function without types, as views are."""
    head = ["from annotation.models import Campaign, Item", "from leaderboard.models import Tournament", "def page(request):"]
    plant = folder / "plant.py"
    plant.write_text("\n".join([*head, *(f"    {line}" for line in lines)]) + "\n")
    words = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"), "--follow-imports=silent"]
    done = subprocess.run([sys.executable, "-m", "mypy", *words, str(plant)], cwd=ROOT, capture_output=True, text=True)
    said = [line for line in done.stdout.splitlines() if "plant.py" in line and ": error:" in line]
    assert said or done.returncode == 0, done.stdout + done.stderr
    return {int(line.split("plant.py:")[1].split(":")[0]) - len(head) - 1 for line in said}


@pytest.mark.long
def test_a_name_that_a_model_has_not_is_an_error(tmp_path):
    assert complaints(tmp_path, [*PLANTS, *PLANTS.values()]) == set(range(len(PLANTS)))
