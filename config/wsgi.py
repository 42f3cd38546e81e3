import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

# What is loaded stays, so the collector need not walk it again and again; requests leave little behind.
gc.freeze()
gc.set_threshold(20_000, 20, 20)
