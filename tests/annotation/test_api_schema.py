"""Requests drawn from the OpenAPI schema, good ones and broken ones: none is a server error, every answer is as described.

SCHEMA_CASES=100 draws that many of each kind for each operation, and so many chains of requests, more than 10,000 requests in
all, makes every check of schemathesis, and tells (with -s) how many requests there were. One of its checks finds nothing to do
here, `object_level_authorization`, which needs several people who log in: tests/access asks every URL as every role instead.
"""

import os
import re
from collections import Counter

import pytest
import schemathesis
import yaml
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
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
SENT_ALIKE = (
    "at /properties/slug",  # what was drawn there is not sent
    "at /properties/Authorization",
    "in path - violates `type` at /properties/pk (was integer, became string)",  # digits in an address are both
    "in query - object with unexpected properties",  # a parameter that nobody knows is ignored
)
WHOLE_NUMBER = "in path - violates `type` at /properties/pk (was integer, became number)"  # 3.0, which is sent as 3
CASES = int(os.environ.get("SCHEMA_CASES", "3"))
LONG = CASES >= 10
ACCEPTED = ["2xx", "400", "403", "404", "409", "413", "422"]  # a good request may ask for what is not there, or not now
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
    if LONG:
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


def test_it_is_worked_out_once_and_says_the_same_to_everybody_in_both_formats(key, monkeypatch):
    first = Client().get("/api/schema/?format=json")
    monkeypatch.setattr(SchemaGenerator, "get_schema", None)
    assert first["Content-Type"] == "application/vnd.oai.openapi+json"
    assert Client().get("/api/schema/?format=json", headers=headers(key)).content == first.content
    written = Client().get("/api/schema/")
    assert written["Content-Type"] == "application/vnd.oai.openapi; charset=utf-8"
    assert yaml.load(written.content, yaml.CSafeLoader) == first.json()


def plain(path: str) -> str:
    return re.sub(r"<\w+>|{\w+}", "*", path)


def violations(case, response, key: str, checks=None, recorder=None) -> list[str]:
    """What schemathesis' checks (all of them without `checks`) say of an answer."""
    try:
        case.validate_response(
            response,
            checks=checks,
            headers={"Authorization": f"Bearer {key}"},
            transport_kwargs={"headers": headers(key)},
            recorder=recorder,
        )
    except FailureGroup as failed:
        found = [f"{case.operation.label}: {failure.title}\n{failure}"[:600] for failure in failed.exceptions]
        return [text for text in found if not is_sent_alike(text, case)]
    return []


def is_sent_alike(text: str, case) -> bool:
    """Whether what was drawn is not what was sent, or is taken for what it says, as it would be in a form."""
    if WHOLE_NUMBER in text:
        return bool(re.search(r"/[0-9]+(/|$)", case.formatted_path))
    if found := re.search(r"in body - (\w+): Incorrect type", text):
        return type(case.body[found[1]]) in (int, float) and type_in_body(case, found[1]) == "string"
    return any(part in text for part in SENT_ALIKE)


def type_in_body(case, field: str) -> str:
    """The type that the schema gives to a field of the request."""
    body = case.operation.definition.raw["requestBody"]["content"][case.media_type]["schema"]
    described = case.operation.schema.raw_schema["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    return described["properties"][field].get("type", "")


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Host": "localhost"}


def restore_campaign() -> None:
    """Whatever was drawn before."""
    Campaign.objects.update(deleted_at=None, status=Campaign.Status.OPEN)
    Annotator.objects.update(withdrawn_at=None)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_answer_is_as_the_schema_says(key, schema, mode):
    """Random requests; in a long run also the edges of every value, methods that are not there and headers left out."""
    schema.config.generation.update(modes=[mode])
    schema.config.checks.positive_data_acceptance.expected_statuses = ACCEPTED
    operations, wrong, sent = 0, Counter(), Counter()

    def ask(case):
        restore_campaign()
        if "slug" in (case.path_parameters or {}):
            case.path_parameters["slug"] = "talk"
        response = case.call(headers=headers(key))
        sent[response.status_code] += 1
        wrong.update(map(tell, violations(case, response, key, None if LONG else CHECKED)))

    for result in schema.get_all_operations():
        operation = result.ok()
        BOUNDED(given(case=operation.as_strategy(generation_mode=mode))(ask))()
        if LONG:
            generation = schema.config.generation_for(operation=operation, phase="coverage")
            for case in schema.iter_coverage_cases(operation, generation_modes=[mode], generation_config=generation):
                ask(case)
        operations += 1
        if LONG:
            print(operations, operation.label, sent.total(), len(wrong), flush=True)
    print(f"{mode.value}: {operations} operations, {sent.total()} requests, {dict(sorted(sent.items()))}", flush=True)
    assert not wrong, "\n".join(f"{count} x {what}" for what, count in wrong.most_common())
    assert operations > 30


def test_what_was_made_is_there_and_what_was_deleted_is_gone(key, schema):
    """Chains of requests, each with what earlier answers said: ids, slugs, names of what was made."""
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    schema.config.checks.positive_data_acceptance.expected_statuses = ACCEPTED
    wrong, sent = Counter(), Counter()

    class Chain(schema.as_state_machine()):
        def setup(self):
            self.savepoint = transaction.savepoint()

        def teardown(self):  # so that each chain finds the same, as Hypothesis expects
            transaction.savepoint_rollback(self.savepoint)

        def get_call_kwargs(self, case):
            return {"headers": headers(key)}

        def validate_response(self, response, case, additional_checks=None, **kwargs):
            sent[f"{case.operation.method.upper()} {response.status_code // 100}xx"] += 1
            wrong.update(map(tell, violations(case, response, key, None, self.recorder)))

    chains = max(CASES, 12)  # fewer may happen to make nothing
    Chain.run(settings=settings(BOUNDED, max_examples=chains, stateful_step_count=20))
    print(f"chains: {sent.total()} requests, {dict(sorted(sent.items()))}", flush=True)
    assert not wrong, "\n".join(f"{count} x {what}" for what, count in wrong.most_common())
    assert sent["GET 2xx"] and sent["POST 2xx"]
