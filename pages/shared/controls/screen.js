// @ts-check
// Reports to the server whether the window is narrow and its theme dark. Sets the scale for printing, and closes the
// menu when a page is chosen.

/** @typedef {{ narrow: boolean, dark: boolean }} Look */
/**
 * @typedef {object} Component of Streamlit
 * @property {HTMLElement & { screen?: Screen }} parentElement
 * @property {Look} data look for which the server made the page
 * @property {(name: string, value: Look) => void} setStateValue
 */

const NARROW = window.matchMedia("(max-width: 639.98px)"); // where Streamlit puts columns one below the other
const PAPER = 680; // pixels: the width of A4 and Letter between their margins
const LONGEST = 30000; // milliseconds to wait for all parts before printing
const COLUMNS = "[data-testid=stHorizontalBlock]:has(> [data-testid=stColumn])";
const PAGE_LINK = "[data-testid=stSidebarNavLink]";

class Screen {
  /** @type {Look} */
  data;

  /** @type {(look: Look) => void} */
  report;

  /** The last look that was reported.
   * @type {string | undefined} */
  reported;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    NARROW.addEventListener("change", () => this.look());
    // The theme changes the class of the app.
    const app = document.querySelector("[data-testid=stApp]");
    new MutationObserver(() => this.look()).observe(app, { attributes: true, attributeFilter: ["class"] });
    new ResizeObserver(() => this.fitPaper()).observe(document.querySelector("[data-testid=stMain]") ?? app);
    document.addEventListener("click", closeMenu);
    if (!document.documentElement.hasAttribute("data-prints-all")) printWholePages();
    document.documentElement.setAttribute("data-prints-all", "");
  }

  /** Report the look of the page, if it was made for another. */
  look() {
    const { narrow, dark } = this.data;
    const seen = { narrow: NARROW.matches, dark: isDark(this.root) };
    this.root.dataset.agrees = String(narrow === seen.narrow && dark === seen.dark);
    if (this.root.dataset.agrees === "true") this.reported = undefined;
    else if (this.reported !== JSON.stringify(seen)) {
      this.reported = JSON.stringify(seen);
      this.report(seen);
    }
  }

  /** Set the factor by which the page is printed: figures do not change their width for paper. */
  fitPaper() {
    const width = document.querySelector("[data-testid=stMainBlockContainer]")?.clientWidth ?? PAPER;
    document.documentElement.style.setProperty("--paper", String(Math.min(1, PAPER / width)));
  }
}

/** @param {HTMLElement} element */
function isDark(element) {
  const app = element.closest("[data-testid=stApp]") ?? document.body;
  const [r, g, b] = getComputedStyle(app)
    .backgroundColor.match(/[\d.]+/g)
    .map(Number);
  return Math.max(r, g, b) < 128;
}

/** Let Streamlit's own Print and Ctrl+P wait until all parts of the page are shown. */
function printWholePages() {
  const print = window.print.bind(window);
  let printing = false;
  window.print = async () => {
    if (printing) return;
    printing = true;
    const end = performance.now() + LONGEST;
    do {
      /** @type {Promise<unknown>[]} */
      const shown = [];
      document.dispatchEvent(new CustomEvent("show-all", { detail: shown }));
      await Promise.all([new Promise((wake) => setTimeout(wake, 50)), ...shown]);
      // A part may have been replaced meanwhile.
    } while (document.querySelector(".place[data-near=false]") && performance.now() < end);
    printing = false;
    print();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    window.print();
  };
  window.addEventListener("keydown", keys, true);
  window.addEventListener("beforeprint", () => {
    document.dispatchEvent(new CustomEvent("show-all")); // too late for this print, in time for the next
    document.querySelectorAll(COLUMNS).forEach(markBeside);
    lighten(isDark(document.querySelector("[data-testid=stApp]")));
  });
  window.addEventListener("afterprint", () => lighten(false));
}

/** Whether the paper is light though the page is dark. @param {boolean} light */
function lighten(light) {
  document.documentElement.toggleAttribute("data-light-paper", light);
  /** @type {NodeListOf<HTMLElement & { view?: any }>} */
  const lives = document.querySelectorAll(".live");
  for (const { view } of lives) {
    if (!view?.data || view.onPaper === light) continue;
    view.onPaper = light;
    view.paint();
  }
}

/**
 * Mark for the styles of paper whether columns are side by side on the screen.
 *
 * @param {Element} columns
 */
function markBeside(columns) {
  const tops = [...columns.children].map((column) => column.getBoundingClientRect().top);
  columns.setAttribute("data-beside", String(tops.every((top) => Math.abs(top - tops[0]) < 1)));
}

/**
 * On a narrow screen the menu covers the page: close it when a page is chosen.
 *
 * @param {Event} event
 */
function closeMenu(event) {
  if (!NARROW.matches || !(event.target instanceof Element) || !event.target.closest(PAGE_LINK)) return;
  /** @type {HTMLElement | null} */
  const button = document.querySelector("[data-testid=stSidebar] button");
  button?.click();
}

/** @param {Component} component */
export default function (component) {
  const { parentElement, data, setStateValue } = component;
  /** @type {HTMLElement} */
  const root = parentElement.querySelector(".screen");
  parentElement.screen ??= new Screen(root);
  Object.assign(parentElement.screen, { data, report: (/** @type {Look} */ look) => setStateValue("look", look) });
  parentElement.screen.look();
}
