"""Passwords that are guessed first at this place."""

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

WORDS = {"annotator", "annotation", "annotations", "researcher", "comparena", "comparenademo", "administrator", "superuser"}


class WordsOfThisPlace:
    """A validator of Django's: what the product calls its people and itself is no password, whatever digits and signs
    stand around it."""

    def validate(self, password, user=None):
        if re.sub(r"[^a-z]", "", password.lower()) in WORDS:
            raise ValidationError(gettext("This password is too easy to guess on this site. Please choose another one."))

    def get_help_text(self):
        return gettext("Your password can’t be a word like “annotator”.")
