// The keyboard. What is pressed while the next item is on its way is kept and done there.
import { word } from "./words.js";

// Sides are in reading order: "left" is A, the first. In a page from right to left A stands on the right, and the arrows
// go to the text that they point at.
const isRightToLeft = document.documentElement.dir === "rtl";
const [ARROW_A, ARROW_B] = isRightToLeft ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
const SIDES = { a: "left", [ARROW_A]: "left", t: "tie", b: "right", [ARROW_B]: "right" };
const ahead = []; // keys pressed before their page was there
let last = null; // the scale a key answered last

const form = () => document.querySelector("[data-answer]");
const scales = () => [...(form()?.querySelectorAll("[data-scale]:not([hidden])") ?? [])];
const name = (scale) => scale.dataset.scale;
const answerOf = (scale, input) => word("answered", { question: name(scale), answer: input.closest("label").textContent.trim() });
export const say = (text) => { document.querySelector("[data-said]").textContent = text; };

export const open = (id) => {
  const dialog = document.getElementById(id);
  if (!dialog || dialog.open) return;
  const useKeys = dialog.querySelector("[data-use-keys]");
  if (useKeys) useKeys.checked = !areOff();
  dialog.showModal();
};

// Whoever speaks to the browser, or hits keys by accident, turns them off (WCAG 2.1.4); this browser remembers.
const OFF = "comparena:keys-off";
const areOff = () => { try { return localStorage.getItem(OFF) !== null; } catch { return false; } };
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-use-keys]")) return;
  try { target.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1"); } catch { /* not remembered */ }
});

// A number that is typed after "Cannot say" was chosen is the answer.
document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-scale] input[type=number]")) return;
  for (const radio of target.closest("[data-scale]").querySelectorAll("input[type=radio]")) radio.checked = false;
});

const answered = (scale) => Boolean(scale.querySelector("input:checked") || scale.querySelector("input[type=number], textarea[name]")?.value);
// Choosing moves no text: the questions stay in sight (comparena.css), and scroll among themselves where there are many.
const focusAt = (input) => {
  if (form().querySelector(".holds-text")) return input.focus(); // a text stands among the questions
  input.focus({ preventScroll: true });
  reveal(input.closest("[data-scale]"));
};
export const reveal = (scale) => {
  const bar = form(), around = scale.getBoundingClientRect(), seen = bar.getBoundingClientRect();
  if (bar.scrollHeight <= bar.clientHeight) return;
  if (around.top < seen.top) bar.scrollTop -= seen.top - around.top;
  else if (around.bottom > seen.bottom) bar.scrollTop += around.bottom - seen.bottom;
};
const focusOn = (scale) => focusAt(scale.querySelector("input:checked") || scale.querySelector("[data-text-of], input"));
const current = () => {
  const all = scales();
  return all.find((scale) => scale.contains(document.activeElement)) || all.find((scale) => !answered(scale))
    || (all.includes(last) ? last : all[0]);
};

const check = (scale, input) => {
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  last = scale;
};

// The side of a text that was clicked, for the question at hand; the page does not scroll to it.
export const chooseSide = (side) => {
  const scale = current();
  if (scale?.classList.contains("graded")) return; // a click does not say how much better
  const input = scale?.querySelector(`input[type=radio][value="${side}"]`);
  if (!input) return;
  check(scale, input);
  say(answerOf(scale, input));
};

// A widget names the key of an input or a button itself: data-key="n". The key of a field of text goes there from anywhere.
const named = (key) => (/^[a-z0-9]$/.test(key)
  ? current()?.querySelector(`:is(input, button)[data-key="${key}"]:not(:disabled)`)
    ?? current()?.closest("[data-lines]")?.querySelector(`.cannot-say input[data-key="${key}"]`) ?? form().querySelector(`textarea[data-key="${key}"]`) : null);
const use = (named, key) => {
  if (named.matches("input")) pick(current(), named, key);
  else if (named.matches("button")) named.click();
  else named.focus();
};

// Where a number is typed, a digit goes there: the browser writes it, or this does where it was pressed too early.
const typesInto = (key, isLate) => {
  const number = current().querySelector("input[type=number]");
  if (!number) return false;
  const isNew = document.activeElement !== number;
  number.focus();
  if (!isLate) number.select();
  else {
    number.value = isNew ? key : number.value + key;
    number.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return true;
};

const choose = (values, pressed) => {
  const scale = current();
  pick(scale, values.map((value) => scale.querySelector(`input[type=radio][value="${value}"]`)).find(Boolean), pressed);
};

const pick = (scale, input, pressed) => {
  if (!input) return say(word("no_such_point", { question: name(scale), key: pressed }));
  check(scale, input);
  const lines = input.closest(".cannot-say")?.closest("[data-lines]"); // of all of which one cannot say
  const next = scales().slice(scales().indexOf(scale) + 1).find((after) => !lines?.contains(after));
  if (next) return focusOn(next);
  focusAt(input);
  say(`${answerOf(scale, input)} ${word("press_enter")}`);
};

const back = () => {
  const before = scales()[scales().indexOf(current()) - 1];
  if (before) focusOn(before);
};

const report = () => {
  const details = document.querySelector("[data-report]");
  if (!details) return;
  details.open = true;
  details.querySelector("input[type=text]").focus();
};

const toggleContext = () => {
  const folds = [...document.querySelectorAll("[data-whole]")], open = !folds.every((fold) => fold.open);
  for (const fold of folds) fold.open = open;
  say(word(!folds.length ? "context_short" : open ? "context_whole" : "context_end"));
};

// Does what a key means here; says whether it means anything.
const press = (key, isLate = false) => {
  const scale = scales()[0];
  if (key === "Enter") form() ? form().requestSubmit() : document.querySelector("[data-go-on]")?.click();
  else if (key === "g") open("guidelines");
  else if (key === "?") open("keys");
  else if (scale && named(key)) use(named(key), key);
  else if (key === "c") toggleContext();
  else if (key === "d") document.querySelector("[data-differences]")?.click();
  else if (key === "u") document.querySelector("[data-undo]")?.requestSubmit();
  else if (key === "s") report();
  else if (key === "r" && document.getElementById("reason")) document.getElementById("reason").focus();
  else if (scale && key === "Backspace") back();
  else if (scale?.classList.contains("graded") && key !== "t") return false; // arrows move from point to point
  else if (scale?.classList.contains("choices") && key in SIDES) choose([SIDES[key]], key);
  else if (scale?.classList.contains("scale") && /^[0-9]$/.test(key) && typesInto(key, isLate)) return false;
  else if (scale?.classList.contains("scale") && /^[0-9]$/.test(key)) choose(key === "0" ? ["0", "10"] : [key], key);
  else return false;
  return true;
};

// What a key means: its letter or digit. On a keyboard with other letters (Arabic), or with the digits behind Shift (French),
// what stands at its place on an English one.
const keyOf = ({ key, code, shiftKey }) => {
  if (/^[A-Z]\w/.test(key)) return key; // Enter; an Arabic B is two characters long
  const own = key.toLowerCase(), [, place] = /^(?:Key|Digit)(.)$/.exec(code) ?? [];
  return /^[a-z0-9?]$/.test(own) || shiftKey || !place ? own : place.toLowerCase();
};

export const listen = (isBusy) => {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    const key = keyOf(event), at = event.target;
    if (key.length === 1 && areOff()) return;
    if (isBusy()) {
      ahead.push(key);
      return event.preventDefault();
    }
    if (at.matches("select")) return key === "Escape" && at.blur(); // so that Enter sends
    if (at.matches("textarea, input:not([type=radio], [type=range], [type=checkbox])")) {
      if (key === "Escape") at.blur();
      const choice = key === "Enter" && at.closest("[data-report]")?.querySelector("button");
      if (choice) { choice.focus(); return event.preventDefault(); } // skip, report or ask: nobody skips unawares
      if (key !== "Enter" || !at.closest("[data-answer]")) return;
    }
    if (key === "Enter" && at.matches("button, a, summary")) return;
    if (key.startsWith("Arrow") && at.matches(".text [tabindex]")) return; // scrolls a wide table or formula
    if (press(key)) event.preventDefault();
  });
};

// The new page is there: do what was pressed meanwhile, until it is on its way again. An Enter that nothing came before was
// meant for the page that is gone; a page without questions was not foreseen, and is to be read.
export const catchUp = (isBusy) => {
  if (!form()) ahead.length = 0;
  while (ahead[0] === "Enter") ahead.shift();
  while (ahead.length && !isBusy()) press(ahead.shift(), true);
};
