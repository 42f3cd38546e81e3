// Questions that are asked only after some answers to an earlier one. What is not asked is hidden and not sent, and an answer
// that was given to it is gone.
const answerOn = (form, name) => {
  const scale = [...form.querySelectorAll("[data-scale]")].find(({ dataset }) => dataset.scale === name);
  const input = scale?.querySelector("input[type=radio]:checked:not(:disabled)") ?? scale?.querySelector("input[type=number]:not(:disabled)");
  return input ? parseFloat(input.value) : NaN; // "cannot say" is no number
};

const clear = (question) => {
  for (const input of question.querySelectorAll("input[type=radio], input[type=checkbox]")) input.checked = false;
  for (const input of question.querySelectorAll("input[type=number]")) {
    input.value = "";
    input.dispatchEvent(new Event("input", { bubbles: true })); // its slider follows
  }
};

export const drawAll = () => {
  const form = document.querySelector("[data-answer]");
  for (const question of form?.querySelectorAll("[data-asked-if]") ?? []) { // in order: a condition may stand on another
    const { askedIf, from, to } = question.dataset, value = answerOn(form, askedIf);
    const isAsked = value >= Number(from) && value <= Number(to), wasAsked = !question.hidden;
    question.hidden = question.disabled = !isAsked;
    if (!isAsked && wasAsked) clear(question);
  }
};

for (const event of ["input", "change"]) document.addEventListener(event, drawAll);
drawAll();
