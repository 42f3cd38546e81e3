import gc
import os
import signal

from django.core.wsgi import get_wsgi_application

from core.parent import end_with_starter
from core.version import code_version

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
code_version()  # of what was loaded now, whatever becomes of the files

# What is loaded stays, so the collector need not walk it again and again; requests leave little behind.
gc.freeze()
gc.set_threshold(20_000, 20, 20)

# Under `manage.py serve` this runs once, in gunicorn's first process; its workers look after that one themselves.
end_with_starter(signal.SIGTERM)
