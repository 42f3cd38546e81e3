"""Where Prolific says that a submission changed: https://docs.prolific.com/api-reference/webhooks/receiving"""

import base64
import hashlib
import hmac
import json
import time

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.annotating.crowd import submission_changed

CHANGE = "submission.status.change"
OLDEST = 300  # seconds since a request was sent, or until then, where clocks differ: a later one may be an old one sent again


@login_not_required
@csrf_exempt  # signed instead
@require_POST
def changed(request):
    if not settings.PROLIFIC_SECRET:
        raise Http404
    if not is_signed(request):
        return HttpResponse("The signature is not Prolific's, or it is old.", status=403, content_type="text/plain")
    try:
        said = json.loads(request.body)
        event, worker, submission, status = (
            str(said.get(name) or "") for name in ("event_type", "participant_id", "resource_id", "status")
        )
    except (ValueError, AttributeError, RecursionError):
        return HttpResponse("A JSON object was expected.", status=400, content_type="text/plain")
    if event == CHANGE:
        submission_changed(worker, submission, status)
    return HttpResponse(status=204)


def is_signed(request) -> bool:
    """By https://docs.prolific.com/api-reference/webhooks/verifying: HMAC-SHA256 of the time at which it was sent (UNIX) and
    the body, in base64. Not where that was long ago."""
    sent_at = request.headers.get("X-Prolific-Request-Timestamp", "")
    if not (sent_at.isdecimal() and len(sent_at) < 12 and abs(time.time() - int(sent_at)) <= OLDEST):
        return False
    signed = sent_at.encode() + request.body
    wanted = base64.b64encode(hmac.new(settings.PROLIFIC_SECRET.encode(), signed, hashlib.sha256).digest())
    return hmac.compare_digest(wanted, request.headers.get("X-Prolific-Request-Signature", "").encode())
