"""The check itself: it finds what is wrong, under the page's own Content-Security-Policy, and passes what is right."""

import pytest

from tests.browser.axe import assert_axe_clean


def test_the_welcome_page_is_clean(open_page):
    page = open_page()
    page.goto("/")
    assert_axe_clean(page)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ("document.querySelector('main').append(document.createElement('input'))", "label in light"),
        ("document.querySelector('h1').remove()", "page-has-heading-one in light"),
        ("document.querySelector('main p').style.color = '#30343a'", "color-contrast in dark"),
    ],
)
def test_a_fault_is_found(open_page, broken, rule):
    page = open_page()
    page.goto("/")
    page.evaluate(broken)
    with pytest.raises(AssertionError, match=rule):
        assert_axe_clean(page)
