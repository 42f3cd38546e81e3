"""The ways in, the command, the API, the page and the Python client, as a test sends a file through each of them: what was
stored, and the account of it."""

import importlib.util
import io
import json
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs, options_of
from annotation.models import Annotator, Campaign, LikertScore, Output, PairwiseJudgment, Upload, User
from annotation.people.tokens import make_token

SAMPLES = Path(__file__).parent / "samples"
CLIENT = Path(__file__).parents[3] / "clients" / "comparena_client.py"
DOORS = ("command", "api", "page", "client")
FLAGS = {
    "systems": "--system-column",
    "aspects": "--criterion-column",
    "raters": "--annotator-column",
    "judges": "--judge-column",
    "human_systems": "--human-system",
}
COMMANDS = {"judge_scores": ("import_judge_scores",), "judge_pairs": ("import_judge_scores", "--pairs")}
ACCOUNT = ("rows", "new", "repeated", "left_out", "listed", "elsewhere", "assumed")


@contextmanager
def kept_connections():
    """The test's transaction outlives the requests, as in Django's own test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


class Installation:
    """A researcher with an empty campaign, and the three doors to it."""

    def __init__(self, client):
        self.client = client
        self.user = User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)

    def campaign(self, slug: str, criterion=("Quality", 1, 5), outputs: str = "", texts=None, **settings) -> Campaign:
        campaign = create_campaign(slug=slug, criteria=[CriterionSpec(*criterion)], user=self.user, pairwise=True, **settings)
        if outputs:
            import_outputs(campaign, SAMPLES / outputs, **(texts or {}))
        return campaign

    def through(self, door: str, campaign: Campaign, kind: str, file: Path, **how) -> dict:
        assert how.keys() <= {*options_of(kind)}
        account = getattr(self, f"_{door}")(campaign, kind, file, how)
        return {name: account[name] for name in ACCOUNT if account.get(name) or name == "new"}

    def _command(self, campaign, kind, file, how) -> dict:
        arguments = []
        for name, value in how.items():
            if name in ("columns", "constants"):
                for field, said in value.items():
                    arguments += [f"--{name[:-1]}", f"{field}={said}"]
            elif isinstance(value, list):
                arguments += [part for one in value for part in (FLAGS[name], one)]
            else:
                arguments += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
        out = io.StringIO()
        command, *chosen = COMMANDS.get(kind, (f"import_{kind}",))
        call_command(command, campaign.slug, str(file), *chosen, *arguments, "--json", stdout=out)
        return json.loads(out.getvalue())

    def _api(self, campaign, kind, file, how) -> dict:
        sent = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in how.items()}
        sent["file"] = SimpleUploadedFile(file.name, file.read_bytes())
        token = make_token(self.user, campaign.slug)[1]
        answer = self.client.post(
            f"/api/campaigns/{campaign.slug}/import/{kind}/", sent, headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    def _client(self, campaign, kind, file, how) -> dict:
        """As somebody has it who copied the client's one file."""
        specification = importlib.util.spec_from_file_location("comparena_client", CLIENT)
        module = sys.modules.setdefault("comparena_client", importlib.util.module_from_spec(specification))
        specification.loader.exec_module(module)
        token = make_token(self.user, campaign.slug)[1]
        with module.Client("http://testserver", token) as client, kept_connections():
            client._http._transport = httpx.WSGITransport(get_wsgi_application())
            return getattr(client.campaign(campaign.slug), f"import_{kind}")(file, **how)

    def _page(self, campaign, kind, file, how) -> dict:
        self.client.force_login(self.user)
        base = f"/c/{campaign.slug}/import/"
        self.client.post(base, {"file": SimpleUploadedFile(file.name, file.read_bytes()), "kind": kind})
        upload = Upload.objects.get(campaign=campaign)
        if how:
            page = self.client.get(f"{base}{upload.pk}/")
            form = page.context["form"]
            sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
            sent |= how.get("columns", {}) | {f"all_{field}": said for field, said in how.get("constants", {}).items()}
            sent |= {f"{name}_columns": how[name] for name in ("aspects", "raters", "judges") if name in how}
            sent |= {"all_simulated": "on"} if how.get("simulated") else {}
            sent |= {"one_system": how["system"]} if "system" in how else {}
            sent |= {name: how[name] for name in ("encoding", "spellings_apart", "replace", "contradictions") if name in how}
            self.client.post(f"{base}{upload.pk}/", sent)
        upload.refresh_from_db()
        assert upload.state == "fine", upload.errors
        previewed = upload.result
        self.client.post(f"{base}{upload.pk}/store/")
        upload.refresh_from_db()
        assert upload.state == "stored"
        following = upload.result.pop("next", None)
        assert (following is None) == (not Upload.objects.filter(campaign=campaign).exclude(pk=upload.pk).exists())
        drawn = {kind: count for kind, count in upload.result["new"].items() if kind != "items"}
        assert previewed | {"dry_run": False, "new": drawn} == upload.result | {"new": drawn}
        return upload.result


@pytest.fixture
def installation(client, settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    return Installation(client)


def outputs(campaign) -> list[tuple]:
    rows = Output.objects.filter(context__campaign=campaign).select_related("context", "system")
    return sorted((o.context.key, tuple(o.context.turns), o.system.name, o.text) for o in rows)


def scores(campaign) -> list[tuple]:
    rows = LikertScore.objects.filter(criterion__campaign=campaign)
    names = ("output__context__key", "output__system__name", "criterion__name", "annotator__name", "value")
    return sorted(rows.values_list(*names))


def judgments(campaign) -> list[tuple]:
    """(context, first system, choice, second system, annotator)"""
    rows = PairwiseJudgment.objects.filter(annotator__campaign=campaign)
    names = ("output_a__context__key", "output_a__system__name", "choice", "output_b__system__name", "annotator__name")
    return sorted(rows.values_list(*names))


def annotators(campaign) -> dict[str, bool]:
    return dict(Annotator.objects.filter(campaign=campaign).values_list("name", "is_simulated"))


def everywhere(installation, kind: str, file: str, stored, *, criterion=("Quality", 1, 5), on: str = "", texts=None, **how):
    """(what each door stored, its account), after a check that they are the same and that the account balances. on: the file
    whose outputs are there before; texts: what is said beside it."""
    found = {}
    for door in DOORS:
        campaign = installation.campaign(door, criterion, on, texts)
        account = installation.through(door, campaign, kind, SAMPLES / file, **how)
        account["new"].pop("items", None)
        found[door] = (stored(campaign), annotators(campaign), json.loads(json.dumps(account)))
    for door in DOORS[1:]:
        assert found[door] == found[DOORS[0]], door
    rows, people, account = found["command"]
    assert account["rows"] == account["new"].get(kind, 0) + account.get("repeated", 0) + sum(
        account.get("left_out", {}).values()
    )
    return rows, people, account
