"""Where Prolific says that a submission changed: https://docs.prolific.com/api-reference/webhooks/receiving"""

import base64
import hashlib
import hmac
import json

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.annotating.crowd import submission_changed

CHANGE = "submission.status.change"


@login_not_required
@csrf_exempt  # signed instead
@require_POST
def changed(request):
    if not settings.PROLIFIC_SECRET:
        raise Http404
    if not is_signed(request):
        return HttpResponse("The signature is not Prolific's.", status=403, content_type="text/plain")
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
    """By https://docs.prolific.com/api-reference/webhooks/verifying: HMAC-SHA256 of the time and the body, in base64."""
    signed = request.headers.get("X-Prolific-Request-Timestamp", "").encode() + request.body
    wanted = base64.b64encode(hmac.new(settings.PROLIFIC_SECRET.encode(), signed, hashlib.sha256).digest())
    return hmac.compare_digest(wanted, request.headers.get("X-Prolific-Request-Signature", "").encode())
