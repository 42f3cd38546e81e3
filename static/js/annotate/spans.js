// Errors are marked in a field that shows a text and takes no typing: one selects in it as in any field, with keys, a mouse,
// fingers or a screen reader. What is marked is drawn behind it, and listed below. Places are counted in characters (code points)
// of the text as it was imported.
import { say } from "./keys.js";
import { word } from "./words.js";

const sets = () => document.querySelectorAll("[data-spans]");
const areasOf = (set) => [...set.querySelectorAll("[data-text-of]")];
const valueOf = (set) => set.querySelector("[data-marked]");
const noErrors = (set) => set.querySelector("[data-no-errors]");
const about = new WeakMap(); // of a field: {where, turn, points}
const last = new WeakMap(); // of a question: the field that was used last

// What a field shows of a text, and how many characters of the text stand before each place in it; a line ends there with one.
const shownOf = (text) => {
  const points = [];
  let shown = "", before = "", count = 0;
  for (const letter of text) {
    if (!(before === "\r" && letter === "\n")) {
      const drawn = letter === "\r" ? "\n" : letter;
      for (let i = 0; i < drawn.length; i += 1) points.push(count);
      shown += drawn;
    }
    before = letter;
    count += 1;
  }
  return { shown, points: [...points, count] };
};
const placeOf = (area, count) => about.get(area).points.findIndex((point) => point >= count);

const read = (set) => {
  try {
    const spans = JSON.parse(valueOf(set).value || "[]");
    return Array.isArray(spans) ? spans : [];
  } catch { return []; }
};
const areaOf = (set, span) => areasOf(set).find((area) => {
  const { where, turn } = about.get(area);
  return where === (span.where ?? "output") && (where === "output" || turn === (span.turn ?? 0));
});
const wordsOf = (set, span) => {
  const area = areaOf(set, span);
  return area && "start" in span ? area.value.slice(placeOf(area, span.start), placeOf(area, span.end)) : span.text ?? "";
};
const inWords = (set, severity) => set.querySelector(`[data-severity="${CSS.escape(severity)}"]`)?.lastChild.textContent.trim() ?? severity;

const write = (set, spans, isNone = false) => {
  const order = (span) => [span.where === "output" ? 0 : 1, span.turn ?? 0, span.start ?? 0, span.end ?? 0];
  spans.sort((a, b) => order(a).map((part, i) => part - order(b)[i]).find(Boolean) ?? 0);
  valueOf(set).value = spans.length ? JSON.stringify(spans) : isNone ? "[]" : "";
  if (valueOf(set).value) for (const radio of set.querySelectorAll("input[type=radio]")) radio.checked = false;
  valueOf(set).dispatchEvent(new Event("input", { bubbles: true }));
  draw(set);
};

// Behind a field: the same text, in pieces that begin and end where marks do.
const drawBehind = (set, area, spans) => {
  const own = spans.filter((span) => "start" in span && areaOf(set, span) === area)
    .map((span) => ({ from: placeOf(area, span.start), to: placeOf(area, span.end), rank: rankOf(set, span.severity) }));
  const ends = [...new Set([0, area.value.length, ...own.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  const pieces = ends.slice(1).map((end, i) => {
    const over = own.filter(({ from, to }) => from <= ends[i] && end <= to);
    const piece = document.createElement(over.length ? "mark" : "span");
    piece.textContent = area.value.slice(ends[i], end);
    if (over.length) piece.className = Math.max(...over.map(({ rank }) => rank)) > 0 ? "grave" : "slight";
    return piece;
  });
  area.previousElementSibling.replaceChildren(...pieces, "\u200b"); // an empty last line has its height
};
// 1 for what is no lighter than the second severity, or the only one.
const rankOf = (set, severity) => {
  const buttons = [...set.querySelectorAll("[data-severity]")], at = buttons.findIndex((button) => button.dataset.severity === severity);
  return at >= Math.min(1, buttons.length - 1) ? 1 : 0;
};

const rowOf = (set, span, number) => {
  const row = set.querySelector("[data-row]").content.firstElementChild.cloneNode(true), words = wordsOf(set, span);
  row.querySelector("q").textContent = words || "–";
  const severity = row.querySelector("[data-severity-of]"), category = row.querySelector("[data-category-of]");
  severity.value = span.severity;
  severity.setAttribute("aria-label", word("severity_of", { words }));
  if (category) {
    if (span.category && ![...category.options].some(({ value }) => value === span.category)) category.add(new Option(span.category));
    category.value = span.category ?? "";
    category.setAttribute("aria-label", word("category_of", { words }));
  }
  row.querySelector("[data-take-off]").setAttribute("aria-label", word("take_off", { words }));
  row.dataset.number = number;
  return row;
};

const draw = (set) => {
  const spans = read(set);
  for (const area of areasOf(set)) drawBehind(set, area, spans);
  set.querySelector("[data-marks]").replaceChildren(...spans.map((span, number) => rowOf(set, span, number)));
  noErrors(set).disabled = spans.length > 0;
  noErrors(set).checked = !spans.length && valueOf(set).value === "[]";
  if (spans.some(({ where }) => where === "source")) set.querySelector("[data-source-fold]")?.setAttribute("open", "");
};

const fieldOf = (set, text, where, turn, label) => {
  const marking = document.createElement("div"), behind = document.createElement("div"), area = document.createElement("textarea");
  const { shown, points } = shownOf(text);
  marking.className = "marking";
  behind.setAttribute("aria-hidden", "true");
  area.defaultValue = shown;
  area.rows = 1;
  Object.assign(area.dataset, { textOf: where });
  for (const one of [behind, area]) { one.dir = "auto"; one.lang = ""; }
  for (const [name, value] of [["inputmode", "none"], ["aria-readonly", "true"], ["spellcheck", "false"], ["autocomplete", "off"], ["aria-label", label]]) area.setAttribute(name, value);
  if (where === "output") { area.dataset.key = "m"; area.setAttribute("aria-keyshortcuts", "m"); }
  about.set(area, { where, turn, points, shown });
  marking.append(behind, area);
  return marking;
};

// Fields take the place of the text that stands on the page.
const build = (set) => {
  const texts = JSON.parse(document.getElementById("marked-texts").textContent), page = document.querySelector(".work-score .output");
  set.querySelector("[data-plain]").hidden = true;
  set.querySelector("[data-marking]").hidden = false;
  set.querySelector("[data-field-of=output]").replaceChildren(fieldOf(set, texts.output, "output", 0, word("text_to_mark")));
  set.querySelector("[data-field-of=source]")?.replaceChildren(...texts.source.map((turn, i) => fieldOf(set, turn, "source", i, word("context_to_mark"))));
  if (page && !page.querySelector(".rich")) page.hidden = true;
};

export const drawAll = () => sets().forEach((set) => {
  if (!areasOf(set).length) build(set);
  draw(set);
});

// What is selected in the field used last, without the spaces around it.
const selectionIn = (set) => {
  const area = last.get(set) ?? areasOf(set)[0];
  let { selectionStart: from, selectionEnd: to } = area;
  while (from < to && !area.value[from].trim()) from += 1;
  while (to > from && !area.value[to - 1].trim()) to -= 1;
  return { area, from, to };
};

const mark = (set, severity) => {
  const { area, from, to } = selectionIn(set), { where, turn, points } = about.get(area);
  if (from === to) return say(word("select_first"));
  const span = { where, ...(where === "source" ? { turn } : {}), start: points[from], end: points[to], severity };
  const spans = read(set).filter((one) => !(areaOf(set, one) === area && one.start === span.start && one.end === span.end));
  write(set, [...spans, span]);
  area.setSelectionRange(to, to);
  say(word("marked", { severity: inWords(set, severity), words: wordsOf(set, span), count: spans.length + 1 }));
  const number = read(set).findIndex((one) => areaOf(set, one) === area && one.start === span.start && one.end === span.end);
  (set.querySelector(`[data-number="${number}"] [data-category-of]`) ?? area).focus({ preventScroll: true });
};

const takeOff = (set, number) => {
  const spans = read(set), [gone] = spans.splice(number, 1);
  const words = wordsOf(set, gone);
  write(set, spans);
  say(word("taken_off", { words, count: spans.length }));
};
// The innermost mark at the caret.
const takeOffHere = (set, area) => {
  const at = area.selectionStart, spans = read(set);
  const here = spans.map((span, number) => ({ span, number }))
    .filter(({ span }) => areaOf(set, span) === area && placeOf(area, span.start) <= at && at <= placeOf(area, span.end))
    .sort((a, b) => (a.span.end - a.span.start) - (b.span.end - b.span.start));
  if (here.length) takeOff(set, here[0].number);
};

const setOf = (target) => target.closest?.("[data-spans]");

document.addEventListener("focusin", ({ target }) => { if (target.matches("[data-text-of]")) last.set(setOf(target), target); });
document.addEventListener("beforeinput", (event) => { if (event.target.matches("[data-text-of]")) event.preventDefault(); });
document.addEventListener("input", ({ target }) => { // what could not be prevented
  if (target.matches("[data-text-of]") && target.value !== about.get(target).shown) target.value = about.get(target).shown;
});
document.addEventListener("keydown", (event) => {
  const { target: area, key } = event;
  if (!area.matches("[data-text-of]") || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = /^Digit(\d)$/.exec(event.code)?.[1], digit = /^\d$/.test(key) ? key : event.shiftKey ? null : place;
  const button = digit && setOf(area).querySelector(`[data-key="${digit}"]`);
  if (button) button.click();
  else if (key === "Delete" || key === "Backspace") takeOffHere(setOf(area), area);
  else return;
  event.preventDefault();
});
document.addEventListener("click", ({ target }) => {
  const set = setOf(target);
  if (!set) return;
  const severity = target.closest("[data-severity]"), gone = target.closest("[data-take-off]");
  if (severity) mark(set, severity.dataset.severity);
  else if (gone) {
    takeOff(set, Number(gone.closest("[data-number]").dataset.number));
    (last.get(set) ?? areasOf(set)[0]).focus({ preventScroll: true });
  }
});
document.addEventListener("change", ({ target }) => {
  const set = setOf(target);
  if (!set) return;
  if (target.matches("[data-no-errors]")) write(set, [], target.checked);
  else if (target.matches("input[type=radio]")) { // cannot say
    valueOf(set).value = "";
    draw(set);
  } else if (target.matches("[data-severity-of], [data-category-of]")) {
    const spans = read(set), { number } = target.closest("[data-number]").dataset;
    const name = target.matches("[data-severity-of]") ? "severity" : "category";
    spans[number][name] = target.value;
    write(set, spans);
    set.querySelector(`[data-number="${number}"] [data-${name}-of]`)?.focus({ preventScroll: true });
  }
});

drawAll();
