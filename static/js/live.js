// Fetches the page's figures anew now and then. Without this file the page's Refresh link does the same.
(() => {
  "use strict";
  const SOONEST = 2000, LATEST = 20000, WORK = 0.1; // milliseconds; the share of the time that the server works for this page
  let wait = SOONEST;
  const region = document.querySelector("[data-live]");
  const controls = document.querySelector("[data-live-controls]");
  if (!region || !controls || region.dataset.live === "over") return;
  const label = document.createElement("label");
  const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
  label.append(box, " Update by itself");
  controls.prepend(label);

  const busy = () => !box.checked || document.hidden || region.contains(document.activeElement) || String(getSelection());
  const look = async () => {
    if (!busy()) {
      const asked = performance.now();
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        if (answer.ok && !answer.redirected) {
          const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
          if (fresh && !busy()) {
            const open = [...region.querySelectorAll("details[open][id]")].map((one) => one.id);
            region.replaceChildren(...fresh.childNodes);
            for (const id of open) document.getElementById(id)?.setAttribute("open", "");
            document.dispatchEvent(new Event("comparena:changed"));
            if (fresh.dataset.live === "over") return controls.replaceChildren();
          }
        }
        wait = Math.min(LATEST, Math.max(SOONEST, (performance.now() - asked) / WORK));
      } catch {
        wait = LATEST; // the server is away: the figures stay, with the time they are from
      }
    }
    setTimeout(look, wait);
  };
  setTimeout(look, wait);
})();
