"""Setting up a second factor, and giving its code at the log-in."""

import segno
from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from annotation.people import second_factor
from annotation.views.people.account import researchers_speak_english
from annotation.views.people.sign_in import WAITING, send_waiting
from core.errors import Refused
from core.sealed import seal, unseal

OFFERED = "second_factor_offered"  # the secret that is set up, sealed, in the session until its first code


class CodeForm(forms.Form):
    code = forms.CharField(
        max_length=40,
        label=gettext_lazy("Code"),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "text", "spellcheck": "false"}),
    )


@sensitive_post_parameters()
@never_cache
def give_code(request):
    """The second step of the log-in; what the log-in was to do comes after it."""
    target = request.POST.get("next", request.GET.get("next", ""))
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure()):
        target = "/"
    if not second_factor.is_due(request):
        return HttpResponseRedirect(target)
    form = CodeForm(request.POST or None)
    if form.is_valid():
        try:
            second_factor.check(request.user, form.cleaned_data["code"])
        except Refused as refused:
            form.add_error("code", str(refused))
        else:
            second_factor.passed(request)
            return send_waiting(request, request.session.pop(WAITING, "")) or HttpResponseRedirect(target)
    context = {"form": form, "next": target}
    return render(request, "annotation/second_factor_code.html", context, status=422 if form.is_bound else 200)


@sensitive_post_parameters()
@never_cache
def set_up(request):
    """On: a picture for the app, then its first code. Off: by a code."""
    user, form, codes = request.user, CodeForm(request.POST or None), None
    if not user.has_usable_password() and not user.is_admin:
        raise Http404
    researchers_speak_english(request)
    if form.is_valid():
        try:
            if user.totp_secret:
                second_factor.check(user, form.cleaned_data["code"])
                second_factor.turn_off(user)
                messages.success(request, gettext("The second factor is off."))
                return redirect("account")
            codes = second_factor.turn_on(user, _offered(request), form.cleaned_data["code"])
            request.session.pop(OFFERED)
            second_factor.passed(request)
        except Refused as refused:
            form.add_error("code", str(refused))
    context = {"form": form, "codes": codes, "is_missing": second_factor.is_missing(user)}
    if not user.totp_secret:
        secret = _offered(request)
        picture = segno.make(second_factor.address_for_app(user, secret), micro=False)
        context |= {
            "secret": " ".join(secret[i : i + 4] for i in range(0, len(secret), 4)),
            "picture": mark_safe(picture.svg_inline(scale=5, light="white")),  # noqa: S308  # of dots alone
        }
    return render(request, "annotation/second_factor.html", context, status=422 if form.is_bound and not codes else 200)


def _offered(request) -> str:
    """The secret that this session sets up; a new one where there is none, or none that can be read."""
    offered = unseal(request.session.get(OFFERED, ""))
    if offered is None:
        offered = second_factor.new_secret()
        request.session[OFFERED] = seal(offered)
    return offered
