"""A POST that is sent twice under one Idempotency-Key makes one thing: the second time it is answered as the first.

The header and its meaning: draft-ietf-httpapi-idempotency-key-header-07. A key is a user's own and holds for a day; only
answers of success are kept, so that what was refused can be sent again.
"""

import hashlib
import json
from datetime import timedelta
from functools import wraps

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.models import KeptResponse
from core.errors import Refused
from core.sealed import seal, unseal

KEPT = timedelta(hours=24)
HEADER = OpenApiParameter(
    "Idempotency-Key",
    location="header",
    description="Of your choice, at most 200 characters. The same request under the same key within a day is done once.",
)


def once(make):
    """For a method of a view: its POSTs are done once for each key."""

    @wraps(make)
    def wrapped(view, request, *args, **kwargs):
        key = request.headers.get("Idempotency-Key", "")
        if not key or request.method != "POST":
            return make(view, request, *args, **kwargs)
        if len(key) > 200:
            raise ValidationError({"Idempotency-Key": "is longer than 200 characters."})
        asked = {"path": request.path[:500], "digest": _digest(request)}
        KeptResponse.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
        # One transaction: whoever sends the same at the same moment waits for the row, and a failure leaves none.
        with transaction.atomic():
            kept, is_new = KeptResponse.objects.get_or_create(
                user=request.user, key=key, defaults={**asked, "status": 0, "body": ""}
            )
            if is_new:
                response = make(view, request, *args, **kwargs)
                kept.status = response.status_code
                kept.body = seal(json.dumps(response.data, cls=DjangoJSONEncoder))  # it may name a password or a key
                kept.save(update_fields=["status", "body"])
                return response
        if (kept.path, kept.digest) != (asked["path"], asked["digest"]):
            raise Refused("Another request was sent under this Idempotency-Key; choose a new one.")
        body = unseal(kept.body) if isinstance(kept.body, str) else None
        if body is None:
            raise Refused("This was done before, and its answer can't be shown again. Look at what there is now.")
        return Response(json.loads(body), status=kept.status)

    return wrapped


def _digest(request) -> str:
    """SHA-256 of what was sent, files by their content."""
    digest = hashlib.sha256()
    for name in sorted(request.FILES):
        for file in request.FILES.getlist(name):
            for chunk in file.chunks():
                digest.update(chunk)
            file.seek(0)
    data = request.data
    if hasattr(data, "lists"):  # a form
        data = {name: values for name, values in data.lists() if name not in request.FILES}
    digest.update(json.dumps(data, sort_keys=True).encode())
    return digest.hexdigest()
