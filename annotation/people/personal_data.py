"""What is kept about one person: handed out, or erased (GDPR, articles 15 and 17).

Erasing takes away who it was and keeps what was judged, under the pseudonym that the campaign gave: snapshots, boards and
comparators rest on it, and their digests would lie without it.
"""

import io
import json
import secrets
import zipfile
import zlib
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import Annotator, AuditEvent, FrozenAnswers, ItemReport, Job, KeptResponse, Submission, User
from annotation.people import audit
from annotation.questions import store
from core.errors import Refused

PROFILE = ("username", "email", "first_name", "last_name", "date_joined", "last_login", *audit.RIGHTS)
ERASED = "erased-"


def counts(user: User) -> dict[str, int]:
    """How much there is of each kind."""
    own = user.annotators.all()
    return {
        "campaigns that they annotate": own.count(),
        "campaigns that they research": user.memberships.count(),
        "answers": Submission.objects.filter(annotator__in=own).count(),
        "reports of items": ItemReport.objects.filter(annotator__in=own).count(),
        "tokens": user.api_tokens.count(),
        "events in the audit log": AuditEvent.objects.filter(Q(user=user) | Q(subject=user)).count(),
    }


def as_zip(user: User) -> bytes:
    """A zip with person.json: everything that names this person or was said by them."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        text = json.dumps(_everything(user), ensure_ascii=False, indent=1, cls=DjangoJSONEncoder)
        packed.writestr("person.json", text)
    audit.about(user, "personal data exported")
    return file.getvalue()


def _everything(user: User) -> dict[str, Any]:
    events = AuditEvent.objects.filter(Q(user=user) | Q(subject=user)).order_by("pk")
    replies = ItemReport.objects.filter(replied_by=user).exclude(reply="").order_by("replied_at")
    return {
        "account": {name: getattr(user, name) for name in PROFILE},
        "second_factor": bool(user.totp_secret),
        "researches": list(user.memberships.values("campaign__slug", "created_at")),
        "replied": list(replies.values("item__campaign__slug", "item_id", "reply", "replied_at")),
        "annotates": [_as_annotator(annotator) for annotator in user.annotators.select_related("campaign", "consent")],
        "tokens": list(user.api_tokens.values("name", "scopes", "created_at", "used_at", "expires_at")),
        "jobs": list(Job.objects.filter(created_by=user).values("title", "status", "created_at")),
        "events": list(events.values("created_at", "action", "campaign_id", "detail", "request_id")),
    }


def _as_annotator(annotator: Annotator) -> dict[str, Any]:
    return {
        "campaign": annotator.campaign.slug,
        "pseudonym": annotator.name,
        "joined": annotator.created_at,
        "from_crowd_platform": annotator.source,
        "agreed_to_version": annotator.consent.version if annotator.consent else None,
        "agreed_at": annotator.consented_at,
        "withdrew_at": annotator.withdrawn_at,
        **store.everything_of(annotator),
        "as_sent": list(annotator.submissions.values("payload", "seconds", "active_seconds", "created_at", "retracted_at")),
        "reports": list(annotator.reports.values("item_id", "kind", "reason", "created_at", "reply", "replied_at")),
    }


def is_erased(user: User) -> bool:
    return user.username.startswith(ERASED) and not user.is_active


@transaction.atomic
def erase(user: User) -> None:
    """Make the account nobody's. Raises Refused for the last admin; erasing twice changes nothing."""
    user = User.objects.select_for_update().get(pk=user.pk)
    if is_erased(user):
        return
    if user.is_staff and not User.objects.filter(is_staff=True, is_active=True).exclude(pk=user.pk).exists():
        raise Refused("This is the last admin; make another one first.")
    for annotator in user.annotators.all():
        _take_words_of(annotator)
    user.annotators.update(source={}, browser="")
    user.memberships.all().delete()
    user.api_tokens.all().delete()
    KeptResponse.objects.filter(user=user).delete()
    LogEntry.objects.filter(user=user).delete()
    about = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk))
    about.update(object_repr="an erased account", change_message="")
    _end_sessions(user)
    user.username, user.email, user.first_name, user.last_name = f"{ERASED}{secrets.token_hex(6)}", "", "", ""
    user.is_active = user.is_staff = user.is_superuser = user.may_create_campaigns = False
    user.totp_secret, user.recovery_codes, user.oidc_subject, user.last_login = "", [], None, None
    user.set_unusable_password()
    user.save()
    audit.about(user, "personal data erased")


def _take_words_of(annotator: Annotator) -> None:
    """Comments and reasons, also where they were written down beside a snapshot; its own content has none."""
    store.take_words_of(annotator)
    annotator.reports.update(reason="", reply="")
    for submission in annotator.submissions.filter(payload__has_key="reason").iterator():
        del submission.payload["reason"]
        submission.save(update_fields=["payload"])
    for frozen in FrozenAnswers.objects.filter(snapshot__campaign=annotator.campaign):
        before = zlib.decompress(bytes(frozen.lines)).decode().split("\n")
        after = [_without_words(line, annotator.name) for line in before]
        if after != before:
            frozen.lines = zlib.compress("\n".join(after).encode(), 6)
            frozen.save(update_fields=["lines"])


def _without_words(line: str, name: str) -> str:
    row = json.loads(line) if line else {}
    if row.get("annotator") != name or not row.get("reason"):
        return line
    return json.dumps(row | {"reason": None}, ensure_ascii=False)


def _end_sessions(user: User) -> None:
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()
