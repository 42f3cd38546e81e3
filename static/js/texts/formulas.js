// Sets the formulas of texts in Markdown, on any page that has some. KaTeX is fetched with the first of them and builds
// elements: their styles are set by script, which the page's policy allows, while style="" in HTML would be refused.
const KATEX = new URL("../../vendor/katex/", import.meta.url);
const LONGEST = 5000; // characters of one formula
const OPTIONS = { throwOnError: true, trust: false, strict: "ignore", maxSize: 20, maxExpand: 500 };
const SELECTOR = ".formula:not([data-set])";

const arrived = (element) => new Promise((resolve, reject) => {
  element.onload = resolve;
  element.onerror = reject;
  document.head.append(element);
});
let katex = null; // a promise, from the first formula on
const fetchKatex = () => Promise.all([
  arrived(Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("katex.min.css", KATEX) })),
  arrived(Object.assign(document.createElement("script"), { src: new URL("katex.min.js", KATEX) })),
]);

const setFormula = (place) => {
  const source = place.textContent, delimiter = /^(\$\$?|\\.)/.exec(source)[0].length;
  const displayMode = place.classList.contains("display");
  place.dataset.set = "";
  if (source.length > LONGEST) return;
  try {
    window.katex.render(source.slice(delimiter, -delimiter), place, { ...OPTIONS, displayMode });
  } catch {
    place.textContent = source; // not LaTeX after all: the text as it is written
  }
  if (displayMode && place.scrollWidth > place.clientWidth) place.tabIndex = 0; // to be scrolled by keyboard
};

const setAll = async () => {
  if (!document.querySelector(SELECTOR)) return;
  katex ??= fetchKatex();
  try { await katex; } catch { return; } // the formulas stay as they are written
  document.querySelectorAll(SELECTOR).forEach(setFormula);
};

new MutationObserver(setAll).observe(document.body, { childList: true }); // the next item's <main>
setAll();
