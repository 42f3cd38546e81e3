"""People's texts as they are meant: Markdown, code, tables, formulas, speakers, any script of the world, long contexts."""

import json
import struct
import zlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from playwright.sync_api import expect

from annotation.campaigns.images import store_images
from annotation.data.importer import import_outputs
from annotation.models import Campaign
from tests.annotation.pages import PNG, World
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in
from tests.browser.test_annotating import counted, fits

START = "/c/talk/annotate/?start=1"
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
ANSWER = r"""## The sum of the first *n* odd numbers

It is **n²**, and not $5 or $10. Why:

- each odd number is $2k - 1$
- so the sum is

$$
\sum_{k=1}^{n} (2k - 1) = 2 \cdot \frac{n(n+1)}{2} - n = n^2
$$

| n | odd numbers | sum |
|--:|:------------|----:|
| 1 | 1           |   1 |
| 3 | 1, 3, 5     |   9 |

```python
def odd_sum(n: int) -> int:
    # the fast way
    return sum(2 * k - 1 for k in range(1, n + 1)) or 0
```

> See [the proof](https://example.org/proof). مجموع الأعداد الفردية الأولى هو مربع عددها.

مجموع أول ثلاثة أعداد فردية هو **تسعة**، أي \(3^2\).

前三个奇数之和是**九**，也就是 $3^2$。求和公式对任意正整数都成立，所以不必逐个相加。

![The sums as squares](squares.png)
"""
HOSTILE = (
    "<script>document.title = 'run'</script> <img src=http://evil.example/x.png onerror=\"document.title = 'run'\">\n\n"
    "[a](javascript:document.title='run') ![b](http://evil.example/y.png) <svg onload=\"document.title='run'\">\n\n"
    r"$\href{javascript:alert(1)}{x}$ $\includegraphics{http://evil.example/z.png}$ $\htmlStyle{color:red}{x}$ $\undefined{$"
)
CHAT = [
    {"role": "system", "content": "You teach mathematics. Answer briefly."},
    {"role": "user", "content": "What is the sum of the first odd numbers? Please give `code` too."},
]


def show(world, tmp_path, outputs, context=CHAT, **settings):
    """The campaign with these outputs of one context, each by a system of its own."""
    path = tmp_path / "texts.jsonl"
    rows = [{"context_id": "t", "context": context, "system": f"s{n}", "output": text} for n, text in enumerate(outputs)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_outputs(world.campaign, path)
    Campaign.objects.update(**{"text_format": "markdown"} | settings)


def chessboard(side: int, square: int) -> bytes:
    """A grey PNG of side x side pixels, large enough to be looked at."""
    line = lambda y: b"\0" + bytes(90 if (x // square + y // square) % 2 else 200 for x in range(side))
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    pixels = zlib.compress(b"".join(line(y) for y in range(side)))
    head = struct.pack(">2I5B", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", pixels) + part(b"IEND", b"")


@pytest.fixture
def pairs(tmp_path, client):
    return World(tmp_path, client, contexts=0, likert=False, pairwise=True)


@pytest.fixture
def scores(tmp_path, client):
    return World(tmp_path, client, contexts=0)


def annotate(open_page, **options):
    page = open_page(**options)
    sign_in(page)
    page.goto(START)
    return page


class TestRichText:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 360])
    def test_a_page_with_everything_is_seen_and_clean(self, open_page, pairs, tmp_path, settings, width, scheme):
        """Markdown, code, a table, formulas, a picture, Arabic and Chinese. A request to another host, a script that the policy
        blocks, or a message in the console fails the test (`open_page`)."""
        settings.IMAGES_DIR = tmp_path / "images"
        store_images(pairs.campaign, [SimpleUploadedFile("squares.png", chessboard(96, square=16))])
        show(pairs, tmp_path, [ANSWER, ANSWER.replace("fast", "slow")])
        page = annotate(open_page, viewport={"width": width, "height": 800}, color_scheme=scheme)
        text = page.get_by_role("region", name="Text A")
        expect(text.get_by_role("heading", name="The sum of the first n odd numbers")).to_be_visible()
        expect(text.get_by_role("cell", name="1, 3, 5")).to_be_visible()
        expect(text.locator(".katex")).to_have_count(4)
        expect(text.get_by_text("not $5 or $10")).to_be_visible()
        assert text.locator(".katex-display math").count() == 1
        arabic = text.get_by_text("مجموع أول").evaluate("p => getComputedStyle(p).direction")
        picture = text.get_by_role("img", name="The sums as squares")
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 96
        chinese = text.get_by_text("前三个奇数之和").evaluate(
            "p => [getComputedStyle(p).direction, p.scrollWidth <= p.clientWidth]"
        )
        assert chinese == ["ltr", True]
        light = page.evaluate("getComputedStyle(document.body).color.match(/[0-9]+/g).every(part => part > 128)")
        assert light == (scheme == "dark")
        assert page.locator("main :is(script, iframe, object, style)").count() == 0
        assert arabic == "rtl" and text.get_by_role("link", name="the proof").get_attribute("target") == "_blank"
        fits(page)
        assert_axe_clean(page)

    def test_the_next_item_and_every_other_page_show_it_too(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["**one** $x$", "**two** $y$", "**three** $z$"])
        page = annotate(open_page)
        expect(page.locator(".output .katex")).to_have_count(2)
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        counted(page, 1, 3)
        expect(page.locator(".output .katex")).to_have_count(2)
        expect(page.locator(".output strong")).to_have_count(2)
        page.goto("/c/talk/answers/")
        expect(page.locator(".answered .katex")).to_have_count(2)
        assert_axe_clean(page)
        page.get_by_role("link", name="Change answer 1").click()
        expect(page.locator(".output .katex")).to_have_count(2)
        assert_axe_clean(page)

    def test_nothing_of_a_text_runs_and_nothing_is_fetched(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, [HOSTILE, HOSTILE + "!"], context=HOSTILE)
        page = annotate(open_page)  # which fails the test for any request to another host
        expect(page.get_by_text("<script>document.title").first).to_be_visible()
        expect(page.get_by_text(r"\undefined").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert "run" not in page.title() and page.locator("main :is(img, svg, script, iframe)").count() == 0
        assert page.locator("main a[href^='javascript']").count() == 0
        assert_axe_clean(page)

    def test_a_picture_that_was_sent_is_seen(self, open_page, pairs, tmp_path, settings):
        settings.IMAGES_DIR = tmp_path / "images"
        store_images(pairs.campaign, [SimpleUploadedFile("pixel.png", PNG)])
        show(pairs, tmp_path, ["![A pixel](pixel.png)", "![Another](none.png)"])
        page = annotate(open_page)
        picture = page.get_by_role("img", name="A pixel")
        expect(picture).to_be_visible()
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
        expect(page.get_by_text("[image: Another (none.png)]")).to_be_visible()
        assert_axe_clean(page)

    def test_formulas_are_fetched_where_there_are_some(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["**one** $5", "**two**"])
        page = open_page()
        fetched = []
        page.on("request", lambda request: fetched.append(request.url))
        sign_in(page)
        page.goto(START)
        page.wait_for_load_state("networkidle")
        assert any("formulas.js" in url for url in fetched) and not any("katex" in url for url in fetched)


LONG = ["What is rice? " * 9 if n % 2 == 0 else "A grain that one can cook in water. " * 9 for n in range(12)]


class TestLongContexts:
    def test_its_end_is_seen_and_the_rest_comes_by_key(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["one", "two"], context=[f"Turn {n}. {turn}" for n, turn in enumerate(LONG)])
        page = annotate(open_page)
        expect(page.get_by_text("Turn 11.")).to_be_visible()
        expect(page.get_by_text("Turn 0.")).to_be_hidden()
        page.wait_for_load_state("load")
        page.keyboard.press("c")
        expect(page.get_by_text("Turn 0.")).to_be_visible()
        expect(page.locator("[data-said]")).to_have_text("The whole context is shown.")
        assert_axe_clean(page)
        page.locator("[data-whole] summary").focus()
        page.keyboard.press("Enter")  # closes it and sends nothing
        expect(page.get_by_text("Turn 0.")).to_be_hidden()
        counted(page, 0, 1)

    def test_a_long_text_shows_its_end_and_needs_no_script(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["one", "two"], context="\n\n".join(f"Paragraph {n}." for n in range(60)))
        page = annotate(open_page, java_script_enabled=False)
        clipped = page.locator(".clipped").bounding_box()
        last = page.get_by_text("Paragraph 59.").bounding_box()
        assert clipped["height"] < 330 and last["y"] + last["height"] <= clipped["y"] + clipped["height"] + 1
        page.get_by_text("Show the whole context").click()
        assert page.locator(".clipped").bounding_box()["height"] > 1500

    def test_on_a_phone_the_answer_stays_at_hand_and_covers_no_text(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, [ANSWER, ANSWER + "!"], context=LONG)
        page = annotate(open_page, **PHONE)
        form, screen = page.locator("[data-answer]"), page.viewport_size["height"]
        for y in (0, 500):
            page.evaluate("y => scrollTo(0, y)", y)
            box = form.bounding_box()
            assert box["y"] + box["height"] <= screen + 1 and box["height"] < 0.3 * screen
        fits(page)
        assert_axe_clean(page)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        text = page.get_by_role("region", name="Text B").bounding_box()
        assert text["y"] + text["height"] <= form.bounding_box()["y"]
        page.get_by_role("radio", name="B is better").tap()
        page.get_by_role("button", name="Send and continue").tap()
        expect(page.get_by_role("heading", name="All done")).to_be_visible()

    def test_on_a_phone_several_questions_stay_at_hand_and_cover_a_third(self, open_page, scores, tmp_path):
        show(scores, tmp_path, [ANSWER], context=LONG)
        page = annotate(open_page, **PHONE)
        page.evaluate("document.querySelector('.output').scrollIntoView()")
        box, screen = page.locator("[data-answer]").bounding_box(), page.viewport_size["height"]
        assert box["height"] <= 0.35 * screen and abs(box["y"] + box["height"] - screen) <= 1
        assert page.evaluate("(form => form.scrollHeight > form.clientHeight)(document.querySelector('[data-answer]'))")
        fits(page)
        assert_axe_clean(page)


EIGHT_HUNDRED = "\n\n".join(f"## Part {n}\n\n" + f"Rice number {n} is a grain that one can cook. " * 8 for n in range(10))


class TestLongTexts:
    def test_a_score_s_page_is_a_screen_high_with_the_context_beside(self, open_page, scores, tmp_path):
        """4,784 px were measured at 81241e2; a quarter is 1,196."""
        show(scores, tmp_path, [EIGHT_HUNDRED], context=EIGHT_HUNDRED)
        page = annotate(open_page, viewport={"width": 1280, "height": 900})
        page.wait_for_load_state("networkidle")
        page.keyboard.press("c")
        assert len(EIGHT_HUNDRED.split()) >= 800 and page.evaluate("document.documentElement.scrollHeight") <= 1196
        context, output = (page.locator(place).bounding_box() for place in (".context", ".judged > .output"))
        assert abs(context["y"] - output["y"]) < 2 and context["x"] < output["x"]
        button = page.get_by_role("button", name="Send and continue").bounding_box()
        assert button["y"] + button["height"] <= 900
        assert_axe_clean(page)

    def test_choosing_by_key_moves_no_text(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, [EIGHT_HUNDRED, EIGHT_HUNDRED + "."])
        page = annotate(open_page, viewport={"width": 1280, "height": 900})
        page.wait_for_load_state("load")
        page.evaluate("scrollTo(0, 200)")
        page.keyboard.press("a")
        expect(page.get_by_role("radio", name="A is better")).to_be_checked()
        assert page.evaluate("scrollY") == 200

    def test_on_a_phone_one_jumps_to_the_same_place_in_the_other(self, open_page, pairs, tmp_path):
        """Both texts are equally high: a place in A and the same in B are as far apart as their beginnings."""
        show(pairs, tmp_path, [EIGHT_HUNDRED, EIGHT_HUNDRED])
        page = annotate(open_page, **PHONE)
        page.wait_for_load_state("networkidle")
        page.evaluate("document.fonts.ready.then(() => null)")
        top = "side => scrollY + document.querySelector(`[data-side=${side}]`).getBoundingClientRect().top"
        apart = page.evaluate(top, "right") - page.evaluate(top, "left")
        page.get_by_role("button", name="Text A", exact=True).tap()
        page.evaluate("scrollBy(0, 400)")
        at = page.evaluate("scrollY")
        page.get_by_role("button", name="Same place in the other text").dispatch_event("click")
        assert abs(page.evaluate("scrollY") - at - apart) < 4
        page.get_by_role("button", name="Same place in the other text").dispatch_event("click")
        assert abs(page.evaluate("scrollY") - at) < 4


def marked(page) -> list[list[str]]:
    return [page.get_by_role("region", name=f"Text {side}").locator("mark").all_inner_texts() for side in "AB"]


class TestDifferences:
    def test_the_words_that_differ_are_marked_until_that_is_turned_off(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["The cat sat **on the** mat. $x$", "The dog sat **on a** mat. $x$"])
        page = annotate(open_page)
        expect(page.locator(".output .katex")).to_have_count(2)
        before = page.locator(".pair").inner_html()
        assert marked(page) == [[], []]
        page.keyboard.press("d")
        button = page.get_by_role("button", name="Mark the differences")
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(page.locator("mark")).to_have_count(4)
        assert sorted(marked(page)) == [["cat", "the"], ["dog", "a"]]
        expect(page.locator("[data-said]")).to_have_text("Marked passages: 2 only in A, 2 only in B.")
        assert_axe_clean(page)
        button.click()
        expect(page.locator("mark")).to_have_count(0)
        assert page.locator(".pair").inner_html() == before

    def test_what_stands_elsewhere_is_not_marked_and_is_folded(self, open_page, pairs, tmp_path):
        """The same list and table, after another paragraph; one sentence of two has another word."""
        same = "- rice\n- wheat\n\n| grain | water |\n|---|---|\n| rice | two |"
        one = f"{same}\n\nIt is cooked in hot water. It is eaten warm."
        other = f"Nobody knows anything about barley.\n\nIt is cooked in cold water. It is eaten warm.\n\n{same}"
        show(pairs, tmp_path, [one, other])
        page = annotate(open_page)
        page.wait_for_load_state("load")
        page.keyboard.press("d")
        expect(page.locator("mark").first).to_be_visible()
        assert sorted(marked(page)) == [["Nobody knows anything about barley.", "cold"], ["hot"]]
        folded = page.locator("[data-side=left] [data-same]")
        assert folded.count() == 3  # two points of the list, and the table
        folded.last.click()
        expect(folded).to_have_count(2)
        assert page.locator("input[type=radio]:checked").count() == 0  # a click that unfolds chooses nothing

    def test_the_next_pair_is_marked_too(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["one", "two", "three"], text_format="plain")
        page = annotate(open_page)
        page.wait_for_load_state("load")
        for key in ("d", "a", "Enter"):
            page.keyboard.press(key)
        counted(page, 1, 3)
        expect(page.locator("mark")).to_have_count(2)

    def test_words_without_spaces_are_told_apart(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["我喜欢吃苹果。", "我喜欢吃香蕉。"], text_format="plain")
        page = annotate(open_page)
        page.wait_for_load_state("load")
        page.keyboard.press("d")
        expect(page.locator("mark")).to_have_count(2)
        assert sorted(marked(page)) == [["苹果"], ["香蕉"]]

    def test_equal_words_are_said_to_be_equal(self, open_page, pairs, tmp_path):
        show(pairs, tmp_path, ["The same.", "The  same."])
        page = annotate(open_page)
        page.wait_for_load_state("load")
        page.keyboard.press("d")
        expect(page.locator("[data-said]")).to_have_text("Both texts have the same words.")
