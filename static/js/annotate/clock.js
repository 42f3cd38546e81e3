// How long somebody was at this item: the time between two signs of life counts up to a minute, a hidden page not at all.
const LONGEST_PAUSE = 60_000;
const SIGNS = ["pointermove", "pointerdown", "keydown", "scroll", "input"];
let active = 0, since = performance.now(), visible = !document.hidden;

const tick = () => {
  const now = performance.now();
  if (visible) active += Math.min(now - since, LONGEST_PAUSE);
  since = now;
  visible = !document.hidden;
};

for (const sign of SIGNS) addEventListener(sign, tick, { passive: true, capture: true });
document.addEventListener("visibilitychange", tick);

export const restart = () => { tick(); active = 0; };
export const milliseconds = () => { tick(); return Math.round(active); };
