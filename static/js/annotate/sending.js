// One request until the server has answered it: tried again while there is no connection. Every answer carries a key, so
// what arrives twice is stored once.
const PAUSES = [1, 2, 4, 8, 15, 30]; // seconds between tries; the last one repeats
const PATIENCE = 30_000; // milliseconds until a try counts as lost

const token = (page) => page.querySelector("input[name=csrfmiddlewaretoken]")?.value ?? "";

const tryOnce = (path, fields, csrf) => fetch(path, {
  method: "POST",
  body: new URLSearchParams([...fields, ["csrfmiddlewaretoken", csrf]]),
  headers: { "X-Swap": "1" },
  signal: AbortSignal.timeout(PATIENCE),
});

// Somebody signed in or out in another tab: the token of this page is stale, a freshly loaded page's is not.
const freshToken = async () => {
  const answer = await fetch(location.href);
  return token(new DOMParser().parseFromString(await answer.text(), "text/html"));
};

const connection = (seconds) => new Promise((resolve) => {
  const timer = setTimeout(done, seconds * 1000);
  function done() { clearTimeout(timer); removeEventListener("online", done); resolve(); }
  addEventListener("online", done);
});

// Resolves with the server's answer; `waiting` is called at each try that fails.
export const send = async (path, fields, waiting) => {
  let csrf = token(document), renewed = false;
  for (let tries = 0; ; tries += 1) {
    try {
      const answer = await tryOnce(path, fields, csrf);
      if (answer.status === 403 && !renewed) {
        csrf = await freshToken();
        renewed = true;
        continue;
      }
      if (answer.status < 500) return answer;
    } catch { /* no connection, or it was cut */ }
    waiting();
    await connection(PAUSES[Math.min(tries, PAUSES.length - 1)]);
  }
};
