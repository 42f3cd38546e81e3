import pytest

from leaderboard.signature import FIRST, KEYS, parse, signature

SETTINGS = {
    "judge": "comparator",
    "comparator": "v3",
    "snapshot": "9f2c",
    "entrants": "4x12-5d1e0a77",
    "criterion": "Overall",
    "level": "system",
    "extends": None,
    "rating": "glicko2",
    "pairing": "random",
    "ties": "half",
    "stop": "parted",
    "idle": "no",
    "wanted": None,
    "games": 1200,
    "looks": 9,
    "seed": 7,
    "resampling": 0,
    "replicates": 200,
    "draws": 100_000,
    "circles": 999,
    "confidence": "0.95",
    "code": "1.0+a1b2",
}
OF_BEFORE = (
    "judge:comparator|comparator:v3|snapshot:9f2c|rating:paper|pairing:random-on-4|ties:ratio0.1"
    "|games:1200|seed:7|code:1.0+a1b2"
)


def test_a_signature_names_everything_that_made_the_board():
    assert signature(**SETTINGS) == (
        "judge:comparator|comparator:v3|snapshot:9f2c|entrants:4x12-5d1e0a77|criterion:Overall|level:system|extends:none|"
        "rating:glicko2|pairing:random|ties:half|stop:parted|idle:no|wanted:none|games:1200|looks:9|seed:7|resampling:0|"
        "replicates:200|draws:100000|circles:999|confidence:0.95|code:1.0+a1b2"
    )


@pytest.mark.parametrize(
    "change", [{}, {"judge": "people", "comparator": None}, {"code": "0.2.0+files.a1"}, {"extends": "4"}, {"wanted": 50}]
)
def test_it_can_be_read_back(change):
    text = signature(**SETTINGS | change)
    assert signature(**parse(text)) == text
    assert parse(text) == SETTINGS | change


def test_signatures_of_before_are_read():
    assert parse(OF_BEFORE)["pairing"] == "random-on-4" and parse(OF_BEFORE)["games"] == 1200
    assert tuple(parse(OF_BEFORE)) == FIRST and signature(**parse(OF_BEFORE)) == OF_BEFORE


def test_none_is_made_that_names_no_code():
    """As images and systemd's recipe of 0.1.0 did; what they stored is read."""
    nameless = OF_BEFORE.replace("1.0+a1b2", "0.1.0")
    assert parse(nameless)["code"] == "0.1.0"
    with pytest.raises(ValueError, match="names the code"):
        signature(**parse(nameless))


def test_a_key_that_comes_later_leaves_those_of_before_readable(monkeypatch):
    text = signature(**SETTINGS)
    monkeypatch.setattr("leaderboard.signature.KEYS", ("judge", "weather", *KEYS[1:]))
    assert parse(text) == SETTINGS
    assert signature(**SETTINGS, weather="fair").startswith("judge:comparator|weather:fair|comparator:v3|")


@pytest.mark.parametrize("bad", ["", "a|b", " v3", None])
def test_values_cannot_break_it(bad):
    with pytest.raises(ValueError, match="snapshot"):
        signature(**SETTINGS | {"snapshot": bad})


def test_settings_that_it_does_not_know_or_misses_are_refused():
    with pytest.raises(ValueError, match="has the parts"):
        signature(**SETTINGS, more=1)
    with pytest.raises(ValueError, match="has the parts"):
        signature(**{key: value for key, value in SETTINGS.items() if key != "seed"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "judge:people",
        "seed:1|judge:people",
        signature(**SETTINGS) + "|more:1",
        OF_BEFORE + "|seed:7",
        "stop:all|" + OF_BEFORE,
    ],
)
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(ValueError, match="in this order"):
        parse(text)
