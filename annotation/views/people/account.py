"""A user's own account: the way to a new password, and the tokens of programs that act for them."""

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation.models import Scope
from annotation.models.people import TOKEN_LIFE
from annotation.people import tokens
from core.errors import Refused

DAYS = [1, 7, 30, TOKEN_LIFE.days]


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, label="Purpose", help_text="For example: laptop, import script.")
    scopes = forms.MultipleChoiceField(
        choices=Scope, initial=[Scope.READ], widget=forms.CheckboxSelectMultiple, label="Permissions"
    )
    days = forms.TypedChoiceField(
        choices=[(days, f"{days} day{'s' * (days > 1)}") for days in DAYS], coerce=int, initial=30, label="Valid for"
    )

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["scopes"].choices = [(s.value, s.label) for s in Scope if s != Scope.ADMIN or user.is_admin]


@never_cache
@login_required
def account(request):
    """A new token is shown in the answer that made it, and never again."""
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
    messages.success(request, "The token was revoked. Programs that use it are now refused.")
    return redirect("account")
