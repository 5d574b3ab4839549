// Keeps a round's page up to date: follows the event stream, and reloads the content when it is out of date.
(() => {
  "use strict";
  const main = () => document.querySelector("main[data-events]");
  const status = document.getElementById("live");
  const MIN_DELAY = 1000, MAX_DELAY = 60000;
  let source = null, delay = MIN_DELAY, pending = null;
  // The newest version that the event stream announced since the last reload began.
  let announced = null;

  const showStatus = (text, offline) => {
    if (!status) return;
    status.textContent = text;
    status.hidden = text === "";
    status.classList.toggle("offline", offline);
  };

  const stop = () => {
    source?.close();
    source = null;
  };

  const reconnect = () => {
    stop();
    showStatus("Connection lost. Reconnecting…", true);
    // Jitter keeps many readers from reconnecting at the same time.
    setTimeout(listen, delay * (0.5 + Math.random()));
    delay = Math.min(2 * delay, MAX_DELAY);
  };

  const version = (info) => {
    const refused = Object.values(info.refused ?? {}).reduce((sum, n) => sum + n, 0);
    return `${info.state}/${info.n_submissions}/${refused}`;
  };

  const refreshIfStale = () => {
    if (main() && announced !== null && announced !== main().dataset.version) {
      pending ??= setTimeout(refresh, 100 + 500 * Math.random());
    }
  };

  const refresh = async () => {
    announced = null;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.querySelector("main").replaceWith(page.querySelector("main"));
    } catch {
      pending = null;
      return reconnect();
    }
    pending = null;
    if (!main() || main().dataset.over === "yes") {
      stop();
      showStatus("", false);
    } else {
      // The round may have changed while its page was on the way.
      refreshIfStale();
    }
  };

  const number = (value) => {
    if (!Number.isFinite(value)) return "–";
    const rounded = Number(value.toPrecision(4));
    return Math.abs(rounded) < 1000 ? String(rounded) : rounded.toLocaleString("en");
  };

  const showProgress = (progress) => {
    const put = (name, text) => {
      const element = document.querySelector(`[data-live="${name}"]`);
      if (element) element.textContent = text;
    };
    put("step", `${number(progress.done)} of ${number(progress.of)}`);
    for (const name of ["rho", "objective", "violation"]) put(name, number(progress[name]));
    const bar = document.querySelector("progress");
    if (bar) {
      bar.max = Math.max(progress.of, 1);
      bar.value = progress.done;
    }
  };

  const onRound = (event) => {
    const info = JSON.parse(event.data);
    delay = MIN_DELAY;
    showStatus("Live: this page updates automatically.", false);
    if (info.progress) showProgress(info.progress);
    announced = version(info);
    refreshIfStale();
  };

  const listen = () => {
    if (!main()) return;
    source = new EventSource(main().dataset.events);
    source.addEventListener("round", onRound);
    source.onerror = reconnect;
  };

  const relative = (seconds) => {
    const size = Math.abs(seconds);
    const [n, unit] = size < 5400 ? [size / 60, "minute"] : size < 129600 ? [size / 3600, "hour"]
      : size < 63072000 ? [size / 86400, "day"] : [size / 31557600, "year"];
    if (size < 60) return seconds > 0 ? "in less than a minute" : "just now";
    const text = `${Math.round(n)} ${unit}${Math.round(n) === 1 ? "" : "s"}`;
    return seconds > 0 ? `in ${text}` : `${text} ago`;
  };

  setInterval(() => {
    for (const time of document.querySelectorAll("time[data-relative]")) {
      time.textContent = relative((Date.parse(time.dateTime) - Date.now()) / 1000);
    }
  }, 30000);

  if (main() && main().dataset.over !== "yes") listen();
})();
