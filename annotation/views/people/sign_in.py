"""Signing in without losing what was being sent: an answer that meets the log-in waits in its form, signed."""

from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, QueryDict
from django.shortcuts import redirect, render
from django.urls import resolve, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext

from annotation.access import annotator_of
from annotation.people import notices, second_factor
from annotation.people.first_admin import is_offered
from core import mail
from core.throttling import FAILED_FOR_ACCOUNT_ANYWHERE, Limit, password_limits, remember_browser

WAITING = "annotation.waiting"  # salt of an answer that waits for its log-in
WAITS = 7 * 24 * 3600  # seconds
ANSWERS = {"annotate", "answer", "skip", "flag", "ask"}  # names of the addresses that answers are sent to


def for_annotators(view):
    """The view gets the signed-in user's Annotator in place of the campaign's slug. A signed-out answer waits."""

    @login_not_required
    @wraps(view)
    def wrapped(request, slug, *args, **kwargs):
        if not request.user.is_authenticated:
            return _ask(request, slug) if request.method == "POST" else redirect_to_login(request.get_full_path())
        annotator = getattr(request, "annotator", None) or annotator_of(request.user, slug)
        return view(request, annotator, *args, **kwargs)

    wrapped.is_for_annotators = True  # type: ignore[attr-defined]
    return wrapped


def _ask(request, slug):
    """The log-in page, holding the request that met it. 401 tells the page's script that nothing was stored yet."""
    waiting = signing.dumps({"path": request.path, "body": request.POST.urlencode()}, salt=WAITING, compress=True)
    context = {"form": AuthenticationForm(request), "next": reverse("annotate", args=[slug]), "waiting": waiting}
    return render(request, "registration/login.html", context, status=401)


class CountedPasswords:
    """A form's view that asks for a password: who failed too often waits, also with the right one, so that a guess is not
    told from it."""

    password_field = "password"  # noqa: S105  # its name
    request: HttpRequest

    def account(self) -> str:
        """Whose password is tried."""
        return self.request.POST.get("username", "")

    def post(self, request, *args, **kwargs):
        self.limits, self.has_failed = password_limits(request, self.account()), False
        if any(self._is_one_too_many(limit, key) for limit, key in self.limits):  # the later ones count what is tried at all
            messages.error(request, gettext("Too many failed attempts. Please try again in 15 minutes."))
            view: Any = self
            unchecked = view.get_form_class()(**{**view.get_form_kwargs(), "data": None})
            return view.render_to_response(view.get_context_data(form=unchecked), status=429)
        response = super().post(request, *args, **kwargs)  # type: ignore[misc]
        if not self.has_failed:
            for limit, key in self.limits:
                limit.give_back(key)
        return response

    def _is_one_too_many(self, limit: Limit, key: str) -> bool:
        count = limit.take(key)
        if limit is FAILED_FOR_ACCOUNT_ANYWHERE and count == limit.count + 1:
            notices.tell_of_guesses(key)
        return count > limit.count

    def form_invalid(self, form):
        self.has_failed = self.password_field in form.errors or bool(form.non_field_errors())
        return super().form_invalid(form)  # type: ignore[misc]


@method_decorator(login_not_required, name="dispatch")
class SignIn(CountedPasswords, auth.LoginView):
    """The log-in, which then does what had to wait for it."""

    redirect_authenticated_user = True

    def dispatch(self, request, *args, **kwargs):
        if request.method == "POST" and request.user.is_authenticated and "waiting" in request.POST:
            return send_waiting(request, request.POST["waiting"]) or super().dispatch(request, *args, **kwargs)
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form):
        response, waiting = super().form_valid(form), self.request.POST.get("waiting", "")
        if second_factor.is_due(self.request):
            self.request.session[WAITING] = waiting
        else:
            response = send_waiting(self.request, waiting) or response
        remember_browser(response, self.request.user.get_username())
        return response

    def get_context_data(self, **kwargs):
        waiting = self.request.POST.get("waiting", "")
        offers = {"offers_first_admin": is_offered(self.request), "offers_reset": mail.is_on()}
        provider = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return super().get_context_data(waiting=waiting, provider=provider, **offers, **kwargs)


def send_waiting(request, signed: str):
    """The answer to the request that waited for the log-in; None where none did."""
    try:
        waiting = signing.loads(signed, salt=WAITING, max_age=WAITS)
    except signing.BadSignature:
        return None
    request.POST = QueryDict(waiting["body"])
    view, args, kwargs = resolve(waiting["path"])
    try:
        return view(request, *args, **kwargs)
    except Http404:
        messages.warning(request, gettext("An answer was waiting here that this account did not give. It was not stored."))
        return redirect("home")


class ChangePassword(CountedPasswords, auth.PasswordChangeView):
    password_field = "old_password"  # noqa: S105

    def account(self) -> str:
        return self.request.user.get_username()


@login_not_required
def admin_log_in(request):
    """The admin site has no log-in of its own: there is one door, and it counts."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))
    if not admin.site.has_permission(request):
        raise PermissionDenied
    return redirect("admin:index")


def csrf_failure(request, reason=""):
    """The page's token was too old. An answer is shown back with a fresh one, to be sent by hand; never where the
    request may have come from another site."""
    match = request.resolver_match
    fields = []
    if match and match.url_name in ANSWERS and not reason.startswith(("Origin", "Referer")):
        fields = [(name, v) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken" for v in values]
    return render(request, "403_csrf.html", {"fields": fields, "path": request.path}, status=403)
