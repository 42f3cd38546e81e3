"""What every request meets: no NUL comes in, and a page may load only what this server sends."""

from django.core.exceptions import BadRequest

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
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
            raise BadRequest("A NUL character was sent.")


def content_security_policy(get_response):
    def middleware(request):
        response = get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        return response

    return middleware
