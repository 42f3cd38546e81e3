"""Markdown with code and LaTeX as safe HTML, for texts that are written so.

CommonMark with tables and struck-out words (markdown-it-py); code carries Pygments' classes; formulas stay in their
delimiters, which the browser's script reads (KaTeX); nh3 cleans the whole. No text disappears: HTML is shown as text, an
image as its alternative text and address, and what can't be rendered at all is for the caller to show as it is.
"""

import re
from collections.abc import Iterable, MutableMapping, Sequence
from functools import lru_cache
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

MOST = 50_000  # characters; prose of this length takes a tenth of a second
MOST_BRACKETS = 4_000  # each unclosed one is looked for to the end of its paragraph
MOST_CODE = 10_000  # characters of one block that are coloured
KEPT = 256  # texts: several people read each, and a context stands on the pages of all its items; 50 MB at the very most
DEEPEST = 24  # levels of lists in quotes in lists; a list and its item are two
FORMULA_LINES = 60
ADDRESS_SHOWN = 200  # characters: a data: address holds the whole image
# The common ones: a lexer that nobody here has looked at might take for ever on some text.
LANGUAGES = set(
    "bash c c# c++ console cpp csharp css diff docker go html http ini java javascript js json jsx kotlin latex lua "
    "makefile markdown matlab md perl php powershell py pycon python python3 r rb ruby rs rust scala sh shell sql swift "
    "tex toml ts tsx typescript xml yaml yml".split()
)
# A dollar opens before no space and closes after none, nor before a digit: pandoc's rule, so "$5 and $10" is no formula.
FORMULA = re.compile(
    r"\$\$(?=[^$])(?:[^$\\]|\\.)+\$\$"
    r"|\$(?=[^\s$])(?:[^$\\]|\\.)+(?<!\s)\$(?![\d$])"
    r"|\\\((?:[^\\]|\\[^()])+\\\)"
    r"|\\\[(?:[^\\]|\\[^\[\]])+\\\]",
    re.DOTALL,
)
DISPLAYED = {"$$": "$$", r"\[": r"\]"}  # formulas on lines of their own: how they open and close
SIGNS = re.compile(
    r"^ {0,3}```|^ {0,3}#{1,6} \S|^ {0,3}\|?[ :]*-{3,}[ :]*\||\*\*\S[^*\n]*\*\*|`[^`\n]+`|\]\(https?:"
    r"|\\\(|\\\[|\$(?=[^\s$])[^$\n\\^_{]*[\\^_{][^$\n]*\$|(?:^ {0,3}(?:[-*]|\d\.) \S.*\n){2}",
    re.MULTILINE,
)
TAGS = set(
    "a blockquote br code del div em h2 h3 h4 h5 h6 hr img li ol p pre s span strong table tbody td th thead tr ul".split()
)
SCHEMES = ("http://", "https://", "mailto:")
PICTURE = re.compile(r"\w[\w.-]*", re.ASCII)  # the name of a file that a text may show
CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes={
        **{tag: {"dir"} for tag in TAGS},
        "a": {"href", "target"},
        "div": {"class", "dir", "tabindex", "role", "aria-label"},
        "img": {"src", "alt", "loading"},
        "ol": {"dir", "start"},
        "pre": {"class", "dir"},
        "span": {"class", "dir"},
        "td": {"class"},
        "th": {"class"},
    },
    url_schemes={scheme.rstrip(":/") for scheme in SCHEMES},
    link_rel="noopener noreferrer nofollow",
)
HAS_DIRECTION = {"paragraph_open", "heading_open", "bullet_list_open", "ordered_list_open", "blockquote_open", "table_open"}
FORMATTER: Any = HtmlFormatter(nowrap=True)


@lru_cache(maxsize=KEPT)
def rich_html(text: str, level: int = 2, images: frozenset[tuple[str, str]] = frozenset(), folder: str = "") -> str | None:
    """The text as safe HTML, its first heading at `level`; None where it is too long, too deep, or breaks the parser.

    images: names of pictures that are shown as such, each with the name by which it is fetched from the address `folder`.
    """
    if is_heavy(text):
        return None
    try:
        env: MutableMapping[str, Any] = {"images": dict(images), "folder": folder}
        tokens = MARKDOWN.parse(text, env)
        if any(token.level >= DEEPEST - 1 for token in tokens):
            return None  # the parser leaves out what is deeper
        _arrange(tokens, level)
        return CLEANER.clean(MARKDOWN.renderer.render(tokens, MARKDOWN.options, env))
    except Exception:  # whatever the text does to the parser, people see the text
        return None


def is_heavy(text: str) -> bool:
    """Would the parser take longer than a page may?"""
    return len(text) > MOST or text.count("[") > MOST_BRACKETS


def page_html(text: str) -> str:
    """What a researcher writes for a page (guidelines, consent): Markdown with harmless HTML; headings start at h2. A text that
    would take long is shown as it is written."""
    if is_heavy(text):
        return f"<pre>{escapeHtml(text)}</pre>"
    env: MutableMapping[str, Any] = {}
    tokens = PAGES.parse(text, env)
    _set_levels(tokens, 2)
    return nh3.clean(PAGES.renderer.render(tokens, PAGES.options, env))


def rich_count(texts: Iterable[str]) -> int:
    """How many of the texts look as if they were written in Markdown or LaTeX."""
    return sum(SIGNS.search(text[:MOST]) is not None for text in texts)


def _arrange(tokens: list[Token], level: int) -> None:
    """Headings one below the other, each block with its own direction, and no inline style."""
    _set_levels(tokens, level)
    for token in tokens:
        if token.level == 0 and token.type in HAS_DIRECTION:
            token.attrSet("dir", "auto")
        if style := token.attrs.pop("style", ""):  # of a table's column: the policy of the pages forbids it
            token.attrSet("class", f"to-{str(style).removeprefix('text-align:')}")
        _arrange_links(token.children or [])


def _arrange_links(inline: list[Token]) -> None:
    """Links open elsewhere; one that leads nowhere but into these pages is shown as it is written."""
    open_links: list[Token] = []
    for token in inline:
        if token.type == "link_open":
            open_links.append(token)
            token.attrSet("target", "_blank")
        if token.type == "link_close":
            opened = open_links.pop()
            if not (address := str(opened.attrs["href"])).lower().startswith(SCHEMES):
                for part, written in ((opened, "["), (token, f"]({address})")):
                    part.type, part.content = "text", written


def _set_levels(tokens: list[Token], top: int) -> None:
    """No level of headings is left out, whatever the text's author chose."""
    above: list[int] = []
    for token in tokens:
        if token.type == "heading_open":
            asked = int(token.tag[1])
            while above and above[-1] >= asked:
                above.pop()
            above.append(asked)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(top + len(above) - 1, 6)}"


def _coloured(code: str, language: str, _attributes: str) -> str:
    if language.lower() not in LANGUAGES or len(code) > MOST_CODE:
        return escapeHtml(code)
    return str(highlight(code, get_lexer_by_name(language.lower(), stripnl=False), FORMATTER))


def _code_block(_renderer: Any, tokens: Sequence[Token], at: int, options: Any, _env: Any) -> str:
    token = tokens[at]
    language = (token.info.split() or [""])[0]
    return f'<pre class="code" dir="ltr"><code>{options.highlight(token.content, language, "")}</code></pre>\n'


def _inline_formula(state: StateInline, silent: bool) -> bool:
    match = FORMULA.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "$\\" else None
    if match is None:
        return False
    if not silent:
        token = state.push("formula", "span", 0)
        token.content = match[0]
    state.pos = match.end()
    return True


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table, unless a row has more cells than the head: those would be left out."""
    count = len(state.tokens)
    if silent or not table(state, start, end, silent):
        return silent and table(state, start, end, silent)
    width = sum(token.type == "th_open" for token in state.tokens[count:])
    rows = (state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]] for line in range(start, state.line))
    if all(len(escapedSplit(row.strip().removeprefix("|").removesuffix("|"))) <= width for row in rows):
        return True
    del state.tokens[count:]
    state.line = start
    return False


def _displayed_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula on lines of its own, so that its lines are not read as lists or headings."""
    opening = state.src[(begin := state.bMarks[start] + state.tShift[start]) : begin + 2]
    if opening not in DISPLAYED or state.is_code_block(start):
        return False
    closing, lines = DISPLAYED[opening], []
    for line in range(start, min(end, start + FORMULA_LINES)):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
        lines.append(text.removeprefix(opening) if line == start else text)
        if not text or closing in lines[-1].removesuffix(closing) or state.sCount[line] < state.blkIndent:
            return False
        if lines[-1].endswith(closing):
            break
    else:
        return False
    content = "\n".join(lines).removesuffix(closing)
    if not content.strip():
        return False
    if not silent:
        token = state.push("formula", "div", 0)
        token.content, token.map = f"{opening}{content}{closing}", [start, line + 1]
        state.line = line + 1
    return True


def _formula(_renderer: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    token = tokens[at]
    display = " display" if token.content[:2] in DISPLAYED else ""
    return f'<{token.tag} class="formula{display}" dir="ltr">{escapeHtml(token.content)}</{token.tag}>'


def _image(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Nothing is fetched from elsewhere, so an image that is not the campaign's own is shown as what stands for it."""
    token = tokens[at]
    address, about = str(token.attrs.get("src", ""))[:ADDRESS_SHOWN], renderer.renderInlineAsText(token.children, options, env)
    if address in env["images"]:
        return f'<img src="{escapeHtml(env["folder"] + env["images"][address])}" alt="{escapeHtml(about)}" loading="lazy">'
    return f'<span class="image">{escapeHtml(f"[image: {about} ({address})]" if about else f"[image: {address}]")}</span>'


def _table_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return f'<div class="table" tabindex="0" role="group" aria-label="Table">{renderer.renderToken(tokens, at, options, env)}'


def _table_close(_renderer: Any, _tokens: Any, _at: int, _options: Any, _env: Any) -> str:
    return "</table></div>\n"


class Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """An address within these pages, or of a scheme that runs something, stays text."""
        return url.lower().startswith(SCHEMES) or PICTURE.fullmatch(url) is not None


def _parser() -> MarkdownIt:
    options = {"html": False, "breaks": True, "maxNesting": DEEPEST, "highlight": _coloured}
    parser = Parser("js-default", options)
    parser.disable("reference")  # the lines that define references would disappear
    parser.inline.ruler.before("escape", "formula", _inline_formula)
    parser.block.ruler.before("fence", "formula", _displayed_formula, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    for name, rule in (
        ("formula", _formula),
        ("image", _image),
        ("fence", _code_block),
        ("code_block", _code_block),
        ("table_open", _table_open),
        ("table_close", _table_close),
    ):
        parser.add_render_rule(name, rule)
    return parser


MARKDOWN = _parser()
PAGES = MarkdownIt("js-default", {"html": True})
