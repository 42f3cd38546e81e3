// What this device keeps, for one user at a time: half-filled forms (drafts) and answers the server has not confirmed.
// Another user's drafts are dropped, never shown; another user's unconfirmed answers wait for that user.
const FORGET = 14 * 24 * 3600 * 1000; // a draft older than this is dropped
const DRAFT = "comparena:draft:", ANSWER = "comparena:answer:";

// A browser may forbid storage; then nothing is kept and everything else works.
const attempt = (action, otherwise) => { try { return action(); } catch { return otherwise; } };
const read = (name) => attempt(() => JSON.parse(localStorage.getItem(name)), null);
const write = (name, value) => attempt(() => localStorage.setItem(name, JSON.stringify(value)));
const drop = (name) => attempt(() => localStorage.removeItem(name));
const names = (prefix) => attempt(() => Object.keys(localStorage).filter((name) => name.startsWith(prefix)), []);

const draftOf = (user, form) => `${DRAFT}${user}:${form.elements.assignment.value}`;
const filledIn = (form) => [...new FormData(form)].filter(([name]) => form.elements[name]?.type !== "hidden");

export const tidy = (user) => {
  for (const name of names(DRAFT)) {
    const draft = read(name);
    if (!name.startsWith(`${DRAFT}${user}:`) || !draft || Date.now() - draft.at > FORGET) drop(name);
  }
};
export const saveDraft = (user, form) => write(draftOf(user, form), { at: Date.now(), fields: filledIn(form) });
export const dropDraft = (user, assignment) => drop(`${DRAFT}${user}:${assignment}`);
export const restoreDraft = (user, form) => {
  for (const [name, value] of read(draftOf(user, form))?.fields ?? []) {
    const named = form.elements[name] ?? [];
    for (const input of named instanceof RadioNodeList ? named : [named].flat()) {
      if (input.type === "radio") input.checked = input.value === value || input.checked;
      else input.value = value;
    }
  }
};

export const saveAnswer = (user, answer) => write(`${ANSWER}${user}:${answer.key}`, answer);
export const dropAnswer = (user, answer) => drop(`${ANSWER}${user}:${answer.key}`);
export const answersOf = (user) => names(`${ANSWER}${user}:`).map(read).filter(Boolean).sort((a, b) => a.at - b.at);
