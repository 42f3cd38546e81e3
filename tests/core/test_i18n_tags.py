"""The faster `translate` says what Django's says, in every language, whatever was shown before."""

import pytest
from django.template import Context, Engine
from django.utils import translation

DJANGOS = Engine(libraries={"i18n": "django.templatetags.i18n"})
OURS = Engine(libraries={"i18n": "config.i18n_tags"})
TAGS = [
    '{% translate "Send and continue" %}',
    "{% trans 'Send and continue' %}",
    '{% translate "Send and continue" as said %}<{{ said }}>{{ said|upper }}',
    '{% translate "100% of all & <b>more</b>" %}',
    '{% translate "100% & <b>" as said %}{{ said }}',
    '{% translate "Send and continue"|upper %}',
    '{% translate "Send and continue" noop %}',
    '{% translate "May" context "month name" %}',
    '{% translate named %}',
]  # fmt: skip


@pytest.mark.parametrize("tag", TAGS)
def test_it_says_what_djangos_says(tag):
    djangos, ours = (engine.from_string("{% load i18n %}" + tag) for engine in (DJANGOS, OURS))
    for language in ("en", "de", "ar", "de", "zh-hans", "en"):
        with translation.override(language):
            said = [template.render(Context({"named": "Send & continue"})) for template in (djangos, ours)]
        assert said[0] == said[1] != ""


def test_the_pages_use_it():
    template = Engine.get_default().from_string('{% load i18n %}{% translate "Send and continue" %}')
    assert type(template.nodelist[1]).__module__ == "config.i18n_tags"
    with translation.override("de"):
        assert template.render(Context()) != "Send and continue"
