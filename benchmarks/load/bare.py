"""The floor under a judgment: a Django view without middleware that stores one row, and nothing else. gunicorn loads it as
it loads the product: `benchmarks.load.bare`."""

import os
import signal

import dj_database_url
import django
from django.conf import settings

if not settings.configured:
    settings.configure(
        ALLOWED_HOSTS=["*"],
        DATABASES={"default": dj_database_url.parse(os.environ["DATABASE_URL"], conn_max_age=60)},
        FILE_UPLOAD_TEMP_DIR=os.environ["DATA_DIR"],
        MIDDLEWARE=[],
        ROOT_URLCONF="benchmarks.load.bare",
        SECRET_KEY="of nothing",
        USE_TZ=True,
    )
    django.setup()

from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.http import HttpResponse
from django.urls import path

from core.parent import end_with_starter


class BareAnswer(models.Model):
    answer = models.TextField()

    class Meta:
        app_label = "bare"

    def __str__(self):
        return self.answer


def store(request):
    if request.method == "POST":
        BareAnswer.objects.create(answer=request.POST["answer"])
    return HttpResponse("stored")


def prepare() -> None:
    with connection.schema_editor() as schema:
        schema.create_model(BareAnswer)


urlpatterns = [path("", store)]
application = get_wsgi_application()
end_with_starter(signal.SIGTERM)
