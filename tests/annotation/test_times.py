"""Moments are written in UTC, with what the browser needs to write them in the reader's zone."""

from datetime import datetime, timedelta, timezone

from annotation.templatetags.texts import day, when

MOMENT = datetime(2026, 3, 1, 23, 30, 5, tzinfo=timezone(timedelta(hours=-2)))  # in UTC, by hand: 2 March, 01:30


def test_a_moment_says_that_it_is_utc():
    assert when(MOMENT) == '<time datetime="2026-03-02T01:30:05+00:00">2 Mar 2026, 01:30 UTC</time>'


def test_a_day_is_that_of_utc():
    assert day(MOMENT) == '<time datetime="2026-03-02T01:30:05+00:00" data-time=day>2 Mar 2026</time>'
