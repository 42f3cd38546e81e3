"""One campaign with one of everything, the people around it, and the arguments that every URL needs."""

import re
import uuid
from functools import cached_property

from django.contrib.admin import site
from django.contrib.admindocs.views import simplify_regex
from django.core import signing
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver

from annotation.annotating import assignment
from annotation.annotating.reports import flag
from annotation.annotating.submissions import submit
from annotation.campaigns import images, lifecycle
from annotation.data import uploads
from annotation.models import Annotator, Assignment, Item, Job, Output, Purpose, Scope, Snapshot, Submission, System, User
from annotation.people.accounts import add_annotator
from annotation.people.invitations import invite, join_as_guest
from annotation.people.tokens import make_token
from annotation.views.annotating.participation import RESUME
from leaderboard.runs import registry
from leaderboard.tournaments import play
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import PNG
from tests.evaluator.world import World
from tests.leaderboard.played import quiet, strict

UNSEEN = "Kraken-system"  # a system's name, which no annotator may see


def routes() -> dict[str, str]:
    """{route: name} of every URL that the resolver knows: c/<slug>/items/<pk>/."""
    return dict(_walk(get_resolver(), ""))


def _walk(resolver, before):
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _walk(pattern, route)
        else:
            yield re.sub(r"<\w+:", "<", simplify_regex(route).removeprefix("/").replace(r"\.", ".")), pattern.name or ""


class People:
    """Roles: who asks. `clients` has one for each; the tokens are those of one person who has every right."""

    def __init__(self, world: World, version):
        self.campaign, self.alice, self.dora, self.version = world.campaign, world.alice, world.dora, version
        self.tournament = play.play(start_tournament(self.campaign, "judge", foreground=True), quiet, strict)
        System.objects.filter(name="Plain").update(name=UNSEEN)
        self.bob = self._user("bob")
        self.invitation = invite(self.campaign, self.alice)
        self.annotator = add_annotator(self.campaign, self.bob)
        overall, wit = self.campaign.criteria.all()
        first = assignment.next_assignment(self.annotator)
        Assignment.objects.filter(pk=first.pk).update(purpose=Purpose.TRAINING)  # so that there is feedback
        submit(self.annotator, first.pk, uuid.uuid4(), {"scores": {overall.pk: 3, wit.pk: 4}})
        self.held = assignment.next_assignment(self.annotator)
        flag(self.annotator, self.held.pk, "Odd.")
        self.other = lifecycle.create_campaign(slug="other", title="Elsewhere", user=self._user("erin"))
        add_annotator(self.other, self._user("otto"))
        vera = self._user("vera", is_staff=True, is_superuser=True, may_create_campaigns=True)
        lifecycle.add_researcher(self.campaign, "vera")
        add_annotator(self.campaign, vera)
        self.bobs_token = make_token(self.bob, "laptop")[0]
        guest = join_as_guest(self.invitation.token, "Guest")[1]
        self.own_link = signing.dumps(guest.pk, salt=RESUME)
        self.alice.set_password("a-long-password")
        self.alice.save()
        self.dora.is_superuser = True
        self.dora.save()
        self.alice.set_password("a-long-password")
        self.alice.save()
        self.upload = uploads.receive(self.campaign, [SimpleUploadedFile("x.jsonl", b'{"a": 1}\n')], "outputs", self.alice)
        self.job = Job.objects.create(task="annotation.tasks.calculate", title="A job", campaign=self.campaign)
        self.run = registry.open_run(self.campaign, "lstm", judge=self.version.name, user=self.alice).run
        images.store_images(self.campaign, [SimpleUploadedFile("a.png", PNG)])
        self.snapshot = Snapshot.objects.get()
        self.clients = {
            "anonymous": Client(raise_request_exception=False),
            **{
                role: self._signed_in(user)
                for role, user in {
                    "annotator": self.bob,
                    "other annotator": User.objects.get(username="otto"),
                    "researcher": self.alice,
                    "other researcher": User.objects.get(username="erin"),
                    "admin": self.dora,
                }.items()
            },
            **{f"{scope} token": self._with_token(vera, scope) for scope in Scope},
        }

    def _user(self, name, **rights):
        return User.objects.create_user(name, password="a-long-password", **rights)

    def _signed_in(self, user):
        client = Client(raise_request_exception=False)
        client.force_login(user)
        return client

    def _with_token(self, user, scope):
        key = make_token(user, scope, [scope])[1]
        return Client(raise_request_exception=False, headers={"Authorization": f"Bearer {key}"})

    def path(self, route: str) -> str:
        """The route's address, with things of this world in it."""
        path = "/" + re.sub(r"<(\w+)>", lambda found: str(self._argument(route, found[1])), route)
        return f"{path}?from={self.snapshot.name}" if route.endswith("/difference/") else path

    def _argument(self, route: str, name: str):
        if route.startswith("admin/") and not route.startswith("admin/r/") and name in ("object_id", "id"):
            app, model = route.split("/")[1:3]
            rows = next(m for m in site._registry if (m._meta.app_label, m._meta.model_name) == (app, model))._default_manager
            return rows.order_by("pk").values_list("pk", flat=True).first() or 1
        for part, arguments in self.arguments.items():
            if part in route and name in arguments:
                return arguments[name]
        raise LookupError(f"tests/access/people.py has no argument {name} for {route}")

    @cached_property
    def arguments(self) -> dict[str, dict]:
        """{part of a route: {argument: value}}; the first part that fits counts."""
        return {
            "people/<pk>": {"pk": self.bob.pk},
            "judges/<key>": {"key": "0" * 12},
            "account/tokens/": {"pk": self.bobs_token.pk},
            "resume/": {"token": self.own_link},
            "invitations/": {"pk": self.invitation.pk},
            "links/": {"pk": self.invitation.pk},
            "annotators/": {"pk": self.annotator.pk, "name": self.annotator.name},
            "researchers/": {"pk": self.campaign.memberships.get(user=self.alice).pk},
            "reports/": {"pk": self.held.item.reports.get().pk},
            "items/": {"pk": Item.objects.filter(campaign=self.campaign).first().pk},
            "answers/": {"pk": Submission.objects.get().assignment_id},
            "feedback/": {"key": Submission.objects.get().key},
            "decisions/": {"pk": self.snapshot.decisions.first().pk},
            "jobs/": {"pk": self.job.pk},
            "import/<what>": {"what": "scores"},
            "import/": {"pk": self.upload.pk},
            "images/": {"name": images.images_in(self.campaign, "![A](a.png)")["a.png"]},
            "samples/": {"pk": Output.objects.filter(system__name=UNSEEN).first().context_id},
            "systems/": {"pk": System.objects.get(name=UNSEEN).pk},
            "tournaments/": {"pk": self.tournament.pk, "format": "csv"},
            "table.": {"kind": "csv"},
            "report.": {"format": "md"},
            "comparator": {"name": self.version.name},
            "runs/": {"name": self.run.name},
            "password/reset/": {"uidb64": "MQ", "token": "set-password"},
            "": {
                "slug": "talk",
                "token": self.invitation.token,
                "digest": self.snapshot.name,
                "old": self.snapshot.name,
                "what": "scores",
                "format": "csv",
                "kind": "csv",
                "rest": "nothing",
                "url": "nothing",
                "app_label": "annotation",
                "content_type_id": 1,
                "object_id": Annotator.objects.first().pk,
            },
        }
