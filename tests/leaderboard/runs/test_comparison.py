"""Which settings win: the best checkpoints of several runs."""

import pytest

from leaderboard.models import Run
from tests.leaderboard.runs.conftest import Words, judge_all

pytestmark = pytest.mark.django_db


def trained(world, call, name: str, lengths: list[int], loss: float, logprob: float) -> None:
    """A run whose outputs have so many words at each step."""
    keys = world.campaign.contexts.values_list("key", flat=True)
    call("POST", "runs/", {"name": name})
    for step, length in enumerate(lengths, start=1):
        rows = [{"context_id": key, "output": "w " * length, "logprob": logprob} for key in keys]
        call("POST", f"runs/{name}/checkpoints/", {"step": step, "outputs": rows, "validation_loss": loss})
    judge_all(Run.objects.get(name=name), Words())


def test_the_winner_and_what_else_would_have_chosen(world, call):
    trained(world, call, "small", [1, 2], 2.0, -5.0)
    trained(world, call, "large", [1, 9], 3.0, -4.0)
    found = call("GET", "runs/compare/?name=small&name=large").json()
    # on each of the 12 contexts 9 words beat 2
    assert [(one["name"], one["step"]) for one in found["runs"]] == [("large", 2), ("small", 2)]
    assert found["runs"][0]["win_rate"] > 0.8 and found["runs"][0]["probability"] > 0.95 and found["contexts"] == 12
    assert found["not_worse"] == ["large"]
    chosen = {one["by"]: one["choice"] for one in found["others"]}
    assert chosen == {"validation loss": "small", "mean log probability": "large"}


@pytest.mark.parametrize(
    "names, status, said",
    [(["a"], 422, "From 2 to 50 runs"), (["a", "b"], 422, "Nothing of run 'b' is judged"), (["a", "zz"], 404, "")],
)
def test_what_cannot_be_compared_is_refused(world, call, names, status, said):
    trained(world, call, "a", [1], 1.0, -1.0)
    call("POST", "runs/", {"name": "b"})
    answer = call("GET", "runs/compare/?" + "&".join(f"name={name}" for name in names))
    assert answer.status_code == status and said in answer.json()["message"]
