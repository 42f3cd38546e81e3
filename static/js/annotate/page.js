// The annotator's page. Without scripts it is plain forms and works the same; with them an answer is sent in the background,
// the next item takes its place, and nothing is lost when the connection, the session or the tab goes.
import * as clock from "./clock.js";
import { ask } from "./conditions.js";
import * as kept from "./kept.js";
import * as keys from "./keys.js";
import { send } from "./sending.js";
import { reachPanes } from "../texts/places.js";
import { followAll } from "./slider.js";
import { word } from "./words.js";

let busy = false; // a request is under way; what the page shows has been dealt with
const isBusy = () => busy;
const user = document.querySelector("[data-user]").dataset.user;

const notice = (text) => {
  const place = document.querySelector("[data-notice]");
  if (!place) return;
  place.textContent = text;
  place.hidden = !text;
};

const parsed = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

// The answer's <main> takes the place of this one; the scripts and the guidelines stay.
const show = (page, url) => {
  const main = page.querySelector("main");
  const { lang } = document.documentElement;
  // Not one of our pages: something between here and the server spoke. Or the language was changed in another tab.
  if (!main || page.documentElement.lang !== lang) return location.reload();
  document.querySelector("main").replaceWith(main);
  document.title = page.title;
  if (new URL(url).pathname !== location.pathname) history.pushState(null, "", url);
  scrollTo(0, 0);
  (main.querySelector("h1[tabindex]") || main).focus({ preventScroll: true });
  ready();
};

const settle = () => {
  busy = false;
  keys.catchUp(isBusy);
};

// Posts a form and shows what comes back. An answer is kept here until the server has confirmed it. Where the session has
// ended, the plain form takes over: the log-in page keeps what it sends.
const post = async (form, path, answer = null) => {
  busy = true;
  const fields = answer?.fields ?? fieldsOf(form);
  if (answer) kept.saveAnswer(user, answer);
  form.inert = true;
  const reply = await send(path, fields, () => notice(word(answer ? "offline" : "trying_again")));
  if (reply.status === 401 || reply.status === 403) return Object.assign(form, { action: path }).submit();
  if (answer) kept.dropAnswer(user, answer);
  if (answer && reply.ok) kept.dropDraft(user, answer.assignment);
  show(await parsed(reply), reply.redirected ? reply.url : location.href);
  settle();
};

// Answers from a tab that was closed, or a session that ended, before the server had confirmed them.
const sendWaiting = async () => {
  const waiting = kept.answersOf(user);
  if (!waiting.length) return;
  busy = true;
  let refused = "";
  notice(word("sending_saved"));
  for (const answer of waiting) {
    const reply = await send(answer.path, answer.fields, () => notice(word("offline")));
    if (reply.status === 401) return location.reload();
    if (!reply.ok) refused = (await parsed(reply)).querySelector("[role=alert]")?.textContent ?? String(reply.status);
    kept.dropAnswer(user, answer);
    kept.dropDraft(user, answer.assignment);
  }
  show(await parsed(await fetch(location.href)), location.href);
  if (refused) notice(word("not_stored", { reason: refused }));
  settle();
};

const fieldsOf = (form) => [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken");

const postAnswer = (form) => {
  form.elements.active.value = clock.milliseconds();
  const path = new URL(form.action).pathname, fields = fieldsOf(form);
  const button = form.querySelector("button");
  button.setAttribute("aria-disabled", "true");
  button.textContent = word("sending");
  const { key, assignment } = Object.fromEntries(fields);
  post(form, path, { path, fields, key, assignment, at: Date.now() });
};

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-answer], [data-swap]")) return;
  event.preventDefault();
  if (busy) return;
  if (form.matches("[data-answer]")) postAnswer(form);
  else post(form, new URL(event.submitter?.hasAttribute("formaction") ? event.submitter.formAction : form.action).pathname);
});

document.addEventListener("input", keep);
document.addEventListener("change", keep);
function keep(event) {
  const form = event.target.form;
  if (form?.matches("[data-answer]")) kept.saveDraft(user, form);
}

// Guidelines and keys open as dialogs over the item; their links stay for those without scripts.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (!opener) return;
  event.preventDefault();
  keys.open(opener.dataset.open);
});

// The words in which two texts differ: marked on demand, then on every pair until that is turned off again.
let marking = false;
const markDifferences = async () => {
  const button = document.querySelector("[data-differences]");
  const texts = ["left", "right"].map((side) => document.querySelector(`[data-side=${side}] .text`));
  if (!button || texts.includes(null)) return;
  const { showDifferences, hideDifferences } = await import("../texts/differences.js");
  hideDifferences(...texts);
  button.setAttribute("aria-pressed", marking);
  keys.say(marking ? showDifferences(...texts, word) : word("differences_hidden"));
};
document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-differences]")) return;
  marking = !marking;
  markDifferences();
});

// A click on text A or B chooses it, but not one on a link, a table to scroll or a folded block, nor one that selects text, ends a selection, or comes from a screen reader.
let selected = ""; // when the pointer went down
document.addEventListener("pointerdown", () => { selected = String(getSelection()); });
document.addEventListener("click", (event) => {
  const text = event.target.closest("a, [data-side] [tabindex], [data-same]") ? null : event.target.closest("[data-side]");
  if (text && event.detail === 1 && !busy && !selected && !String(getSelection())) keys.chooseSide(text.dataset.side);
});

// A widget may have a script of its own. Once it is here it draws at once, before a key that was pressed ahead of the page.
const scripts = new Map();
const draw = async (script) => {
  if (!scripts.has(script)) scripts.set(script, await import(script));
  scripts.get(script).drawAll();
};

document.addEventListener("asked", ({ target }) => { if (target.dataset.script) draw(target.dataset.script); });

const ready = () => {
  clock.restart();
  for (const opener of document.querySelectorAll("[data-open], [data-differences-tools], [data-jumps]")) opener.hidden = false;
  if (marking) markDifferences();
  const form = document.querySelector("[data-answer]");
  if (form) {
    kept.restoreDraft(user, form);
    ask(form);
  }
  followAll();
  for (const { dataset } of document.querySelectorAll("[data-script]")) draw(dataset.script);
  reachPanes();
  showTurn();
};

// A turn of a conversation is in sight as its page begins, under what was said before it.
const showTurn = () => {
  const turn = document.querySelector("[data-turn]");
  if (!turn) return;
  for (const before of document.querySelectorAll(".work-score > .context")) before.scrollTop = before.scrollHeight;
  const bar = document.querySelector("[data-answer]").getBoundingClientRect(), { top, bottom } = turn.getBoundingClientRect();
  const isBelow = bar.left < turn.getBoundingClientRect().right && bar.top >= top;
  if (top < 0 || bottom > (isBelow ? Math.min(bar.top, innerHeight) : innerHeight)) turn.scrollIntoView({ block: "start" });
};

// A page from the browser's memory shows an item that may be answered by now.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
addEventListener("popstate", () => location.reload());

kept.tidy(user);
ready();
keys.listen(isBusy);
sendWaiting();
