// Follows every [data-job-url] on the page: once a second, until the job is finished; then the page is loaded anew.
(() => {
  "use strict";
  const put = (box, name, value) => {
    const element = box.querySelector(`[data-job-${name}]`);
    if (element && element.textContent !== value) element.textContent = value;
  };
  const follow = (box) => {
    const look = async () => {
      let wait = 1000;
      try {
        const answer = await fetch(box.dataset.jobUrl, { headers: { Accept: "application/json" } });
        if (!answer.ok) throw new Error(String(answer.status));
        const job = await answer.json();
        if (job.finished) return location.reload();
        const bar = box.querySelector("[data-job-progress]");
        if (bar) bar.value = job.progress;
        put(box, "status", job.status_text || job.status);
        put(box, "message", job.message || "");
        put(box, "left", job.left || "");
        const alone = box.querySelector("[data-job-no-worker]");
        if (alone) alone.hidden = job.worker_alive !== false;
        box.dispatchEvent(new CustomEvent("job:progress", { detail: job, bubbles: true }));
      } catch {
        wait = 5000; // the server is away or the session ended: ask less often
      }
      setTimeout(look, wait);
    };
    setTimeout(look, 1000);
  };
  document.querySelectorAll("[data-job-url]").forEach(follow);
})();
