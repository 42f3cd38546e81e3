"""Requests drawn from the OpenAPI schema, good ones and broken ones: none is a server error, every answer is as described.

SCHEMA_CASES=100 draws that many of each kind for each operation, about 10,000 in all, and makes all schemathesis' checks that
look at one answer: not those that compare answers of several requests, which the tests of the API make with sense, and not the
one of log-ins, since every request here has a token (tests/access asks every URL without one).
"""

import os
import re
from collections import Counter

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as openapi

from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_outputs
from annotation.models import Annotator, Campaign, User
from annotation.people.accounts import add_annotator
from annotation.people.invitations import invite
from annotation.people.tokens import make_token
from config.wsgi import application
from tests.access.table import expectations
from tests.annotation.pages import CRITERIA, write_outputs

CHECKED = [
    checks.not_a_server_error,
    openapi.status_code_conformance,
    openapi.content_type_conformance,
    openapi.response_schema_conformance,
]
EVERY = [
    *CHECKED,
    openapi.response_headers_conformance,
    openapi.missing_required_header,
    openapi.unsupported_method,
    openapi.negative_data_rejection,
    openapi.positive_data_acceptance,
]
SENT_ALIKE = (
    "at /properties/slug",  # what was drawn there is not sent
    "at /properties/Authorization",
    "in path - violates `type` at /properties/pk (was integer, became string)",  # digits in an address are both
)
CASES = int(os.environ.get("SCHEMA_CASES", "3"))
BOUNDED = settings(
    max_examples=CASES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def schema():
    """Its requests go past Django's test client, which would keep them from closing the test's connection."""
    schema = schemathesis.openapi.from_dict(Client().get("/api/schema/?format=json").json())
    schema.app = application
    signals = request_started, request_finished
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield schema
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def key(db, tmp_path):
    """Of somebody who researches the campaign and annotates it too."""
    user = User.objects.create_user("alice", may_create_campaigns=True)
    campaign = create_campaign(slug="talk", title="Small talk", criteria=CRITERIA, pairwise=True, user=user)
    import_outputs(campaign, write_outputs(tmp_path))
    add_annotator(campaign, user)
    invite(campaign)
    return make_token(user, "test")[1]


def tell(failure: str) -> str:
    """A long run shows each failure when it comes."""
    if CASES >= 10:
        print(failure, flush=True)
    return failure


def test_the_schema_has_every_address_and_every_method(db):
    """Those that tests/access/table.py has, which in turn has all that the resolver has."""
    paths = Client().get("/api/schema/?format=json").json()["paths"]
    described = {plain(path): {method.upper() for method in methods} for path, methods in paths.items()}
    routes = {plain("/" + route): set(methods) for route, methods in expectations().items() if route.startswith("api/")}
    del routes["/api/"], routes["/api/schema/"], routes["/api/*"]  # the last is whatever leads nowhere
    assert described.keys() == routes.keys()
    served = {path: methods for path, methods in routes.items() if methods}  # some have nothing to serve in that world
    assert {path: described[path] for path in served} == served


def plain(path: str) -> str:
    return re.sub(r"<\w+>|{\w+}", "*", path)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_answer_is_as_the_schema_says(key, schema, mode):
    schema.config.generation.update(modes=[mode])
    schema.config.checks.positive_data_acceptance.expected_statuses = ["2xx", "400", "403", "404", "409", "413", "422"]
    operations, wrong = 0, Counter()
    for result in schema.get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy(generation_mode=mode))
        @BOUNDED
        def ask(case):
            Campaign.objects.update(deleted_at=None, status=Campaign.Status.OPEN)  # whatever was drawn before
            Annotator.objects.update(withdrawn_at=None)
            if "slug" in case.path_parameters:
                case.path_parameters["slug"] = "talk"
            response = case.call(headers={"Authorization": f"Bearer {key}", "Host": "localhost"})
            try:
                case.validate_response(response, checks=CHECKED if CASES < 10 else EVERY)
            except FailureGroup as failed:
                found = [f"{failure.title}\n{failure}" for failure in failed.exceptions]
                sent = [text for text in found if not any(part in text for part in SENT_ALIKE)]
                wrong.update(tell(f"{operation.label}: {text}"[:600]) for text in sent)  # noqa: B023

        ask()
        operations += 1
        if CASES >= 10:
            print(operations, operation.label, len(wrong), flush=True)
    assert not wrong, "\n".join(f"{count} x {what}" for what, count in wrong.most_common())
    assert operations > 30
