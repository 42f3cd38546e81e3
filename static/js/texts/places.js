// On a narrow screen text B stands under text A: buttons go to either, and from a place in one to the same place in the other.
const BELOW_TOP = 8; // pixels that stay free above the text
const text = (side) => document.querySelector(`[data-side="${side}"]`);

// The text that the middle of the screen shows, else the nearer one.
const inSight = () => {
  const middle = innerHeight / 2, far = (side) => {
    const { top, bottom } = text(side).getBoundingClientRect();
    return Math.max(top - middle, middle - bottom, 0);
  };
  return far("left") <= far("right") ? "left" : "right";
};

const go = (side, share = 0) => {
  const { top, height } = text(side).getBoundingClientRect();
  scrollBy(0, top + share * height - BELOW_TOP);
};

const jump = (where) => {
  if (where !== "other") return go(where);
  const here = inSight(), { top, height } = text(here).getBoundingClientRect();
  go(here === "left" ? "right" : "left", Math.min(1, Math.max(0, (BELOW_TOP - top) / height)));
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-jump]"), letter = target.closest("[data-jump-to]")?.dataset.jumpTo; // one of several texts
  if (button) jump(button.dataset.jump);
  else if (letter) scrollBy(0, document.querySelector(`[data-text="${letter}"]`).getBoundingClientRect().top - BELOW_TOP);
});

// A text that scrolls by itself is reached by Tab (the score's page on a wide screen).
export const reachPanes = () => {
  for (const pane of document.querySelectorAll(".work-score > .context, .judged > .output, .answer")) {
    if (pane.scrollHeight > pane.clientHeight + 1 && getComputedStyle(pane).overflowY === "auto") pane.tabIndex = 0;
  }
};
