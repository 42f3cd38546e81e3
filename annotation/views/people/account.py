"""A user's own account: the way to a new password, and the tokens of programs that act for them."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation.access import campaigns_researched_by
from annotation.models import Scope
from annotation.models.people import TOKEN_LIFE
from annotation.people import tokens
from annotation.people.languages import speak_english
from core.errors import Refused

DAYS = [1, 7, 30, TOKEN_LIFE.days]
SCOPES = {
    Scope.READ: gettext_lazy("read: view what your account can view"),
    Scope.ANNOTATE: gettext_lazy("annotate: take part in campaigns and answer"),
    Scope.RESEARCH: gettext_lazy("research: view and change the campaigns that you research"),
    Scope.ADMIN: Scope.ADMIN.label,  # admins' pages are English
}


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=100, label=gettext_lazy("Purpose"), help_text=gettext_lazy("For example: laptop, import script.")
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope, initial=[Scope.READ], widget=forms.CheckboxSelectMultiple, label=gettext_lazy("Permissions")
    )
    days = forms.TypedChoiceField(
        choices=[(days, str(days)) for days in DAYS], coerce=int, initial=30, label=gettext_lazy("Valid for")
    )

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["days"].choices = [(d, ngettext("%(days)d day", "%(days)d days", d) % {"days": d}) for d in DAYS]
        fields["scopes"].choices = [(s.value, SCOPES[s]) for s in Scope if s != Scope.ADMIN or user.is_admin]


@never_cache
@login_required
def account(request):
    """A new token is shown in the answer that made it, and never again."""
    researchers_speak_english(request)
    form, key = TokenForm(request.POST or None, user=request.user), None
    if request.method == "POST" and form.is_valid():
        try:
            asked = form.cleaned_data
            _, key = tokens.make_token(request.user, asked["name"], asked["scopes"], timedelta(days=asked["days"]))
            form = TokenForm(user=request.user)
        except Refused as refused:
            form.add_error(None, str(refused))
    context = {"form": form, "key": key, "tokens": request.user.api_tokens.all()}
    return render(request, "annotation/account.html", context, status=422 if form.is_bound and not key else 200)


@require_POST
@login_required
def revoke_token(request, pk):
    get_object_or_404(request.user.api_tokens, pk=pk).delete()
    researchers_speak_english(request)
    messages.success(request, gettext("The token was revoked. Programs that use it are now refused."))
    return redirect("account")


def researchers_speak_english(request) -> None:
    """As on all their other pages."""
    user = request.user
    if user.is_admin or user.may_create_campaigns or campaigns_researched_by(user).exists():
        speak_english(request)
