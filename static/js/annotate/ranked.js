// What the lines of places have beside their buttons: a letter that is dragged on to another line takes its place, and the texts
// from there on move by one. "Cannot say" and places take each other back.
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
};
drawAll();
