"""One header: what a page of Comparena may load, which is only what this server sends."""

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def content_security_policy(get_response):
    def middleware(request):
        response = get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        return response

    return middleware
