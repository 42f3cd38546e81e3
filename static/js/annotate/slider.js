// A slider beside the number that is sent. It shows no thumb until somebody has answered, so that no place is suggested.
const sliders = () => document.querySelectorAll("[data-slider]");
const numberOf = (slider) => slider.closest("[data-scale]").querySelector("input[type=number]");

// The slider stands where the number says.
const follow = (slider) => {
  const { value } = numberOf(slider), isAnswered = value !== "";
  slider.hidden = false;
  slider.classList.toggle("unanswered", !isAnswered);
  if (isAnswered) {
    slider.value = value;
    slider.removeAttribute("aria-valuetext");
  } else {
    slider.value = slider.min; // the track is empty
    slider.setAttribute("aria-valuetext", slider.dataset.unanswered);
  }
};

export const followAll = () => sliders().forEach(follow);

const answer = (slider) => {
  const number = numberOf(slider);
  number.value = slider.value;
  number.dispatchEvent(new Event("input", { bubbles: true }));
};

document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-slider]")) answer(target);
  else if (target.matches("[data-scale] input[type=number]")) target.closest("[data-scale]").querySelectorAll("[data-slider]").forEach(follow);
});

// The lowest point, where an unanswered slider stands, is an answer that moves nothing.
const isMove = ({ type, key }) => type === "pointerup" || /^(Arrow|Page|Home|End)/.test(key);
for (const name of ["pointerup", "keyup"]) {
  document.addEventListener(name, (event) => {
    if (event.target.matches?.("[data-slider].unanswered") && isMove(event)) answer(event.target);
  });
}

// Whoever cannot say has no number.
document.addEventListener("change", ({ target }) => {
  const scale = target.matches("input[type=radio]") ? target.closest("[data-scale]") : null;
  if (!scale?.querySelector("[data-slider]")) return;
  scale.querySelector("input[type=number]").value = "";
  scale.querySelectorAll("[data-slider]").forEach(follow);
});

followAll();
