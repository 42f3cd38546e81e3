// Keys for the annotator's pages. Without this file the pages are plain forms and work the same, by mouse, touch and Tab.
(() => {
  "use strict";
  const form = document.querySelector("[data-answer]");
  if (!form) return;
  const scales = [...form.querySelectorAll("[data-scale]")];
  const said = document.querySelector("[data-said]");
  const say = (text) => { if (said) said.textContent = text; };
  let last = null; // the criterion a digit scored last

  // Guidelines and keys open as dialogs over the item; their links stay for those without JavaScript.
  const open = (name) => {
    const dialog = document.getElementById(name);
    if (dialog && !dialog.open) dialog.showModal();
  };
  document.querySelectorAll("[data-open]").forEach((opener) => {
    opener.hidden = false;
    opener.addEventListener("click", (event) => { event.preventDefault(); open(opener.dataset.open); });
  });

  // One answer leaves once. The server counts it once anyway, by its key.
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    const button = form.querySelector("button");
    button.setAttribute("aria-disabled", "true");
    button.textContent = "Sending…";
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  const answered = (scale) => Boolean(scale.querySelector("input:checked")) || Boolean(scale.querySelector("input[type=number]")?.value);
  const focusOn = (scale) => (scale.querySelector("input:checked") || scale.querySelector("input")).focus();
  const current = () => scales.find((scale) => scale.contains(document.activeElement)) || scales.find((scale) => !answered(scale)) || last || scales[0];

  const score = (digit) => {
    const scale = current();
    const point = (value) => scale.querySelector(`input[type=radio][value="${value}"]`);
    const input = point(digit) || (digit === "0" && point("10"));
    const name = scale.querySelector("legend").textContent;
    if (!input) return say(`${name} has no ${digit}.`);
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    last = scale;
    const next = scales[scales.indexOf(scale) + 1];
    if (next) focusOn(next);
    else { input.focus(); say(`${name}: ${input.value}. Enter sends.`); }
  };

  const back = () => {
    const before = scales[scales.indexOf(current()) - 1];
    if (before) focusOn(before);
  };

  const choose = (value) => {
    const input = form.querySelector(`input[name=choice][value=${value}]`);
    input.checked = true;
    input.focus();
    say(`${input.closest("label").textContent.trim()}. Enter sends.`);
  };
  const CHOICES = { a: "left", ArrowLeft: "left", t: "tie", b: "right", ArrowRight: "right" };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    const at = event.target;
    const typing = at.matches("textarea, input:not([type=radio])");
    const onControl = at.matches("button, a, summary");
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "Enter") {
      if (onControl) return;
      event.preventDefault();
      return form.requestSubmit();
    }
    if (typing) return;
    let used = true;
    if (key === "g") open("guidelines");
    else if (key === "?") open("keys");
    else if (key === "u") document.querySelector("[data-undo]")?.requestSubmit();
    else if (form.dataset.answer === "choice" && key in CHOICES) choose(CHOICES[key]);
    else if (scales.length && /^[0-9]$/.test(key)) score(key);
    else if (scales.length && key === "Backspace") back();
    else used = false;
    if (used) event.preventDefault();
  });
})();
