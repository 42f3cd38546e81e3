// What the lines of places have beside their buttons: a letter that is dragged on to another line takes its place, and the texts
// from there on move by one. "Cannot say" and places take each other back. On a phone the lines wait behind one button, so that the
// texts have the screen.
const lines = (ranked) => [...ranked.querySelectorAll(".line")];
const placeOf = (line) => Number(line.querySelector("input:checked")?.value ?? 0);
const put = (line, place) => { line.querySelector(`input[value="${place}"]`).checked = true; };

// The lines from the best on; those without a place follow, as they stand.
const ordered = (ranked) => lines(ranked).sort((a, b) => (placeOf(a) || Infinity) - (placeOf(b) || Infinity) || 0);

const moveBefore = (ranked, moved, to) => {
  const order = ordered(ranked).filter((line) => line !== moved);
  const isLater = ordered(ranked).indexOf(moved) < ordered(ranked).indexOf(to);
  order.splice(order.indexOf(to) + Number(isLater), 0, moved);
  order.forEach((line, at) => put(line, at + 1));
  moved.querySelector("input:checked").dispatchEvent(new Event("change", { bubbles: true }));
};

let moved = null; // the line that is being dragged
document.addEventListener("dragstart", ({ target }) => { moved = target.closest?.("[data-lines] .line") ?? null; });
document.addEventListener("dragend", () => { moved = null; clearOver(); });
const clearOver = () => { for (const line of document.querySelectorAll(".line.over")) line.classList.remove("over"); };
const under = ({ target }) => {
  const line = moved && target.closest?.("[data-lines] .line");
  return line && line !== moved && line.parentNode === moved.parentNode ? line : null;
};
document.addEventListener("dragover", (event) => {
  const line = under(event);
  clearOver();
  if (!line) return;
  event.preventDefault();
  line.classList.add("over");
});
document.addEventListener("drop", (event) => {
  const line = under(event);
  if (!line) return;
  event.preventDefault();
  moveBefore(line.closest("[data-lines]"), moved, line);
});

// With a finger, which browsers do not drag with: the letter is the handle.
let finger = null; // {line, over}
document.addEventListener("pointerdown", ({ target, pointerType, pointerId }) => {
  const called = pointerType === "mouse" ? null : target.closest?.("[data-lines]:not(.ends-alone) .line .called");
  if (!called) return;
  called.setPointerCapture(pointerId);
  finger = { line: called.closest(".line"), over: null };
  finger.line.draggable = false; // or a long touch begins the browser's own
});
document.addEventListener("pointermove", ({ clientX, clientY }) => {
  if (!finger) return;
  clearOver();
  const line = document.elementFromPoint(clientX, clientY)?.closest?.("[data-lines] .line");
  finger.over = line && line !== finger.line && line.parentNode === finger.line.parentNode ? line : null;
  finger.over?.classList.add("over");
});
const lifted = ({ type }) => {
  if (!finger) return;
  const { line, over } = finger;
  finger = null;
  line.draggable = true;
  clearOver();
  if (over && type === "pointerup") moveBefore(line.closest("[data-lines]"), line, over);
};
for (const type of ["pointerup", "pointercancel"]) document.addEventListener(type, lifted);

const NARROW = matchMedia("(max-width: 40rem) and (min-height: 30rem)");
const fold = (form, isFolded) => {
  form.classList.toggle("folded", isFolded);
  form.querySelector("[data-unfold]").setAttribute("aria-expanded", String(!isFolded));
};
// The button says what the first question does.
const foldAll = () => {
  const form = document.querySelector("[data-answer]:has([data-lines])");
  if (!form || !NARROW.matches || form.querySelector("[data-unfold]")) return;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "button button-quiet", textContent: form.querySelector("legend").textContent });
  button.dataset.unfold = "";
  form.querySelector("[data-jumps]").after(button);
  fold(form, !form.querySelector(".ranked.missing, .line input:checked"));
};
document.addEventListener("click", ({ target }) => {
  const form = target.closest?.("[data-answer]:has([data-unfold])");
  if (form && target.closest("[data-unfold]")) fold(form, false);
  else if (form && target.closest("[data-jump-to]")) fold(form, true);
});
document.addEventListener("keydown", () => { // a key that answers goes where the answer is seen
  const form = document.querySelector(".folded[data-answer]");
  if (form) fold(form, false);
}, true);

document.addEventListener("change", ({ target }) => {
  const ranked = target.closest?.("[data-lines]");
  if (!ranked || target.type !== "radio") return;
  const others = target.closest(".cannot-say") ? ".line input" : ".cannot-say input";
  for (const input of ranked.querySelectorAll(others)) input.checked = false;
});

export const drawAll = () => {
  for (const ranked of document.querySelectorAll("[data-lines]:not(.ends-alone)")) {
    for (const line of lines(ranked)) line.draggable = true;
  }
  foldAll();
};
drawAll();
