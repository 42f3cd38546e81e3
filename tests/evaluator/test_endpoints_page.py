"""An admin sees which language models researchers may ask, and never a key."""

import json

import pytest

from annotation.models import User
from evaluator.model_settings import VARIABLE

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client):
    client.force_login(User.objects.create_superuser("root"))


def test_address_price_models_and_whether_the_key_is_there(client, admin, monkeypatch):
    rows = {
        "ours": {"url": "https://llm.example.org/v1", "key": "OUR_KEY", "price": [0.5, 1.5], "models": ["m-7b", "m-70b"]},
        "other": {"url": "https://other.example.org/v1", "key": "OTHER_KEY"},
    }
    monkeypatch.setenv(VARIABLE, json.dumps(rows))
    monkeypatch.setenv("OUR_KEY", "sk-secret")
    page = client.get("/endpoints/").content.decode()
    assert [(endpoint.name, has_key) for endpoint, has_key in client.get("/endpoints/").context["rows"]] == [
        ("ours", True),
        ("other", False),
    ]
    assert "https://llm.example.org/v1" in page and "m-7b, m-70b" in page and "1.50" in page and "sk-secret" not in page


def test_what_is_broken_or_missing_is_said(client, admin, monkeypatch):
    monkeypatch.setenv(VARIABLE, "{")
    assert "is no JSON of the form" in client.get("/endpoints/").content.decode()
    monkeypatch.delenv(VARIABLE)
    assert "No endpoint is configured" in client.get("/endpoints/").content.decode()
