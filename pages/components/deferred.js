// @ts-check
// Tells the server when the reader comes near to a part of the page that is shown only then.

/**
 * @typedef {object} Component of Streamlit
 * @property {HTMLElement & { place?: Place }} parentElement
 * @property {{ run: number, near: boolean }} data number of the script's run, and whether the part is shown
 * @property {(name: string, value: boolean) => void} setStateValue
 */

const MARGIN = 250; // pixels around the window in which a part is near
const PATIENCE = 3000; // milliseconds without an answer after which a report was lost
const RUNNING = "[data-test-script-state=running]";

class Place {
  /** Whether the reader is near, whether all parts are asked for, and the last answer sent to the server. */
  near = false;

  wanted = false;

  told = false;

  run = -1;

  asked = 0;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  later;

  /** @type {(near: boolean) => void} */
  tell = () => {};

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {HTMLElement} */
    this.part = root.closest("[class*=st-key-near_]") ?? root;
    const margins = { root: document.querySelector("[data-testid=stMain]"), rootMargin: `${MARGIN}px 0px` };
    this.observer = new IntersectionObserver((seen) => this.look(seen), margins);
    this.observer.observe(this.part);
    this.want = (/** @type {Event} */ event) => {
      this.wanted = true;
      this.ask();
      if (event instanceof CustomEvent) event.detail?.push(this.shown());
    };
    document.addEventListener("show-all", this.want);
  }

  /** @param {IntersectionObserverEntry[]} seen */
  look(seen) {
    const last = seen[seen.length - 1];
    this.near = last.isIntersecting;
    // The part keeps its height when it is no longer shown.
    if (!this.near && this.isComplete()) this.part.style.setProperty("--place-height", `${this.part.offsetHeight}px`);
    this.ask();
  }

  /** Ask for the part if the reader is near. Streamlit takes one report at a time: of several, only the last. */
  ask() {
    clearTimeout(this.later);
    const { dataset } = this.root;
    const waits = (this.near || this.wanted) && dataset.near === "false";
    dataset.waiting = String(waits);
    if (!waits || !this.root.isConnected) return;
    if (this.told && performance.now() - this.asked > PATIENCE && !document.querySelector(RUNNING)) this.told = false;
    if (!this.told && !document.querySelector(".place[data-asked=true]")) this.answer(true);
    this.later = setTimeout(() => this.ask(), 40);
  }

  /** @param {boolean} near */
  answer(near) {
    this.told = near;
    this.asked = performance.now();
    this.root.dataset.asked = String(near);
    this.tell(near);
  }

  /** @param {{ run: number, near: boolean }} data */
  update({ run, near }) {
    const { root } = this;
    // A part that has been left is shown once more with the next settings, and no longer after that.
    const left = near && run !== this.run && this.run >= 0 && !this.near;
    if (!near && run !== this.run) {
      this.told = false; // a server that has started again knows of no reader
      root.dataset.asked = "false";
    }
    this.run = run;
    root.dataset.near = String(near);
    if (near) root.dataset.asked = "false";
    if (left) {
      this.wanted = false;
      this.answer(false);
    }
    this.ask();
  }

  /** Whether all figures of the part are drawn. */
  isComplete() {
    const charts = [...this.part.querySelectorAll("[data-testid=stPlotlyChart]")];
    const shows = charts.length > 0 || this.part.querySelector("[data-testid=stAlert]") !== null;
    return this.root.dataset.near === "true" && shows && charts.every((chart) => chart.querySelector(".main-svg"));
  }

  /** Wait until the part is complete, or gone. */
  async shown() {
    while (this.root.isConnected && !this.isComplete()) await new Promise((wake) => setTimeout(wake, 50));
  }

  leave() {
    this.observer.disconnect();
    clearTimeout(this.later);
    document.removeEventListener("show-all", this.want);
  }
}

/** @param {Component} component */
export default function (component) {
  const { parentElement, data, setStateValue } = component;
  /** @type {HTMLElement} */
  const root = parentElement.querySelector(".place");
  parentElement.place ??= new Place(root);
  const { place } = parentElement;
  place.tell = (near) => setStateValue("near", near);
  place.update(data);
  return () => {
    if (!root.isConnected) place.leave();
  };
}
