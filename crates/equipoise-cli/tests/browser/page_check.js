// Checks a rendered page as its reader sees it, and returns one sentence per fault.
(expected) => {
  const faults = [];
  const require = (holds, fault) => { if (!holds) faults.push(fault); };
  const text = (element) => (element?.textContent ?? "").trim();
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility() && box.width > 0 && box.height > 0;
  };

  // Title and heading.
  const heading = document.querySelector("h1");
  require(document.title.includes(expected.title), `title is "${document.title}"`);
  require(heading && shown(heading) && text(heading) !== "", "no h1 is shown");

  // Key figures.
  const figures = [...document.querySelectorAll("dl.figures > div")];
  require(figures.length >= expected.figures, `${figures.length} key figures, not ${expected.figures}`);
  for (const figure of figures) {
    const name = text(figure.querySelector("dt"));
    require(name !== "" && text(figure.querySelector("dd.value")) !== "" && shown(figure),
      `key figure "${name}" is empty`);
  }

  // Charts. Some, and some tables, are folded away.
  for (const folded of document.querySelectorAll("details")) {
    folded.open = true;
  }
  const painted = (mark) => {
    const [style, box] = [getComputedStyle(mark), mark.getBBox()];
    const area = box.width > 0 && box.height > 0;
    const filled = style.fill !== "none" && area;
    // A line may have no width or no height. A shape without an area is not drawn at all.
    const extent = mark.matches("path, line") ? box.width > 0 || box.height > 0 : area;
    const stroked = style.stroke !== "none" && parseFloat(style.strokeWidth) > 0 && extent;
    return style.visibility === "visible" && style.opacity > 0 && (filled || stroked);
  };
  const charts = [...document.querySelectorAll("figure.chart")];
  require(charts.length >= expected.charts, `${charts.length} charts, not ${expected.charts}`);
  for (const chart of charts) {
    const name = `chart "${text(chart.querySelector("figcaption h3"))}"`;
    // The swatches of a legend are also drawings, but not the chart.
    const drawings = [...chart.querySelectorAll("svg:not(.swatch)")].filter(shown);
    require(drawings.length === 1, `${name} has ${drawings.length} visible drawings, not 1`);
    for (const drawing of drawings) {
      const marks = [...drawing.querySelectorAll(".bar, .line, .mark, .heat")];
      require(marks.some(painted), `${name} has no visible mark`);
    }
    require(text(chart.querySelector("figcaption p")) !== "", `${name} has no description`);
    const cells = [...chart.querySelectorAll("details table tbody td")];
    require(cells.some((cell) => text(cell) !== ""), `${name} has no table of its numbers`);
  }

  // Tables: every column is in sight. Only a matrix scrolls, and the names of its rows stay.
  for (const box of [...document.querySelectorAll(".scroll")].filter(shown)) {
    const name = `table "${box.getAttribute("aria-label")}"`;
    if (box.classList.contains("matrix")) {
      const sticky = [...box.querySelectorAll("tbody th")].every((cell) => getComputedStyle(cell).position === "sticky");
      require(expected.media === "Print" || sticky, `${name} scrolls without the names of its rows`);
    } else {
      require(box.scrollWidth <= box.clientWidth + 1, `${name} is cut off: ${box.scrollWidth} px in ${box.clientWidth}`);
      for (const cell of [...box.querySelectorAll("td, th")].filter(shown)) {
        require(cell.scrollWidth <= cell.clientWidth + 1 || cell.closest("thead"), `${name} clips "${text(cell)}"`);
      }
    }
  }
  for (const code of [...document.querySelectorAll("pre")].filter(shown)) {
    require(code.scrollWidth <= code.clientWidth + 1, `code is cut off: "${text(code)}"`);
  }

  // Bars: one without a width cannot be seen.
  for (const bar of [...document.querySelectorAll("svg:not(.swatch) .bar")].filter((bar) => bar.checkVisibility())) {
    require(bar.getBBox().width >= 2, "a bar has no width");
  }

  // Labels of drawings do not overlap.
  for (const drawing of [...document.querySelectorAll("figure.chart svg:not(.swatch)")].filter(shown)) {
    const labels = [...drawing.querySelectorAll("text")].map((label) => [text(label), label.getBoundingClientRect()]);
    labels.forEach(([name, a], i) => labels.slice(i + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Boxes include the space above and below the letters.
      require(across < 2 || down < 6, `labels "${name}" and "${other}" overlap`);
    }));
  }

  // The text itself, outside of code.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const content = walker.currentNode.textContent.trim();
    if (content !== "" && !parent.closest("script, style, title, noscript") && shown(parent)) texts.push([content, parent]);
  }
  for (const [content, parent] of texts.filter(([, parent]) => !parent.closest("code, pre"))) {
    require(!content.includes("`"), `a backtick is shown: "${content}"`);
    require(!/(?<![\w.,:/-])\d{5,}(?!\w)/.test(content), `digits are not grouped: "${content}"`);
    require(!/\d\.\d{4,}\s*s(econds)?\b/.test(content), `a time has too many digits: "${content}"`);
  }

  // The page as a whole.
  const root = document.documentElement;
  require(root.scrollWidth <= innerWidth, `scrolls sideways: ${root.scrollWidth} px in ${innerWidth}`);
  require(innerWidth === expected.width, `is ${innerWidth} px wide, not ${expected.width}`);
  require(matchMedia("print").matches === (expected.media === "Print"), `is not rendered as ${expected.media}`);

  // Contrast of the text, by the formula of WCAG 2.
  const parse = (colour) => {
    const parts = colour.match(/[\d.]+(e-?\d+)?/g).map(Number);
    const unit = colour.startsWith("color(") ? 1 : 255;
    return [...parts.slice(0, 3).map((part) => part / unit), parts[3] ?? 1];
  };
  const luminance = (colour) => {
    const [red, green, blue] = (typeof colour === "string" ? parse(colour) : colour).slice(0, 3).map((share) => {
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const style = getComputedStyle(document.body);
  const [ink, paper] = [luminance(style.color), luminance(style.backgroundColor)];
  const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  require(contrast >= 7, `text and background have a contrast of ${contrast.toFixed(1)}`);
  require((paper < ink) === (expected.media === "Dark"), `the background is wrong for ${expected.media}`);

  // Contrast of every text with what is behind it. Text on the cells of a drawn heatmap is left out.
  const background = (element) => {
    const colour = parse(getComputedStyle(element).backgroundColor);
    const [red, green, blue, alpha] = colour;
    if (alpha === 1 || !element.parentElement) return colour;
    const behind = background(element.parentElement);
    return [...[red, green, blue].map((part, i) => alpha * part + (1 - alpha) * behind[i]), 1];
  };
  const faint = new Map();
  for (const [content, parent] of texts.filter(([, parent]) => !parent.matches("svg .low, svg .mid, svg .high"))) {
    const style = getComputedStyle(parent);
    const front = luminance(parent.closest("svg") ? style.fill : style.color);
    const back = luminance(background(parent.closest("svg")?.parentElement ?? parent));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) faint.set(`${parent.tagName}.${parent.getAttribute("class")}`, `${ratio.toFixed(1)} for "${content}"`);
  }
  for (const [where, what] of faint) faults.push(`faint text in ${where}: contrast ${what}`);

  return { faults: [...new Set(faults)], charts: charts.length, figures: figures.length };
}
