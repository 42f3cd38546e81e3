"""Markdown with code and LaTeX as safe HTML. What CommonMark gives stands in its specification (spec.commonmark.org/0.31.2);
when a dollar opens a formula in Pandoc's manual, "Extension: tex_math_dollars"."""

import re
import time
from html import unescape
from html.parser import HTMLParser

import pytest
from django.conf import settings

from core.rich_text import DEEPEST, MOST, page_html, rich_count, rich_html

HOSTILE = {
    "script": "<script>alert(1)</script>\n\n<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "javascript link": "[a](javascript:alert(1)) [b](JaVaScRiPt:x) [c](data:text/html,<script>x</script>) [d](/c/)",
    "entity link": "[a](&#106;avascript:alert(1)) [b](java&#10;script:alert(1)) [c](vbscript:x)",
    "handlers": '<img src=x onerror=alert(1)> <b onclick=\'x\'>b</b> [a](http://b.example "x\\" onmouseover=alert(1)")',
    "svg": "<svg onload=alert(1)><script>x</script></svg> <math><mi xlink:href='javascript:x'></math>",
    "style": "<style>body{display:none}</style> <p style='position:fixed'>x</p>\n\n| a |\n|:-:|\n| b |",
    "frames": "<iframe src='//evil.example'></iframe><form action=x><input></form><base href=//evil.example><meta x>",
    "fence": "``` \"><script>alert(1)</script>\n<b>\n```\n\n```python onclick=x\n'<b>'\n```",
    "formula": r"$<script>x</script>$ \[<img onerror=x>\]",
    "image": '![<b>x</b>](http://evil.example/p.png "t") ![](data:image/png;base64,AAAA) ![x](javascript:alert(1))',
    "control": "a\0b \ufeff \u202e c \x1b",
    "html in a link": "[<img src=x onerror=y>](http://b.example)",
}
ALLOWED = set("a blockquote br code div em h2 h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split())
# Each is repeated up to the longest text that is rendered.
PARTS = "[,![,>,> ,- ,* ,1. ,*a **a ,`,``a` ,<,&amp;,[a](,![a](,\\(,\\[,$,$$\n,\\[\n,$a".split(",")
WIDE_TABLE = "|" * 2000 + "\n" + "|-" * 2000 + "|\n" + "|x\n" * 5000
DEEP_LIST = "".join(" " * depth + "- a\n" for depth in range(300))
ATTRIBUTES = {"class", "dir", "href", "rel", "target", "title", "tabindex", "role", "aria-label", "start"}


class Elements(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


class TestMarkdown:
    def test_words_lists_quotes_and_breaks(self):
        html = rich_html("Here **are**:\n- *one*\n- `two`\n\n> said\n\nfirst\nsecond ~~third~~")
        assert "<strong>are</strong>" in html and "<li><em>one</em></li>" in html and "<code>two</code>" in html
        assert "first<br>" in html and "<s>third</s>" in html and re.search(r"<blockquote dir=\"auto\">\s*<p>said</p>", html)

    def test_a_table_keeps_its_alignment_without_inline_style(self):
        html = rich_html("| a | b | c |\n|---|--:|:-:|\n| 1 | 2 | 3 |")
        assert '<td>1</td>\n<td class="to-right">2</td>\n<td class="to-center">3</td>' in html and "style" not in html
        assert html.startswith('<div class="table" tabindex="0" role="group" aria-label="Table">')

    def test_a_table_that_would_lose_a_cell_stays_text(self):
        html = rich_html("| a | b |\n|---|---|\n| 1 | 2 | three |")
        assert "three" in html and "<table" not in html

    def test_code_is_coloured_by_class_and_never_changed(self):
        source = "\n\ndef f(x):\n    return '<b>' + x  # why\n"
        html = rich_html(f"```python\n{source}```")
        assert '<span class="k">def</span>' in html and '<span class="c1"># why</span>' in html
        assert Elements(html).text.strip("\n") == source.strip("\n") and html.startswith('<pre class="code" dir="ltr">')
        assert Elements(rich_html("```nonesuch\na <b>\n```")).text == "a <b>\n\n"

    def test_headings_start_at_the_level_and_leave_none_out(self):
        assert re.findall("<h.", rich_html("### a\n\n# b\n\n#### c\n\n## d")) == ["<h2", "<h2", "<h3", "<h3"]
        assert re.findall("<h.", rich_html("# a\n\n## b\n\n### c", level=5)) == ["<h5", "<h6", "<h6"]

    def test_links_open_elsewhere_and_tell_nobody(self):
        (link,) = re.findall("<a [^>]*>", rich_html("[x](https://a.example/b?c=d&e)"))
        assert 'target="_blank"' in link and "noopener" in link and 'href="https://a.example/b?c=d&amp;e"' in link

    def test_an_image_is_its_words_and_address(self):
        html = rich_html("![A cat](https://a.example/cat.png)")
        assert "<img" not in html and "[image: A cat (https://a.example/cat.png)]" in html
        assert len(rich_html("![x](https://a.example/" + "y" * 5000 + ")")) < 400

    def test_the_campaigns_own_image_is_shown_by_its_name(self):
        source = "![A cat](cat.png) ![B](dog.png) ![C](../cat.png) ![D](//evil.example/cat.png)"
        html = rich_html(source, 2, frozenset({("cat.png", "0f.png")}), "/c/talk/images/")
        assert re.findall("<img [^>]*>", html) == ['<img src="/c/talk/images/0f.png" alt="A cat" loading="lazy">']
        assert "[image: B (dog.png)]" in html and "![C](../cat.png) ![D](//evil.example/cat.png)" in html
        assert "<img" not in rich_html(source)

    @pytest.mark.parametrize("source", ["[a](cat.png)", "**[a](cat.png) b**", "[![c](cat.png)](dog.png)", "<cat.png>"])
    def test_a_link_into_these_pages_is_shown_as_it_is_written(self, source):
        html = rich_html(source)
        assert "<a" not in html and source.count(".png") == html.count(".png")

    def test_html_and_definitions_are_shown_as_they_are_written(self):
        source = "<b>bold</b> <!-- note -->\n\n[Answer]: yes"
        assert Elements(rich_html(source)).text.split() == source.split()

    def test_each_block_has_its_own_direction(self):
        html = rich_html("Hello\n\nمرحبا بالعالم\n\n- שלום\n\n> 你好")
        assert html.count('dir="auto"') == 4

    def test_guidelines_keep_harmless_html(self):
        assert page_html("# A\n\n<b>b</b> **c** <script>d</script>") == "<h2>A</h2>\n<p><b>b</b> <strong>c</strong> </p>\n"


class TestFormulas:
    @pytest.mark.parametrize(
        "source", ["$x$", "$e^{i\\pi}+1=0$", "$a_1 * b_2 * c$", "$$x^2$$", "\\(a_b\\)", "\\[ \\frac{1}{2} \\]", "$a\\$b$"]
    )
    def test_a_formula_keeps_its_source(self, source):
        (found,) = re.findall(r'<span class="formula(?: display)?" dir="ltr">(.*?)</span>', rich_html(f"So {source}, then"))
        assert unescape(found) == source

    @pytest.mark.parametrize(
        "source",
        ["$5 and $10", "$5-$10", "from $ 5 to 6 $", "5$ or 6 $", "\\$x\\$", "`$x$`", "US$ 5, US$ 6", "$$", "$$$$", "$20,000"],
    )
    def test_money_and_code_are_no_formulas(self, source):
        assert "formula" not in rich_html(source)

    def test_lines_of_a_displayed_formula_are_no_list(self):
        source = "\\[\n\\begin{aligned}\na &= b \\\\[2pt]\n- c\n# d\n\\end{aligned}\n\\]"
        html = rich_html(f"Where\n{source}\nholds")
        (found,) = re.findall(r'<div class="formula display" dir="ltr">(.*?)</div>', html, re.DOTALL)
        assert unescape(found) == source and "<li>" not in html and "holds" in html

    def test_an_unclosed_formula_is_text(self):
        assert "formula" not in rich_html("$$\nx = 1\n\nand $y is \\( open, \\[ too")


class TestHostile:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_nothing_but_the_allowed_comes_out(self, name):
        shown = Elements(rich_html(HOSTILE[name]))
        assert set(shown.tags) <= ALLOWED and {attribute for attribute, _ in shown.attributes} <= ATTRIBUTES
        links = [value for attribute, value in shown.attributes if attribute == "href"]
        assert all(link.startswith(("http://", "https://", "mailto:")) for link in links)

    @pytest.mark.parametrize("part", PARTS)
    def test_what_is_repeated_neither_hangs_nor_loses_text(self, part):
        source = part * (MOST // len(part))
        html = rich_html(source)
        if html is not None and "](" not in part:
            assert Elements(html).text.count("a") >= unescape(source).count("a")

    @pytest.mark.parametrize("source", [WIDE_TABLE, DEEP_LIST, "[" * 4000, "a" * MOST], ids=["table", "list", "brackets", "a"])
    def test_what_is_deep_or_wide_neither_hangs_nor_loses_text(self, source):
        html = rich_html(source)
        assert html is None or all(Elements(html).text.count(letter) == source.count(letter) for letter in "ax[")

    def test_what_is_too_long_or_too_deep_is_for_the_caller_to_show(self):
        assert rich_html("a" * (MOST + 1)) is None and rich_html("[" * 5000) is None
        assert rich_html(">" * 5000 + " deep") is None and rich_html("> " * (DEEPEST // 2) + "fine") is not None

    def test_a_parser_that_breaks_is_not_the_readers_problem(self, monkeypatch):
        def broken(*_):
            raise RecursionError

        monkeypatch.setattr("core.rich_text.MARKDOWN.parse", broken)
        assert rich_html("what broke the parser") is None


def test_katex_is_here_with_all_its_fonts():
    folder = settings.BASE_DIR / "static/vendor/katex"
    addresses = set(re.findall(r"url\(([^)]+)\)", (folder / "katex.min.css").read_text(encoding="utf-8")))
    assert len(addresses) == 20 and all((folder / address).is_file() for address in addresses)
    assert (folder / "katex.min.js").is_file() and "MIT" in (folder / "LICENSE").read_text(encoding="utf-8")


def test_which_texts_look_like_markdown():
    rich = ["**b**", "# A\n", "```py\n", "| a |\n|---|\n", "[a](http://b)", "\\(x\\)", "$x^2$", "Use `f`.", "So:\n- a\n- b\n"]
    plain = ["Hello.", "$5 and $10", "a * b * c", "#hashtag", "2 - 1\n", "[sic]", "- Yes.\n\nNo.", "snake_case_name", ""]
    plain += ["$" + "_" * MOST, "-" * MOST, " " * MOST, "** a" * MOST, "- " * MOST]  # and are quickly told
    assert [rich_count([text]) for text in rich] == [1] * len(rich) and rich_count(plain) == 0


class TestPagesOfResearchers:
    @pytest.mark.parametrize("text", ["[" * 1_000_000, "*a " * 300_000, "[" * 5_000])
    def test_what_takes_long_is_shown_as_it_is_written(self, text):
        begin = time.process_time()
        html = page_html(text)
        assert time.process_time() - begin < 1 and html == f"<pre>{text}</pre>"
