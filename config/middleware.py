"""What every request meets: its id, its language, its method, no NUL comes in, the second factor, what a page may load, who
may keep it; and whether its connection to the database is looked at first."""

import select
import time

from django.contrib import auth
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.core.signals import request_finished, request_started
from django.db import connections
from django.dispatch import receiver
from django.http import HttpResponseNotAllowed
from django.middleware.locale import LocaleMiddleware
from django.urls import reverse
from django.utils import translation
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from annotation.access import find_annotator
from annotation.api.errors import problem
from annotation.models import User
from annotation.people import second_factor
from annotation.people.languages import PAGES, speak_english
from annotation.statements import Statement
from core import requester
from core.request_id import HEADER, current, request_id

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

# What may stand in a frame of any site: pages that say so themselves (Django's xframe_options_exempt), without forms.
FRAMED_POLICY = POLICY.replace("form-action 'self'; frame-ancestors 'none'", "form-action 'none'; frame-ancestors *")

IN_USE_SECONDS = 5.0  # a connection that was looked at so short ago is only asked whether the server cut it

BY_PASSWORD = "django.contrib.auth.backends.ModelBackend"  # noqa: S105  (a path)

WITHOUT_SECOND_FACTOR = {"second_factor_code", "logout", "healthz", "readyz"}
PAGE_METHODS = ["GET", "HEAD", "POST", "OPTIONS"]

# Nothing here asks for a device.
DEVICES = ", ".join(
    f"{name}=()" for name in ("camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb")
)


class NoNul:
    """No address, form or cookie holds a NUL character: PostgreSQL stores none, and fails where it is asked for one.

    Stands behind the check against forgery, which has read the form by then. The REST API, which that check leaves out,
    reads its own bodies; serializers and core.rowfiles refuse a NUL there."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_view(self, request, view, args, kwargs):
        sent = [request.path_info, *request.COOKIES.values()]
        for form in (request.GET, {} if getattr(view, "csrf_exempt", False) else request.POST):
            sent += [text for name in form for text in (name, *form.getlist(name))]
        if any("\0" in text for text in sent):
            request.user = AnonymousUser()  # nobody is looked up by such a cookie
            raise BadRequest("A NUL character was sent.")


SIGNED_IN = Statement(lambda user: User.objects.filter(pk=user, is_active=True).order_by(), arguments=1)


class Accounts(AuthenticationMiddleware):
    """Who is signed in, as Django finds out, but by a query that is compiled already; on annotators' pages by the one that
    reads their part in the campaign, which is then `request.annotator`."""

    def process_request(self, request):
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _signed_in(request))


def _signed_in(request):
    session = request.session
    pk, password = session.get(auth.SESSION_KEY, ""), session.get(auth.HASH_SESSION_KEY, "")
    if pk.isdecimal() and session.get(auth.BACKEND_SESSION_KEY) == BY_PASSWORD:
        annotator = _annotator(request, int(pk))
        user = annotator.user if annotator else SIGNED_IN.first(int(pk))
        if user and user.is_active and constant_time_compare(password, user.get_session_auth_hash()):
            request.annotator = annotator
            return user
    return auth.get_user(request)  # and whatever is to be done where that is nobody, or a key of before


def _annotator(request, user: int):
    """Their part in the campaign whose page it is, where it is an annotator's page."""
    page = request.resolver_match
    return find_annotator(user, page.kwargs["slug"]) if page and getattr(page.func, "is_for_annotators", False) else None


class SecondFactor:
    """Whoever has a second factor gives its code before anything else, however they signed in; an admin without one sets it
    up where the operator wants that. Programs with a token are not asked: its maker was."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_view(self, request, view, args, kwargs):
        page = request.resolver_match.url_name
        if page in WITHOUT_SECOND_FACTOR or not request.user.is_authenticated:
            return None
        if second_factor.is_due(request):
            wanted = "second_factor_code"
        elif second_factor.is_missing(request.user) and page != "second_factor":
            wanted = "second_factor"
        else:
            return None
        if request.path_info.startswith("/api/"):
            return problem(401, "Give the code of your second factor first, on the pages.")
        return redirect_to_login(request.get_full_path(), reverse(wanted))


class AnnotatorsLanguage(LocaleMiddleware):
    """The visitor's language, by their choice or their browser's, on annotators' pages and where no page is; else English."""

    def process_request(self, request):
        super().process_request(request)
        request.offers_languages = True

    def process_view(self, request, view, args, kwargs):
        if request.resolver_match.view_name not in PAGES:
            speak_english(request)

    def process_response(self, request, response):
        """What this thread says next, before it knows to whom, is English again."""
        response = super().process_response(request, response)
        translation.deactivate()
        return response


def request_ids(get_response):
    """Each request has an id, which its log lines, its answer and its jobs carry: the proxy's, or a new one."""

    def middleware(request):
        current.set(request_id(request.headers.get(HEADER)))
        requester.current.set(request)
        response = get_response(request)
        requester.current.set(None)
        response[HEADER] = current.get()
        return response

    return middleware


@receiver(request_started)
def trust_connections_in_use(**kwargs):
    """Django's check of a kept connection asks the server at each request. While people work, it is enough to ask every few
    seconds: a server that stops or dies cuts its connections, and a cut connection has something to be read."""
    for connection in connections.all(initialized_only=True):
        if connection.vendor != "postgresql" or connection.connection is None or connection.connection.closed:
            continue
        now = time.monotonic()
        if now - getattr(connection, "looked_at", -IN_USE_SECONDS) < IN_USE_SECONDS and not _can_be_read(connection.connection):
            connection.health_check_done = True  # type: ignore[attr-defined]
        else:
            connection.looked_at = now  # type: ignore[attr-defined]


def _can_be_read(connection) -> bool:
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@receiver(request_finished)
def forget_request_id(**kwargs):
    """Not before: Django tells of an answer that is an error after all middleware."""
    current.set("")


def page_methods(get_response):
    """Pages are read and sent forms; every other method is the REST API's alone."""

    def middleware(request):
        if request.method not in PAGE_METHODS and not request.path_info.startswith("/api/"):
            return HttpResponseNotAllowed(PAGE_METHODS)
        return get_response(request)

    return middleware


def page_policies(get_response):
    def middleware(request):
        response = get_response(request)
        is_framed = getattr(response, "xframe_options_exempt", False)
        response.setdefault("Content-Security-Policy", FRAMED_POLICY if is_framed else POLICY)
        response.setdefault("Permissions-Policy", DEVICES)
        return response

    return middleware


def kept_by_nobody(get_response):
    """What somebody sees who is signed in stays in no cache: neither the next person at the browser nor a proxy shows it."""

    def middleware(request):
        response = get_response(request)
        if request.user.is_authenticated and not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response

    return middleware
