// Paints the figures of the examples when the reader comes near, in the colours of the theme and for the screen's width,
// and fits the frames of live views.

const NARROW = window.matchMedia("(max-width: 719.98px)");
const here = new URL(document.currentScript.src);
let plotly = null;

function loaded() {
  plotly ??= new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = new URL("plotly.min.js", here).href;
    script.addEventListener("load", () => resolve(window.Plotly));
    document.head.append(script);
  });
  return plotly;
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

/** The figure with a white centre of its maps in a light theme; it comes with a dark one. */
function coloured(figure) {
  const { layout, data } = figure;
  const light = layout.meta?.light;
  if (!isDark() && light) {
    for (const [axis, scale] of Object.entries(light.scales)) layout[axis].colorscale = scale;
    for (const [trace, colour] of Object.entries(light.lines)) data[trace].line.color = colour;
  }
  const ink = getComputedStyle(document.body).color;
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0, 0, 0, 0)";
  layout.font = { ...layout.font, color: ink };
  layout.autosize = true;
  delete layout.height; // the page has it, see site.css
  for (const name of Object.keys(layout).filter((key) => key.startsWith("legend"))) {
    layout[name].tracegroupgap = 0;
    if (NARROW.matches) layout[name].font = { size: 10.5 }; // the space was measured for narrow letters
  }
  for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) {
    layout[name] = {
      gridcolor: "rgba(128, 128, 128, 0.3)",
      zerolinecolor: "rgba(128, 128, 128, 0.5)",
      ...layout[name],
    };
  }
  delete layout.template;
  return figure;
}

async function paint(place) {
  const kind = NARROW.matches ? "narrow" : "wide";
  const figure = coloured(JSON.parse(place.querySelector(`script.${kind}`).textContent));
  const canvas = place.querySelector(".canvas");
  const Plotly = await loaded();
  const config = { responsive: true, displaylogo: false, displayModeBar: false };
  await Plotly.newPlot(canvas, figure.data, figure.layout, config);
  if (figure.frames?.length) await Plotly.addFrames(canvas, figure.frames);
  place.dataset.painted = kind;
}

function start() {
  const places = [...document.querySelectorAll(".rff-figure")];
  if (places.length === 0) return;
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
        near.unobserve(target);
        paint(target);
      }
    },
    { rootMargin: "600px" },
  );
  places.forEach((place) => near.observe(place));
  const again = () => places.filter((place) => place.dataset.painted).forEach(paint);
  NARROW.addEventListener("change", again);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  window.addEventListener("beforeprint", () => places.forEach(paint));
}

/** Gives the page in a frame the site's colours, and the frame the height of the page. */
function join(frame) {
  const inside = frame.contentDocument; // null where pages are files, which may not read each other
  const view = inside?.querySelector(".live");
  if (!view) return;
  const colour = () => {
    inside.documentElement.style.colorScheme = isDark() ? "dark" : "light";
    view.view?.request();
  };
  const fit = () => {
    frame.style.height = `${Math.ceil(inside.body.getBoundingClientRect().height)}px`;
  };
  new MutationObserver(colour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  new ResizeObserver(fit).observe(inside.body);
  colour();
}

for (const frame of document.querySelectorAll("iframe.rff-live")) {
  frame.addEventListener("load", () => join(frame));
  if (frame.contentDocument?.readyState === "complete") join(frame);
}

start();
