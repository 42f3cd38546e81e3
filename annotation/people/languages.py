"""Which pages speak the visitor's language. All that is written on them is in locale/; see docs/translating.md."""

from django.http import HttpRequest
from django.utils import translation

# Names of the addresses that annotators and guests come to. `home`, `guidelines`, `account` and
# `second_factor` are researchers' pages, too.
PAGES = {
    "home",
    "login",
    "logout",
    "leave",
    "password_change",
    "password_change_done",
    "password_reset",
    "password_reset_done",
    "password_reset_confirm",
    "password_reset_complete",
    "account",
    "revoke_token",
    "second_factor",
    "second_factor_code",
    "join",
    "resume",
    "guidelines",
    "annotate",
    "undo",
    "skip",
    "flag",
    "ask",
    "feedback",
    "answers",
    "answer",
    "consent",
    "withdraw",
    "elsewhere",
}


def speak_english(request: HttpRequest) -> None:
    """From here on this request is answered in English, and its page offers no other language."""
    translation.activate("en")
    request.LANGUAGE_CODE = "en"
    request.offers_languages = False  # type: ignore[attr-defined]
