"""What a request says of itself is not believed: how many rows it has, how long it is, which characters it holds."""

import io
import time

import pytest

from annotation.api.parsers import ShallowJSON, TooLarge
from annotation.models import Submission
from tests.annotation.pages import hidden, text

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def alice(world):
    world.sign_in(world.alice)
    return world


def test_a_form_that_claims_a_million_rows_is_refused_at_once(alice):
    begin = time.process_time()
    answer = alice.client.post(
        "/new/", {"title": "x", "slug": "x", "criteria-TOTAL_FORMS": "1000000", "criteria-INITIAL_FORMS": "0"}
    )
    assert answer.status_code == 422 and len(answer.content) < 500_000
    assert time.process_time() - begin < 10  # 39 s before


def test_half_of_a_surrogate_pair_is_no_text(alice):
    body = '{"pair_design": "\\ud800"}'
    for send, path in ((alice.client.post, "/api/campaigns/"), (alice.client.patch, "/api/campaigns/talk/")):
        answer = send(path, body, content_type="application/json")
        assert answer.status_code == 400 and "surrogate" in answer.json()["message"]
    assert (
        "surrogate"
        not in alice.client.patch(
            "/api/campaigns/talk/", '{"title": "\\ud83d\\ude00"}', content_type="application/json"
        ).content.decode()
    )


def test_json_longer_than_a_form_may_be_is_not_read(settings):
    """Of a program with a token: Django itself refuses a browser's."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert ShallowJSON().parse(io.BytesIO(b'"' + b"x" * 998 + b'"')) == "x" * 998
    with pytest.raises(TooLarge):
        ShallowJSON().parse(io.BytesIO(b'"' + b"x" * 999 + b'"'))


def test_another_answer_under_a_key_is_not_said_to_be_stored(world):
    world.sign_in(world.bob)
    form = hidden(world.get("annotate/?start=1"))
    scores = {f"score_{criterion.pk}": criterion.low for criterion in world.campaign.criteria.all()}
    world.post("annotate/", form | scores)
    assert world.post("annotate/", form | scores).status_code == 303  # a double click
    changed = {name: value + 1 for name, value in scores.items()}
    answer = world.post("annotate/", form | changed)
    assert answer.status_code == 422 and "stored already, and it is another one" in text(answer)
    assert Submission.objects.get().payload == {"scores": {str(c.pk): c.low for c in world.campaign.criteria.all()}}
