// Questions that are asked only where an earlier answer about the same output says so. Without scripts all are shown, each says
// when it is asked, and the server leaves out what was not (annotation/questions/conditions.py).
import { reveal, say } from "./keys.js";
import { followAll } from "./slider.js";
import { word } from "./words.js";

const HOLDS = { below: (value, point) => value < point, at_least: (value, point) => value >= point, equal: (value, point) => value === point };
const PAUSE = 500; // milliseconds until a number counts as typed, and what it brings is said
let saying = 0;

// NaN where nothing was answered, which no condition holds for.
const answerTo = (form, name) => {
  const inputs = [...form.querySelectorAll(`[name="${name}"]:not(:disabled)`)];
  const text = inputs.find((input) => input.checked)?.value ?? inputs.find((input) => input.type === "number")?.value;
  return text ? Number(text) : NaN;
};

const clear = (set) => {
  for (const input of set.querySelectorAll("[name]")) {
    if (input.type === "radio") input.checked = false;
    else input.value = input.type === "number" ? "" : input.defaultValue; // of marks: those that were suggested
  }
};

const require = (set, isAsked) => {
  const radios = [...set.querySelectorAll("input[type=radio]")], number = set.querySelector("input[type=number]");
  const required = number ? (radios.length ? [] : [number]) : set.querySelector("textarea") ? [] : radios;
  for (const input of required) input.required = isAsked && "required" in set.dataset;
};

// Shows and hides questions, in order, since one may wait for another; returns those that changed.
export const ask = (form) => [...form.querySelectorAll("[data-asked-if]")].filter((set) => {
  const { askedIf, way, point } = set.dataset, isAsked = HOLDS[way](answerTo(form, askedIf), Number(point));
  require(set, isAsked);
  if (set.hidden === !isAsked) return false;
  set.hidden = set.disabled = !isAsked; // what is disabled is not sent
  if (!isAsked) clear(set);
  return true;
});

const follow = ({ target }) => {
  const changed = target.form?.matches("[data-answer]") ? ask(target.form) : [];
  if (!changed.length) return;
  followAll();
  for (const set of changed) if (!set.hidden) reveal(set);
  for (const set of changed) set.dispatchEvent(new CustomEvent("asked", { bubbles: true }));
  clearTimeout(saying);
  saying = setTimeout(() => {
    say(changed.map((set) => word(set.hidden ? "not_asked" : "asked", { question: set.dataset.scale })).join(" "));
  }, PAUSE);
};
document.addEventListener("input", follow);
document.addEventListener("change", follow);
