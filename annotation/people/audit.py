"""What the audit log learns by itself: who came and went, whose rights and tokens changed. Services write the rest.

The table refuses changes (migration 0020), so nothing in `detail` names a person: accounts are rows that can be erased.
"""

import unicodedata

from django.contrib.admin.models import LogEntry
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import DatabaseError, transaction
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver

from annotation.models import ApiToken, AuditEvent, Campaign, User
from annotation.models.people import password_changed
from core import requester

BACKED_UP, VERIFIED = "backup made", "backup verified"
RIGHTS = ("is_staff", "is_superuser", "may_create_campaigns", "is_active", "oidc_subject")


def exported(what: str, campaign: Campaign, user: User | None) -> None:
    """A file of the campaign's data left this place."""
    AuditEvent.objects.create(campaign=campaign, user=user, action="exported", detail={"what": what})


def backed_up(file: str, size: int, action: str) -> bool:
    """A backup was made or verified (action: BACKED_UP, VERIFIED). False where this could not be noted: a backup is also
    verified where there is no database."""
    try:
        with transaction.atomic():
            AuditEvent.objects.create(action=action, detail={"file": file, "bytes": size})
    except DatabaseError:
        return False
    return True


def about(subject: User, action: str, **detail) -> None:
    """Something happened to an account, by whoever sent the request."""
    AuditEvent.objects.create(user=requester.user(), subject=subject, action=action, detail=detail)


@receiver(user_logged_in)
def _signed_in(user, **kwargs):
    AuditEvent.objects.create(user=user, subject=user, action="signed in")


@receiver(user_logged_out)
def _signed_out(user, **kwargs):
    if user is not None:
        AuditEvent.objects.create(user=user, subject=user, action="signed out")


@receiver(user_login_failed)
def _failed(credentials, **kwargs):
    """Without the name where nobody has it: people type passwords into that field."""
    name = unicodedata.normalize("NFKC", str(credentials.get("username") or ""))[:150]
    AuditEvent.objects.create(subject=User.objects.filter(username=name).first(), action="sign-in failed")


@receiver(pre_save, sender=User)
def _note_rights(instance, raw, update_fields, **kwargs):
    instance.rights_before = None
    if not raw and (update_fields is None or set(RIGHTS) & set(update_fields)):
        stored = User.objects.filter(pk=instance.pk).values(*RIGHTS).first() if instance.pk else None
        instance.rights_before = stored or {name: User._meta.get_field(name).get_default() for name in RIGHTS}


@receiver(post_save, sender=User)
def _compare_rights(instance, **kwargs):
    before = instance.rights_before or {}
    changed = {name: [old, getattr(instance, name)] for name, old in before.items() if old != getattr(instance, name)}
    if "oidc_subject" in changed:
        changed["oidc_subject"] = "changed"  # it names a person
    if changed:
        about(instance, "rights changed", **changed)


@receiver(password_changed)
def _has_new_password(user, **kwargs):
    about(user, "password changed")


@receiver(post_save, sender=ApiToken)
def _made(instance, created, raw, **kwargs):
    if created and not raw:
        about(instance.user, "token made", token=instance.pk, scopes=instance.scopes, until=f"{instance.expires_at:%Y-%m-%d}")


@receiver(post_delete, sender=ApiToken)
def _ended(instance, **kwargs):
    about(instance.user, "token ended", token=instance.pk)


@receiver(post_save, sender=LogEntry)
def _changed_by_admin(instance, **kwargs):
    kind = instance.content_type.model if instance.content_type else ""
    detail = {"what": f"{kind} {instance.object_id}"}
    AuditEvent.objects.create(user=instance.user, action="changed in the admin site", detail=detail)
