"""For admins: who has an account; and of each account what it may do, a new password, and what is kept of the person."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.access import for_admins
from annotation.campaigns.overview import counted
from annotation.forms import NewAccountForm, RightsForm
from annotation.models import Annotator, Membership, User
from annotation.people import accounts, personal_data, second_factor
from annotation.views.paging import paged, searched
from core.errors import Refused

NO_PASSWORD = {"password__startswith": "!", "oidc_subject": None}  # guests, and who was erased
GROUPS = {  # by their names in the address: what they are called, and their rows
    "": ("With a log-in", lambda users: users.exclude(**NO_PASSWORD)),
    "admins": ("Admins", lambda users: users.filter(is_staff=True)),
    "closed": ("May not sign in", lambda users: users.filter(is_active=False)),
    "guests": ("Guests", lambda users: users.filter(**NO_PASSWORD)),
}


class EraseForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label="Log-in name",
        help_text="To erase, type it again.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )


@for_admins
def account_list(request):
    """GET ?group=NAME of GROUPS, ?q=words. A new account's password is shown in the answer that made it, and never again."""
    group = request.GET.get("group", "")
    group = group if group in GROUPS else ""
    form, made = NewAccountForm(request.POST or None), None
    if form.is_bound:
        _needs_every_right(request.user)
        made = _made(form)
    users, asked = searched(request, GROUPS[group][1](User.objects.order_by("username")), "username", "first_name", "email")
    researched, annotated = Membership.objects.filter(user=OuterRef("pk")), Annotator.objects.filter(user=OuterRef("pk"))
    users = users.annotate(researches=counted(researched, "user"), annotates=counted(annotated, "user"))
    context = {
        "accounts": paged(request, users),
        "asked": asked,
        "group": group,
        "groups": {name: title for name, (title, _) in GROUPS.items()},
        "form": NewAccountForm() if made else form,
        "made": made,
        "may_change": request.user.is_superuser,
    }
    return render(request, "annotation/accounts.html", context, status=422 if form.is_bound and not made else 200)


def _made(form):
    """The account with its `first_password`; None where the form or the service refuses, which the form says."""
    if not form.is_valid():
        return None
    try:
        user, password = accounts.make_account(**form.cleaned_data)
    except Refused as refused:
        form.add_error("email", str(refused))
        return None
    return {"user": user, "password": password}


def _needs_every_right(user) -> None:
    """Who may only look could give themselves the rest."""
    if not user.is_superuser:
        raise PermissionDenied


@for_admins
def person(request, pk):
    """POST do=rights, password, second-factor, export or erase."""
    shown = get_object_or_404(User, pk=pk)
    asked = request.POST.get("do", "")
    if asked in ("rights", "password", "second-factor"):
        _needs_every_right(request.user)
    if asked == "export":
        response = HttpResponse(personal_data.as_zip(shown), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="person-{shown.pk}.zip"'
        return response
    rights = RightsForm(request.POST if asked == "rights" else None, instance=shown)
    erase = EraseForm(request.POST if asked == "erase" else None)
    if (
        (asked == "rights" and _change_rights(request, shown, rights))
        or (asked == "erase" and _erase(request, shown, erase))
        or (asked == "second-factor" and _turn_off_second_factor(request, shown))
    ):
        return redirect("person", pk)
    context = {
        "person": shown,
        "counts": personal_data.counts(shown),
        "rights": rights,
        "form": erase,
        "has_log_in": shown.has_usable_password(),
        "is_erased": personal_data.is_erased(shown),
        "may_change": request.user.is_superuser,
        "password": accounts.give_password(shown) if asked == "password" and shown.has_usable_password() else "",
    }
    return render(request, "annotation/person.html", context, status=422 if rights.is_bound or erase.is_bound else 200)


def _change_rights(request, user: User, form: RightsForm) -> bool:
    if not form.is_valid():
        return False
    try:
        accounts.change_rights(user, request.user, **form.cleaned_data)
    except Refused as refused:
        form.add_error(None, str(refused))
        return False
    messages.success(request, "Saved.")
    return True


def _turn_off_second_factor(request, user: User) -> bool:
    second_factor.turn_off(user)
    messages.success(request, "The second factor is off. The password alone is enough until they set up another.")
    return True


def _erase(request, user: User, form: EraseForm) -> bool:
    if not form.is_valid():
        return False
    try:
        if form.cleaned_data["username"] != user.username:
            raise Refused("This is not the log-in name of this account.")
        personal_data.erase(user)
    except Refused as refused:
        form.add_error("username", str(refused))
        return False
    messages.success(request, "Erased. The judgments stay under the pseudonym of each campaign.")
    return True
