// A file can be dropped on [data-drop]. Without this file its file input does the same.
(() => {
  "use strict";
  document.querySelectorAll("[data-drop]").forEach((zone) => {
    const input = zone.querySelector("input[type=file]");
    const hint = zone.querySelector("[data-drop-hint]");
    if (hint) hint.hidden = false;
    const over = (is) => (event) => { event.preventDefault(); zone.classList.toggle("drop-over", is); };
    zone.addEventListener("dragover", over(true));
    zone.addEventListener("dragleave", over(false));
    zone.addEventListener("drop", (event) => {
      over(false)(event);
      if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
    });
  });
})();
