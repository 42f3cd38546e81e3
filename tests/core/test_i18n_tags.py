"""The faster `translate` says what Django's says, in every language, whatever was shown before."""

import pytest
from django.template import Context, Engine
from django.utils import translation

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
    "{% blocktranslate %}Item {{ number }} of {{ total }}{% endblocktranslate %}",
    "{% blocktranslate with number=named total=3 %}Item {{ number }} of {{ total }}{% endblocktranslate %}<{{ number }}>",
    "{% blocktranslate %}Item {{ number }} of {{ nothing }} & 100%{% endblocktranslate %}",
    "{% blocktrans asvar said %}Item {{ number }} of {{ total }}{% endblocktrans %}{{ said }}",
    "{% blocktrans count total=total %}{{ total }} answer{% plural %}{{ total }} answers{% endblocktrans %}",
    "{% blocktrans trimmed context 'x' %} Item {{ number }}  {% endblocktrans %}",
    "{% autoescape off %}{% blocktranslate %}Item {{ named }} of {{ total }}{% endblocktranslate %}{% endautoescape %}",
]  # fmt: skip


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    "through", ["{source}", '{{% include "part" %}}', '{{% extends "base" %}}{{% block b %}}{source}{{% endblock %}}']
)
def test_it_says_what_djangos_says(tag, through):
    tag = "{% load i18n %}" + tag
    files = {"part": tag, "base": tag + "{% block b %}{% endblock %}", "page": through.format(source=tag)}
    locmem = ("django.template.loaders.locmem.Loader", files)
    djangos, ours = (
        Engine(libraries={"i18n": module}, loaders=[(f"{loader}.Loader", [locmem])])
        for module, loader in (
            ("django.templatetags.i18n", "django.template.loaders.cached"),
            ("config.i18n_tags", "config.i18n_tags"),
        )
    )
    for language in ("en", "de", "ar", "de", None, "zh-hans", "en"):
        with translation.override(language):
            said = [
                engine.get_template("page").render(Context({"named": "Send & continue", "number": 1, "total": 1234}))
                for engine in (djangos, ours)
            ]
        assert said[0] == said[1] != ""


def test_the_pages_use_it():
    pages = {}
    for language in ("en", "de", "en"):
        with translation.override(language):
            pages.setdefault(language, set()).add(Engine.get_default().get_template("annotation/item.html"))
    assert len(pages["en"]) == len(pages["de"]) == 1 and pages["en"] != pages["de"]
    with translation.override("de"):
        template = Engine.get_default().from_string('{% load i18n %}{% translate "Send and continue" %}')
    assert template.nodelist[1].s == "Senden und weiter"
