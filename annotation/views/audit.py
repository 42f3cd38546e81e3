"""For admins: the audit log, and the backups that it tells of."""

from datetime import timedelta

from django import forms
from django.db.models import Q
from django.shortcuts import render
from django.utils import timezone

from annotation.access import for_admins
from annotation.models import AuditEvent, Campaign, User
from annotation.people.audit import BACKED_UP, VERIFIED
from annotation.views.paging import paged

OFFERED = 1000  # newest events, whose actions the page offers to choose from
LOOKED_BACK = timedelta(days=90)
OLD = timedelta(days=2)


class FilterForm(forms.Form):
    action = forms.CharField(max_length=60, required=False, widget=forms.TextInput({"list": "actions", "autocomplete": "off"}))
    person = forms.CharField(max_length=150, required=False, label="Log-in name")
    campaign = forms.CharField(max_length=80, required=False, label="Campaign (short name)")
    since = forms.DateField(required=False, label="From", widget=forms.DateInput({"type": "date"}))

    def rows(self):
        """The events that fit what was given, each field whole, so that the database finds them by its keys."""
        asked, events = self.cleaned_data, AuditEvent.objects.select_related("campaign", "user", "subject")
        if asked.get("action"):
            events = events.filter(action=asked["action"])
        if asked.get("person"):
            who = User.objects.filter(username=asked["person"]).first()
            events = events.filter(Q(user=who) | Q(subject=who)) if who else events.none()
        if asked.get("campaign"):
            events = events.filter(campaign__in=Campaign.objects.filter(slug=asked["campaign"]))
        if asked.get("since"):
            events = events.filter(created_at__date__gte=asked["since"])
        return events


@for_admins
def audit_log(request):
    form = FilterForm(request.GET)
    is_valid = form.is_valid()
    context = {
        "events": paged(request, form.rows() if is_valid else AuditEvent.objects.none()),
        "form": form,
        "is_narrowed": not is_valid or any(form.cleaned_data.values()),
        "actions": sorted(set(AuditEvent.objects.values_list("action", flat=True)[:OFFERED])),
    }
    return render(request, "annotation/audit.html", context)


@for_admins
def backups(request):
    """What `backup` and `backup --verify` noted in this database; files that lie elsewhere are not looked at."""
    since = timezone.now() - LOOKED_BACK
    events = AuditEvent.objects.filter(action__in=(BACKED_UP, VERIFIED), created_at__gte=since)
    verified = events.filter(action=VERIFIED).first()
    context = {
        "events": paged(request, events),
        "days": LOOKED_BACK.days,
        "made": events.filter(action=BACKED_UP).first(),
        "verified": verified,
        "is_old": verified is None or verified.created_at < timezone.now() - OLD,
    }
    return render(request, "annotation/backups.html", context)
