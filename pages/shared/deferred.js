// @ts-check
// Reports to the server when the reader is near to a part of the page, and requests all parts, for paper, at rest.

/**
 * @typedef {object} Component of Streamlit
 * @property {HTMLElement & { place?: Place }} parentElement
 * @property {{ run: number, near: number }} data number of the script's run, and `Place.shown`
 * @property {(name: string, value: number) => void} setStateValue
 *
 * @typedef {HTMLElement & { view?: { ink?: unknown, glideTimer: unknown } }} LiveRoot of a live view, once it is mounted
 */

const MARGIN = 250; // pixels around the window in which a part is near
const CALM = 120; // milliseconds that a part is near before it is requested: scrolling past it requests nothing
const GOING = 5000; // milliseconds in which another page opens after a click on a link
const LONGEST = 30000; // milliseconds to wait for a part, from a server that may be gone
const PATIENCE = 3000; // milliseconds without an answer after which a report counts as lost
const PICTURE_FIRST = 8000; // milliseconds at most that parts wait for the pictures in a window not yet scrolled
const REST = 3000; // milliseconds without a run or a hand on the page after which parts far away are fetched too
const POINTER = window.matchMedia("(hover: hover) and (pointer: fine)"); // phones fetch no more than they show
const HANDS = ["pointerdown", "pointermove", "click", "keydown", "wheel"];
// `wholeRun`: the run whose parts are all wanted; `reportUntil`: when the last report counts as lost
const ALL = document.documentElement.dataset;
const RUNNING = "[data-test-script-state=running]";

class Place {
  /** Whether the reader is near, whether settings have changed since the part was shown, and whether a report is sent. */
  near = false;

  left = false;

  reported = false;

  /** Reason to show the part: a time if the reader is near, minus the number of the one run that shows it, or 0. */
  shown = 0;

  run = -1;

  since = -Infinity;

  born = performance.now();

  goes = -Infinity;

  moved = performance.now();

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  later;

  /** @type {(near: number) => void} */
  tell = () => {};

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    const margins = { root: document.querySelector("[data-testid=stMain]"), rootMargin: `${MARGIN}px 0px` };
    this.observer = new IntersectionObserver((seen) => this.look(seen), margins);
    this.watch();
    this.want = (/** @type {Event} */ event) => {
      ALL.wholeRun = String(this.run);
      this.ask();
      if (event instanceof CustomEvent) event.detail?.push(this.complete());
    };
    document.addEventListener("show-all", this.want);
    // A report that comes with a change of page would leave the new page empty.
    this.go = (/** @type {Event} */ event) => {
      this.moved = performance.now();
      const presses = event.type === "pointerdown" || event.type === "click";
      if (presses && event.target instanceof Element && event.target.closest("a, [role=menuitem]"))
        this.goes = this.moved;
    };
    for (const kind of HANDS) document.addEventListener(kind, this.go, { capture: true, passive: true });
  }

  /** The part with its figures; none before Streamlit has put this into the page.
   * @returns {HTMLElement | null} */
  get part() {
    return this.root.closest("[class*=st-key-near_]");
  }

  /** Watch where the part is, once it is in the page. */
  watch() {
    if (this.part) this.observer.observe(this.part);
    else setTimeout(() => this.watch(), 10);
  }

  /** @param {IntersectionObserverEntry[]} seen */
  look(seen) {
    const last = seen[seen.length - 1];
    if (this.near !== last.isIntersecting) this.since = performance.now();
    this.near = last.isIntersecting;
    this.ask();
  }

  /**
   * Report to the server if the part has to come or to go. Streamlit takes one report at a time and drops others of the
   * same moment, so parts report one after the other.
   */
  ask() {
    clearTimeout(this.later);
    const { root } = this;
    if (!root.isConnected) return;
    const { shown } = this;
    const called = this.near || ALL.wholeRun === String(this.run);
    root.dataset.waiting = String(called && !shown);
    const stays = this.near ? shown > 0 : called || !this.left;
    if (shown && stays) return;
    const now = performance.now();
    const wanted = called || this.rests(now);
    if (!shown && !wanted) {
      this.later = setTimeout(() => this.ask(), 300);
      return;
    }
    const first = now - this.born < PICTURE_FIRST && !this.reported && arePicturesToCome();
    const calm = now - this.since > CALM && now - this.goes > GOING && !first;
    if (calm && now > Number(ALL.reportUntil ?? 0) && !(this.reported && document.querySelector(RUNNING))) {
      ALL.reportUntil = String(now + PATIENCE);
      this.reported = true;
      // A new value each time: Streamlit never sends a value twice, not even to a restarted server.
      this.tell(this.near ? Date.now() : shown ? 0 : -this.run);
    }
    this.later = setTimeout(() => this.ask(), 40);
  }

  /**
   * Whether to fetch a part far from the reader, for printing: nothing has moved or run for a while.
   *
   * @param {number} now
   */
  rests(now) {
    const { connection } = /** @type {Navigator & { connection?: { saveData: boolean } }} */ (navigator);
    const may = POINTER.matches && !document.hidden && !connection?.saveData;
    return may && now - this.moved > REST && !document.querySelector(RUNNING) && !arePicturesToCome();
  }

  /** @param {{ run: number, near: number }} data */
  update({ run, near }) {
    const { root, part } = this;
    // The part keeps its height when it is no longer shown.
    if (!near && part && isComplete(part)) part.style.setProperty("--place-height", `${part.offsetHeight}px`);
    const again = run !== this.run;
    if (again || this.shown !== near) {
      ALL.reportUntil = "0";
      this.reported = false;
    }
    if (again) this.moved = performance.now();
    // A part far away is shown once more with the next settings, and no longer after that.
    this.left = near > 0 && ((again && this.run >= 0) || this.left);
    this.run = run;
    this.shown = near;
    root.dataset.near = String(near !== 0);
    this.ask();
  }

  /** Wait until the part is complete, or gone; its elements may be replaced meanwhile.
   * @returns {Promise<boolean>} false if that takes too long */
  async complete() {
    if (!this.part) return true;
    const name = [...this.part.classList].find((one) => one.startsWith("st-key-near_"));
    const part = () => document.getElementsByClassName(name)[0];
    const end = performance.now() + LONGEST;
    while (part() && !isComplete(part())) {
      if (performance.now() > end) return false;
      await new Promise((wake) => setTimeout(wake, 50));
    }
    return true;
  }

  leave() {
    this.observer.disconnect();
    clearTimeout(this.later);
    document.removeEventListener("show-all", this.want);
    for (const kind of HANDS) document.removeEventListener(kind, this.go, true);
  }
}

/** Whether a live picture at the top is not painted yet, or moves by itself: loading Plotly would halt it. */
function arePicturesToCome() {
  if (document.querySelector("[data-testid=stMain]")?.scrollTop) return false;
  const views = [...document.querySelectorAll(".live")].map((root) => /** @type {LiveRoot} */ (root).view);
  return views.some((view) => view?.ink === undefined || view.glideTimer !== null);
}

/**
 * Whether a part is shown with all its figures.
 *
 * @param {Element} part
 */
function isComplete(part) {
  const charts = [...part.querySelectorAll("[data-testid=stPlotlyChart]")];
  const elements = "[data-testid=stElementContainer], [data-testid=stExpander]"; // one that is folded may be empty
  const more = part.querySelectorAll(elements).length > 1; // than the place itself
  const shown = part.querySelector(".place[data-near=true]") !== null && more;
  return shown && charts.every((chart) => chart.querySelector(".main-svg"));
}

/** @param {Component} component */
export default function (component) {
  const { parentElement, data, setStateValue } = component;
  /** @type {HTMLElement} */
  const root = parentElement.querySelector(".place");
  if (parentElement.place?.root !== root) {
    parentElement.place?.leave();
    parentElement.place = new Place(root);
  }
  const { place } = parentElement;
  place.tell = (near) => setStateValue("near", near);
  place.update(data);
}
