"""Web processes and commands send their messages through the application of config.celery, not Celery's default."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
