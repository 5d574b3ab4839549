// Keeps a round's page up to date: one stream of events, and the page itself again when it is behind.
(() => {
  "use strict";
  const main = () => document.querySelector("main[data-events]");
  const sign = document.getElementById("live");
  const FIRST_WAIT = 1000, LONGEST_WAIT = 60000;
  let source = null, wait = FIRST_WAIT, pending = null;

  const tell = (text, away) => {
    if (!sign) return;
    sign.textContent = text;
    sign.hidden = text === "";
    sign.classList.toggle("away", away);
  };

  const stop = () => {
    source?.close();
    source = null;
  };

  const later = () => {
    stop();
    tell("The server does not answer; trying again …", true);
    // Many readers must not come back in the same moment.
    setTimeout(listen, wait * (0.5 + Math.random()));
    wait = Math.min(2 * wait, LONGEST_WAIT);
  };

  const version = (info) => {
    const refused = Object.values(info.refused ?? {}).reduce((sum, n) => sum + n, 0);
    return `${info.state}/${info.n_submissions}/${refused}`;
  };

  const refresh = async () => {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (!answer.ok) throw new Error("no page");
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.querySelector("main").replaceWith(page.querySelector("main"));
    } catch {
      pending = null;
      return later();
    }
    pending = null;
    if (!main() || main().dataset.over === "yes") {
      stop();
      tell("", false);
    }
  };

  const number = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "–");

  const showProgress = (progress) => {
    const put = (name, text) => {
      const place = document.querySelector(`[data-live="${name}"]`);
      if (place) place.textContent = text;
    };
    put("step", `${progress.done} of ${progress.of}`);
    for (const name of ["rho", "objective", "violation"]) put(name, number(progress[name]));
    const bar = document.querySelector("progress");
    if (bar) {
      bar.max = Math.max(progress.of, 1);
      bar.value = progress.done;
    }
  };

  const onRound = (event) => {
    const info = JSON.parse(event.data);
    wait = FIRST_WAIT;
    tell("This page updates itself.", false);
    if (info.progress) showProgress(info.progress);
    if (main() && version(info) !== main().dataset.version) {
      pending ??= setTimeout(refresh, 100 + 500 * Math.random());
    }
  };

  const listen = () => {
    if (!main()) return;
    source = new EventSource(main().dataset.events);
    source.addEventListener("round", onRound);
    source.onerror = later;
  };

  const relative = (seconds) => {
    const size = Math.abs(seconds);
    const [n, unit] = size < 5400 ? [size / 60, "minute"] : size < 129600 ? [size / 3600, "hour"] : [size / 86400, "day"];
    if (size < 60) return seconds > 0 ? "in less than a minute" : "just now";
    const words = `${Math.round(n)} ${unit}${Math.round(n) === 1 ? "" : "s"}`;
    return seconds > 0 ? `in ${words}` : `${words} ago`;
  };

  setInterval(() => {
    for (const time of document.querySelectorAll("time[data-relative]")) {
      time.textContent = relative((Date.parse(time.dateTime) - Date.now()) / 1000);
    }
  }, 30000);

  if (main() && main().dataset.over !== "yes") listen();
})();
