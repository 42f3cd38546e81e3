"""For admins: the language models' endpoints as whoever runs the server configured them. Nothing is changed here, and no key is
shown."""

import os

from django.shortcuts import render

from annotation.access import for_admins
from core.errors import Refused
from evaluator import model_settings


@for_admins
def endpoints(request):
    try:
        configured, problem = list(model_settings.configured().values()), ""
    except Refused as refused:
        configured, problem = [], str(refused)
    rows = [(endpoint, bool(os.environ.get(endpoint.key))) for endpoint in configured]
    return render(request, "evaluator/endpoints.html", {"rows": rows, "problem": problem, "variable": model_settings.VARIABLE})
