"""A user's own account: the way to a new password, and the tokens of programs that act for them."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation.models.people import TOKEN_LIFE
from annotation.people import tokens
from core.errors import Refused


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, label="Purpose", help_text="For example: laptop, import script.")


@never_cache
@login_required
def account(request):
    """A new token is shown in the answer that made it, and never again."""
    form, key = TokenForm(request.POST or None), None
    if request.method == "POST" and form.is_valid():
        try:
            _, key = tokens.make_token(request.user, form.cleaned_data["name"])
            form = TokenForm()
        except Refused as refused:
            form.add_error(None, str(refused))
    context = {"form": form, "key": key, "tokens": request.user.api_tokens.all(), "days": TOKEN_LIFE.days}
    return render(request, "annotation/account.html", context, status=422 if form.is_bound and not key else 200)


@require_POST
@login_required
def revoke_token(request, pk):
    get_object_or_404(request.user.api_tokens, pk=pk).delete()
    messages.success(request, "The token was revoked. Programs that use it are now refused.")
    return redirect("account")
