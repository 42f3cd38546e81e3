// [data-add-row="PREFIX"] adds an empty row of a Django formset from the form's <template>. Without this file the button sends
// the form, and the server adds the row.
// Of a row's settings only those of the chosen kind are shown.
(() => {
  "use strict";
  const show = (select) => {
    const parts = select.closest(".row").querySelectorAll("[data-kind]");
    parts.forEach((part) => { part.hidden = part.dataset.kind !== select.value; });
  };
  const kinds = (where) => where.querySelectorAll("select[name$='-kind']").forEach(show);
  document.addEventListener("change", ({ target }) => { if (target.matches("select[name$='-kind']")) show(target); });
  kinds(document);
  document.addEventListener("invalid", ({ target }) => { // the browser's own words need a field that is seen
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }, true);
  document.querySelectorAll("[data-add-row]").forEach((button) => {
    const form = button.form;
    const rows = form.querySelector("[data-rows]");
    const total = form.elements[`${button.dataset.addRow}-TOTAL_FORMS`];
    const most = Number(form.elements[`${button.dataset.addRow}-MAX_NUM_FORMS`].value);
    const fresh = form.querySelector("template[data-row]");
    button.type = "button";
    button.addEventListener("click", () => {
      const n = Number(total.value);
      if (n >= most) return;
      const html = fresh.innerHTML.replaceAll("__prefix__", String(n)).replaceAll("__number__", String(n + 1));
      rows.insertAdjacentHTML("beforeend", html);
      total.value = String(n + 1);
      kinds(rows.lastElementChild);
      rows.lastElementChild.querySelector("input[type=text]").focus();
    });
  });
})();
