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

  // Charts, some of which are folded away.
  for (const folded of document.querySelectorAll("details")) {
    if (folded.querySelector("figure.chart")) folded.open = true;
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

  // The page as a whole.
  const root = document.documentElement;
  require(root.scrollWidth <= innerWidth, `scrolls sideways: ${root.scrollWidth} px in ${innerWidth}`);
  require(innerWidth === expected.width, `is ${innerWidth} px wide, not ${expected.width}`);
  require(matchMedia("print").matches === (expected.media === "Print"), `is not rendered as ${expected.media}`);

  // Contrast of the text, by the formula of WCAG 2.
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/[\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const style = getComputedStyle(document.body);
  const [ink, paper] = [luminance(style.color), luminance(style.backgroundColor)];
  const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  require(contrast >= 7, `text and background have a contrast of ${contrast.toFixed(1)}`);
  require((paper < ink) === (expected.media === "Dark"), `the background is wrong for ${expected.media}`);

  return { faults, charts: charts.length, figures: figures.length };
}
