// Puts a button beside every [data-copy] field that copies its text. Without this file the field can still be selected.
(() => {
  "use strict";
  const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}"); // in the page's language, where it has one
  const copy = async (field) => {
    try {
      await navigator.clipboard.writeText(field.value);
      return true;
    } catch { // no permission, or an address without HTTPS, where browsers have no clipboard
      field.select();
      return document.execCommand("copy");
    }
  };
  document.querySelectorAll("[data-copy]").forEach((field) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button button-quiet" });
    const what = Object.assign(document.createElement("span"), { className: "visually-hidden", textContent: ` ${field.dataset.copy}` });
    button.append(words.copy ?? "Copy", what);
    const said = Object.assign(document.createElement("span"), { className: "muted small" });
    said.setAttribute("aria-live", "polite");
    const row = Object.assign(document.createElement("div"), { className: "actions" });
    row.append(button, said);
    const beside = Object.assign(document.createElement("div"), { className: "copy-row" });
    field.replaceWith(beside);
    beside.append(field, row);
    button.addEventListener("click", async () => {
      const copied = await copy(field);
      button.focus();
      said.textContent = "";
      setTimeout(() => { said.textContent = copied ? words.copied ?? "Copied" : words.copy_by_hand ?? "Select the text and copy it."; }, 50); // said again each time
    });
  });
})();
