// form[data-steps] shows one [data-step] at a time, with its links, Back and Next. Without this file all steps stand below each
// other. It stays one form: a field that is wrong brings its step back. [data-example] follows what is typed.
(() => {
  "use strict";
  const form = document.querySelector("form[data-steps]");
  if (!form) return;
  const steps = [...form.querySelectorAll("[data-step]")], links = [...form.querySelectorAll(".steps a")];
  const back = form.querySelector("[data-back]"), next = form.querySelector("[data-next]"), save = form.querySelector("[data-save]");
  let shown = 0;
  const show = (n, takesFocus = false) => {
    shown = n;
    steps.forEach((step, i) => { step.hidden = i !== n; });
    links.forEach((link, i) => { if (i === n) link.setAttribute("aria-current", "step"); else link.removeAttribute("aria-current"); });
    back.hidden = n === 0;
    next.hidden = n === steps.length - 1;
    save.classList.toggle("button-quiet", !next.hidden);
    if (takesFocus) { form.scrollIntoView(); steps[n].querySelector("h2").focus({ preventScroll: true }); }
  };
  links.forEach((link, i) => link.addEventListener("click", (event) => { event.preventDefault(); show(i, true); }));
  back.addEventListener("click", () => show(shown - 1, true));
  next.addEventListener("click", () => show(shown + 1, true));
  form.addEventListener("invalid", ({ target }) => { // the browser's own words need a field that is seen; the first one counts
    const of = steps.findIndex((step) => step.contains(target));
    if (of >= 0 && !steps[shown].querySelector(":invalid")) show(of);
  }, true);
  const wrong = steps.map((step) => Boolean(step.querySelector(".errorlist, [role=alert]")));
  links.forEach((link, i) => {
    if (wrong[i]) { link.classList.add("wrong"); link.append(" (to be mended)"); }
  });
  show(Math.max(wrong.indexOf(true), 0));

  const pairs = form.elements.pairwise; // what is asked of pairs alone waits for them
  const ofPairs = [...form.elements].filter(({ name, type }) => type !== "hidden" && /^pair/.test(name) && name !== "pairwise");
  const showPairs = () => ofPairs.forEach((field) => { field.closest("div").hidden = !pairs.checked; });
  pairs.addEventListener("change", showPairs);
  showPairs();

  const example = document.querySelector("[data-example]");
  let timer, asking;
  const follow = async () => {
    asking?.abort();
    asking = new AbortController();
    const typed = new FormData(form);
    typed.set("preview", "1");
    try {
      const answer = await fetch(location.href, { method: "POST", body: typed, signal: asking.signal, redirect: "error" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-example]");
      if (!page) return;
      example.replaceChildren(...page.childNodes);
      for (const number of example.querySelectorAll(".typed input")) number.dispatchEvent(new Event("input", { bubbles: true })); // slider.js
    } catch { /* the example stays as it was */ }
  };
  document.querySelector("[data-refresh]").hidden = true;
  const later = () => { clearTimeout(timer); timer = setTimeout(follow, 500); };
  form.addEventListener("input", later);
  form.addEventListener("change", later);
})();
