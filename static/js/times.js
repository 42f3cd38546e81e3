// Writes every <time datetime> in the reader's own zone; its title keeps what stood there, which is UTC. Without this file that stays.
(() => {
  "use strict";
  const DAY = { day: "numeric", month: "short", year: "numeric" };
  const MINUTE = { hour: "2-digit", minute: "2-digit" };
  const SHAPES = { day: DAY, clock: { ...MINUTE, second: "2-digit" }, undefined: { ...DAY, ...MINUTE } };
  const LANGUAGE = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
  const write = (time) => {
    const moment = new Date(time.dateTime);
    if (time.title || Number.isNaN(moment.getTime())) return;
    time.title = time.dataset.time === "day" ? time.dateTime : time.textContent;
    time.textContent = new Intl.DateTimeFormat(LANGUAGE, { ...SHAPES[time.dataset.time], numberingSystem: "latn" }).format(moment);
  };
  const all = (root) => root.querySelectorAll("time[datetime]").forEach(write);
  all(document);
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => {
    if (node.nodeType === Node.ELEMENT_NODE) { if (node.matches("time[datetime]")) write(node); all(node); }
  }))).observe(document.body, { childList: true, subtree: true });
})();
