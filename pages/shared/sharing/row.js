// @ts-check
// Copies links and saves the page's figures: the live view by its own method, Plotly's figures by Plotly's export.

import { Panel } from "./panel.js";

/** @import { Code, Query } from "./panel.js" */
/** @typedef {"png" | "svg"} Format */
/** @typedef {{ page: string, query: Query, code: Code | null, mark?: string }} Data `mark` is between address and query */
/** @typedef {(name: string, value: string) => void} Report */
/** @typedef {HTMLElement & { sharing?: Sharing }} Root */
/** @typedef {{ picture: () => string }} LiveView */
/** @typedef {HTMLElement & { data: any[], layout: any, _fullLayout: any, _context: any }} Plot an element with Plotly's own fields */
/**
 * @typedef {object} Figure
 * @property {string} name for the reader
 * @property {string} file
 * @property {(format: Format, filename: string) => Promise<void> | void} save
 */

const SCALE = 2; // pixels of a PNG per pixel of the page
const FEEDBACK = 4000; // milliseconds for which "Copied" is shown
const GROUND = "#ffffff"; // of a file
const COLOUR = /^#[0-9a-f]{6}$|^rgba?\([\d., ]+\)$/i;
const NEUTRAL = 28; // the most by which the channels of a grey differ
const FONT = "Arial, Helvetica, sans-serif"; // of a file, which cannot load the page's own font

class Sharing {
  /** @type {Data} */
  data;

  /** @type {Report} */
  report;

  /** File of the figure that the reader chose.
   * @type {string | undefined} */
  chosen;

  /** @type {Map<HTMLElement, ReturnType<typeof setTimeout>>} */
  feedback = new Map();

  /** @param {Root} root */
  constructor(root) {
    this.root = root;
    /** @type {HTMLSelectElement} */
    this.select = root.querySelector("select.figure");
    /** @type {HTMLElement} */
    this.status = root.querySelector(".status");
    /** @type {HTMLElement} */
    this.refused = root.querySelector(".refused");
    this.button(".copy").onclick = () => this.copyLink();
    this.panel = new Panel(
      root.querySelector("dialog"),
      (...copied) => this.copy(...copied),
      (link) => this.report("link", link),
    );
    this.button(".open-panel").onclick = () => this.panel.open();
    /** @type {NodeListOf<HTMLButtonElement>} */
    const saving = root.querySelectorAll(".save");
    for (const button of saving) {
      button.onclick = () => this.save(/** @type {Format} */ (button.dataset.format));
    }
    this.select.onchange = () => {
      this.chosen = this.select.value;
      this.list();
    };
    // Figures come and go: the list is made when the reader comes to the row.
    for (const event of ["pointerenter", "focusin"]) root.addEventListener(event, () => this.listAll());
    new IntersectionObserver(() => this.list()).observe(root);
  }

  /** @param {string} selector @returns {HTMLButtonElement} */
  button(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    this.data = data;
    this.report = report;
    this.refused.hidden = true;
    this.panel.update(data.query, data.code);
    this.list();
  }

  // --- the link -----------------------------------------------------------------------------------------------------

  /** Copy a link to the page as it is. */
  async copyLink() {
    const query = new URLSearchParams(this.data.query);
    const { mark = "?" } = this.data;
    const link = `${location.href.replace(/[?#].*/, "")}${query.size ? `${mark}${query}` : ""}`;
    this.refused.hidden = true;
    const field = this.refused.querySelector("input");
    if (await this.copy(this.button(".copy"), link, field)) return;
    this.refused.hidden = false;
    field.select();
  }

  /**
   * Copy a text, and return whether the browser allows it; if not, the text is selected in a field.
   *
   * @param {HTMLButtonElement} button @param {string} text @param {HTMLInputElement | HTMLTextAreaElement} field
   */
  async copy(button, text, field) {
    try {
      await navigator.clipboard.writeText(text);
      this.confirm(button);
      return true;
    } catch {
      // No permission, or a page that is not served securely.
      field.value = text;
      field.select();
      return false;
    }
  }

  /**
   * Show "Copied" on the button, which keeps its width, and announce it to screen readers.
   *
   * @param {HTMLButtonElement} button
   */
  confirm(button) {
    const label = button.querySelector("span");
    this.status.textContent = "Copied";
    button.style.minWidth = `${button.offsetWidth}px`;
    button.dataset.label ??= label.textContent;
    label.textContent = "Copied";
    clearTimeout(this.feedback.get(button));
    const end = () => {
      this.status.textContent = "";
      label.textContent = button.dataset.label;
    };
    this.feedback.set(button, setTimeout(end, FEEDBACK));
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /**
   * All figures of the page, the live view first.
   *
   * @returns {Figure[]}
   */
  figures() {
    /** @type {Figure[]} */
    const figures = [];
    /** @type {HTMLElement & { view?: LiveView } | null} */
    const live = document.querySelector(".live");
    const view = live?.view;
    if (view) {
      const save = (/** @type {Format} */ format, /** @type {string} */ file) => saveLive(view, format, file);
      figures.push({ name: live.getAttribute("aria-label"), file: "live", save });
    }
    /** @type {NodeListOf<Plot>} */
    const plots = document.querySelectorAll(".js-plotly-plot");
    for (const plot of plots) {
      if (!modeBarButton(plot)) continue;
      const keyed = plot.closest("[class*=st-key-]");
      const file = keyed?.className.match(/st-key-(\S+)/)[1] ?? "figure";
      const name = plot.closest("[data-testid=stPlotlyChart]")?.getAttribute("aria-label") ?? file;
      figures.push({ name, file, save: (...options) => savePlot(plot, ...options) });
    }
    return figures;
  }

  /** Write the names of all figures into the list, unless they are there, and return the figures. */
  list() {
    const figures = this.figures();
    this.root.classList.toggle("without-figures", !figures.length);
    const names = figures.map((figure) => figure.name);
    if (names.length > 1) names.push(`all ${names.length} figures`);
    const options = [...this.select.options];
    if (names.join() === options.map((option) => option.text).join()) return figures;
    const files = names.map((_, k) => figures[k]?.file ?? "all");
    this.select.replaceChildren(...names.map((name, k) => new Option(name, files[k])));
    // Without a choice of the reader the first figure is selected, even where it was painted last.
    if (files.includes(this.chosen)) this.select.value = this.chosen;
    return figures;
  }

  /** List the figures of the whole page, also of parts that are not shown yet. */
  async listAll() {
    /** @type {Promise<unknown>[]} */
    const shown = [];
    document.dispatchEvent(new CustomEvent("show-all", { detail: shown }));
    this.list();
    await Promise.all(shown);
    return this.list();
  }

  /** @param {Format} format */
  async save(format) {
    for (const figure of this.select.value === "all" ? await this.listAll() : this.list()) {
      if (![figure.file, "all"].includes(this.select.value)) continue;
      await figure.save(format, `${this.data.page}-${figure.file}`);
    }
  }
}

/**
 * The button of Plotly's mode bar, which is hidden on the page: only it can start Plotly's export.
 *
 * @param {Plot} plot
 * @returns {HTMLElement | null}
 */
function modeBarButton(plot) {
  return plot.querySelector(".modebar-btn");
}

/** @param {Plot} plot @param {Format} format @param {string} filename */
function savePlot(plot, format, filename) {
  const { layout, data } = plot;
  const kept = { ...layout };
  const lines = data.map(({ line }) => line);
  const width = Math.round(plot.clientWidth * widening(plot._fullLayout.font.family));
  plot._context.toImageButtonOptions = { format, filename, width, scale: format === "png" ? SCALE : 1 };
  if (isDark()) lighten(plot);
  // Buttons do nothing in a file.
  Object.assign(layout, {
    paper_bgcolor: GROUND,
    plot_bgcolor: GROUND,
    font: { ...layout.font, family: FONT },
    /** @type {object[]} */
    updatemenus: [],
  });
  modeBarButton(plot).click(); // copies data and layout before it returns
  for (const [k, line] of lines.entries()) data[k].line = line;
  for (const name of Object.keys(layout)) if (!(name in kept)) delete layout[name];
  Object.assign(layout, kept);
}

function isDark() {
  const [r, g, b] = channels(getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor);
  return Math.max(r, g, b) < 128;
}

/**
 * Give a figure of the dark theme the colours of the light one, which paper and slides need.
 *
 * @param {Plot} plot
 */
function lighten({ layout, data }) {
  const light = layout.meta?.light;
  for (const [name, value] of Object.entries(layout)) if (name !== "meta") layout[name] = withLightGreys(value);
  for (const [name, colorscale] of Object.entries(light?.scales ?? {})) layout[name] = { ...layout[name], colorscale };
  for (const [k, color] of Object.entries(light?.lines ?? {}))
    data[Number(k)].line = { ...data[Number(k)].line, color };
}

/**
 * A copy in which light greys are dark ones and the other way round.
 *
 * @param {any} value
 * @returns {any}
 */
function withLightGreys(value) {
  if (typeof value === "string" && COLOUR.test(value)) {
    const [r, g, b, a = 1] = channels(value);
    if (Math.max(r, g, b) - Math.min(r, g, b) > NEUTRAL) return value;
    return `rgba(${255 - r}, ${255 - g}, ${255 - b}, ${a})`;
  }
  if (Array.isArray(value)) return value.map(withLightGreys);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withLightGreys(part)]));
}

/**
 * Red, green and blue from 0 to 255, and the opacity if it is named.
 *
 * @param {string} colour "#rrggbb", "rgb(...)" or "rgba(...)"
 */
function channels(colour) {
  if (!colour.startsWith("#")) return colour.match(/[\d.]+/g).map(Number);
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

/**
 * How many times wider text is in a file than in the page's font: a figure wider by as much has no overlaps.
 *
 * @param {string} family
 */
function widening(family) {
  const ruler = document.createElement("canvas").getContext("2d");
  const [page, file] = [family, FONT].map((name) => {
    ruler.font = `12px ${name}`;
    return ruler.measureText("number of frequencies D, 19.75 ± 0.07 %").width;
  });
  return Math.max(1, file / page);
}

/** @param {LiveView} view @param {Format} format @param {string} filename */
async function saveLive(view, format, filename) {
  const svg = new Blob([view.picture()], { type: "image/svg+xml" });
  if (format === "svg") return download(svg, `${filename}.svg`);
  const image = new Image();
  const url = URL.createObjectURL(svg);
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.width;
  canvas.height = SCALE * image.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  download(await new Promise((done) => canvas.toBlob(done, "image/png")), `${filename}.png`);
}

/** @param {Blob} blob @param {string} filename */
function download(blob, filename) {
  const anchor = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: filename });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
}

/**
 * @param {{ parentElement: HTMLElement, data: Data, setStateValue: Report }} component
 */
export default function (component) {
  /** @type {Root} */
  const root = component.parentElement.querySelector(".sharing");
  root.sharing ??= new Sharing(root);
  root.sharing.update(component.data, (name, value) => component.setStateValue(name, value));
}
