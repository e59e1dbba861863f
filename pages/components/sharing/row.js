// Copies links, and hands out the page's figures: the live picture by its own method, Plotly's by Plotly's own export.

const SCALE = 2; // of a PNG, in pixels of the file a pixel of the page
const STAYS = 4000; // milliseconds that "Copied" is seen
const FONT = "Arial, Helvetica, sans-serif"; // of a file, in which the page's own font cannot be loaded

class Sharing {
  constructor(root) {
    const find = (selector) => root.querySelector(selector);
    Object.assign(this, { root, select: find("select"), status: find(".status"), refused: find(".refused") });
    for (const button of root.querySelectorAll(".copy")) button.onclick = () => this.copy(button);
    this.select.onchange = () => (this.chosen = this.select.value);
    for (const button of root.querySelectorAll(".save")) button.onclick = () => this.save(button.dataset.format);
    // Figures come and go as the page is drawn: which there are is looked up when the reader comes here.
    for (const event of ["pointerenter", "focusin"]) root.addEventListener(event, () => this.list());
    new IntersectionObserver(() => this.list()).observe(root);
  }

  update(data) {
    this.data = data;
    this.refused.hidden = true;
    this.list();
  }

  // --- the link -----------------------------------------------------------------------------------------------------

  async copy(button) {
    const query = new URLSearchParams(this.data.query);
    if (button.matches(".projector")) query.set("projector", "true");
    const link = `${location.origin}${location.pathname}${query.size ? `?${query}` : ""}`;
    try {
      await navigator.clipboard.writeText(link);
      this.refused.hidden = true;
      this.copied(button);
    } catch { // no permission, or a page that is not served securely
      const field = this.refused.querySelector("input");
      this.refused.hidden = false;
      field.value = link;
      field.select();
    }
  }

  /** Says so on the button, which keeps its width, and to a screen reader. */
  copied(button) {
    const label = button.querySelector("span");
    this.status.textContent = "Copied";
    button.style.minWidth = `${button.offsetWidth}px`;
    button.dataset.label ??= label.textContent;
    label.textContent = "Copied";
    clearTimeout(button.back);
    button.back = setTimeout(() => {
      this.status.textContent = "";
      label.textContent = button.dataset.label;
    }, STAYS);
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** All figures of the page, the live picture first: a name for people, one for files, and how each is saved. */
  figures() {
    const found = [], live = document.querySelector(".live");
    if (live?.view?.picture) {
      found.push({ name: live.getAttribute("aria-label"), file: "live", save: (...args) => saveLive(live.view, ...args) });
    }
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
      const chart = plot.closest("[data-testid=stPlotlyChart]"), keyed = plot.closest("[class*=st-key-]");
      const file = keyed?.className.match(/st-key-(\S+)/)[1] ?? "figure";
      const name = chart?.getAttribute("aria-label") ?? file;
      if (plot.querySelector(".modebar-btn")) found.push({ name, file, save: (...args) => savePlot(plot, ...args) });
    }
    return found;
  }

  list() {
    const figures = this.figures(), names = figures.map((figure) => figure.name);
    if (names.length > 1) names.push(`all ${names.length} figures`);
    if (names.join() === [...this.select.options].map((option) => option.text).join()) return figures;
    this.select.replaceChildren(...names.map((name, k) => new Option(name, figures[k]?.file ?? "all")));
    // The reader's choice stays; without one it is the first, though that may have come last.
    if ([...this.select.options].some((option) => option.value === this.chosen)) this.select.value = this.chosen;
    return figures;
  }

  async save(format) {
    const background = getComputedStyle(this.root).getPropertyValue("--st-background-color");
    for (const figure of this.list()) {
      if (![figure.file, "all"].includes(this.select.value)) continue;
      await figure.save(format, `${this.data.page}-${figure.file}`, background);
    }
  }
}

/** Plotly's export hangs on the button of its mode bar alone, which is on the page unseen. */
function savePlot(plot, format, filename, background) {
  const { layout } = plot, { paper_bgcolor, plot_bgcolor, font, updatemenus } = layout;
  const width = Math.round(plot.clientWidth * widening(plot._fullLayout.font.family));
  plot._context.toImageButtonOptions = { format, filename, width, scale: format === "png" ? SCALE : 1 };
  // The page's own background: on a transparent one, the words of a dark theme could not be read. Buttons do nothing there.
  const changed = { paper_bgcolor: background, plot_bgcolor: background, font: { ...font, family: FONT }, updatemenus: [] };
  Object.assign(layout, changed);
  plot.querySelector(".modebar-btn").click(); // copies the layout before it returns
  Object.assign(layout, { paper_bgcolor, plot_bgcolor, font, updatemenus });
}

/** How much wider words are in a file than in the page's font: with as much more room, they meet nothing. */
function widening(family) {
  const ruler = document.createElement("canvas").getContext("2d");
  const [page, file] = [family, FONT].map((name) => {
    ruler.font = `12px ${name}`;
    return ruler.measureText("number of frequencies D, 19.75 ± 0.07 %").width;
  });
  return Math.max(1, file / page);
}

async function saveLive(view, format, filename) {
  const svg = new Blob([view.picture()], { type: "image/svg+xml" });
  if (format === "svg") return download(svg, `${filename}.svg`);
  const image = new Image(), url = URL.createObjectURL(svg);
  image.src = url;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: SCALE * image.width, height: SCALE * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  download(await new Promise((done) => canvas.toBlob(done, "image/png")), `${filename}.png`);
}

function download(blob, filename) {
  const anchor = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: filename });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
}

export default function (component) {
  const root = component.parentElement.querySelector(".sharing");
  root.sharing ??= new Sharing(root);
  root.sharing.update(component.data);
}
