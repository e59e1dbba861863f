// @ts-check
// One landmark enlarged, in a dialog: its map as a sum of cosines that grows one by one, the heaviest first, the plane
// of its frequencies, and how far the sum has come.

import { evenTicks, paintCurve, paintLevel, paintMarker, paintSwatch, tickStep } from "../shared/live/charts.js";
import { INK } from "../shared/live/colours.js";
import { GRID } from "../shared/live/constants.js";
import {
  circle,
  classColour,
  fillAndOutline,
  paintPoints,
  paintRing,
  pointerIn,
  stroke,
} from "../shared/live/marks.js";
import {
  cellCentres,
  descendingOrder,
  firstWeights,
  nearestPoint,
  partialSums,
  percent,
  waves,
} from "../shared/live/maths.js";
import { Raster } from "../shared/live/rasters.js";
import { fontOf } from "../shared/live/typeface.js";
import { followPointer, paintScale, reducedMotion } from "../shared/live/view.js";

/** @import { Dash } from "../shared/live/charts.js" */
/** @import { LandmarkMaps } from "../shared/live/landmark_maps.js" */
/** @import { Waves } from "../shared/live/maths.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Panel } from "../shared/live/view.js" */

const COARSE = 25; // cells along a side of the grid on which sums are compared
const WHOLE_PLAY = 8000; // milliseconds in which all cosines are added, if they are many
const SLOWEST = 400; // milliseconds for one cosine, if they are few
const DOUBLING = 1000; // milliseconds until the number of cosines doubles, with reduced motion
const LARGEST_DOT = 0.16; // radius of a frequency with all the weight, as a fraction of the plane's width
const SMALLEST_DOT = 1.5; // pixels
const REACH = 14; // pixels around a frequency that belong to it
/** Lines of the chart. @type {Record<string, Dash>} */
const REACHED = { share: "solid", lacking: "dash" };

/** The enlarged landmark of a view, with the view's own bar of sliders. */
export class Enlarged {
  /** @type {HTMLDialogElement | null} */
  dialog = null;

  landmark = 0;

  /** Cosines in the sum. */
  count = 0;

  /** Settings of the numbers below. */
  computed = "";

  /** The landmark's frequencies, the heaviest first.
   * @type {number[]} */
  order = [];

  /** Share of the weight, and distance of the sum from the whole, for 0, 1, ..., D cosines.
   * @type {{ shares: Float64Array, distances: Float64Array }} */
  reached;

  /** The landmark's waves on the coarse grid.
   * @type {{ u: Waves, v: Waves }} */
  coarse;

  /** @type {ReturnType<typeof setInterval> | null} */
  timer = null;

  /** The dialog's panels.
   * @type {Panel[]} */
  panels = [];

  /** @param {LandmarkMaps} view */
  constructor(view) {
    this.view = view;
    this.sum = new Float32Array(GRID * GRID);
    this.last = new Float32Array(GRID * GRID);
    this.sumRaster = new Raster(GRID);
    this.lastRaster = new Raster(GRID);
  }

  // --- opening and closing ------------------------------------------------------------------------------------------

  /** @param {number} landmark */
  open(landmark) {
    const { view } = this;
    if (this.dialog) return;
    view.setFocus({});
    /** @type {HTMLTemplateElement} */
    const template = view.root.querySelector("template.enlarging");
    this.dialog = /** @type {HTMLDialogElement} */ (template.content.firstElementChild.cloneNode(true));
    view.root.append(this.dialog);
    this.takeBar();
    this.listen();
    this.addPanels();
    this.show(landmark);
    this.count = 1; // the heaviest
    this.dialog.showModal();
    this.dialog.scrollTop = 0; // the slider that has the focus may lie below
    view.request();
  }

  /** Close the dialog; the map of its landmark takes the keyboard's focus. */
  close() {
    const { dialog, view } = this;
    if (!dialog) return;
    this.stop();
    this.dialog = null;
    view.panels = view.panels.filter((panel) => !this.panels.includes(panel));
    this.panels = [];
    this.place.replaceWith(this.bar);
    dialog.close();
    dialog.remove();
    view.mapPanels[view.L + this.landmark]?.canvas.focus({ preventScroll: true });
    view.request();
  }

  /** Borrow the view's bar of sliders; the page behind keeps its place. */
  takeBar() {
    this.bar = this.view.find(".scrubbers");
    this.place = document.createElement("div");
    this.place.style.height = `${this.bar.offsetHeight}px`;
    this.bar.replaceWith(this.place);
    this.find(".enlarged-bar").append(this.bar);
  }

  /** @param {string} selector @returns {HTMLElement} */
  find(selector) {
    return this.dialog.querySelector(selector);
  }

  listen() {
    const { dialog, view } = this;
    dialog.oncancel = (event) => {
      event.preventDefault();
      this.close();
    };
    dialog.onclose = () => this.close();
    dialog.onclick = (event) => event.target === dialog && this.close(); // on the ground around the dialog
    this.find(".leave").onclick = () => this.close();
    this.find(".before").onclick = () => this.show((this.landmark + view.L - 1) % view.L);
    this.find(".after").onclick = () => this.show((this.landmark + 1) % view.L);
    for (const name of [".before", ".after"]) this.find(name).hidden = view.L === 1;
    /** @type {HTMLInputElement} */
    this.slider = dialog.querySelector(".adding input");
    this.slider.oninput = () => this.stopAt(Number(this.slider.value));
    this.find(".add").onclick = () => (this.timer ? this.stop() : this.play());
  }

  addPanels() {
    const { view } = this;
    const before = view.panels.length;
    view.panel("dialog canvas.sum", (c, w) => this.paintSum(c, w));
    view.panel("dialog canvas.last-cosine", (c, w) => this.paintLast(c, w));
    const plane = view.panel("dialog canvas.frequency-plane", (c, w) => this.paintPlane(c, w));
    const chart = view.panel("dialog canvas.reached", (c, w, h) => this.paintReached(c, w, h));
    view.panel("dialog canvas.scale", paintScale, { fixed: true });
    for (const [name, dash] of Object.entries(REACHED)) {
      view.panel(`dialog canvas.swatch.${name}`, (c, w, h) => paintSwatch(c, w, h, view.ink, dash));
    }
    this.panels = view.panels.slice(before);
    plane.canvas.onclick = (event) => this.chooseFrequency(pointerIn(event, plane.canvas, this.fastest));
    followPointer(chart.canvas, this, (fraction) => this.stopAt(Math.round(fraction * view.D)));
  }

  // --- input --------------------------------------------------------------------------------------------------------

  /**
   * Show a landmark, with as many cosines as before.
   *
   * @param {number} landmark
   */
  show(landmark) {
    this.landmark = landmark;
    this.takeFrequencies();
    this.view.request();
  }

  /** Take the frequencies of the landmark, and its waves. */
  takeFrequencies() {
    const { view, landmark } = this;
    const { maxD, omega } = view;
    const [x, y] = view.landmark(landmark);
    const centres = cellCentres(view.extent, COARSE);
    const start = 2 * landmark * maxD;
    this.coarse = {
      u: waves(omega, start, maxD, x, 0, centres),
      v: waves(omega, start, maxD, y, 1, centres),
    };
    this.frequencies = omega.subarray(start, start + 2 * maxD);
    const speeds = Array.from({ length: maxD }, (_, m) => Math.hypot(...this.frequency(m)));
    /** Half the side of the plane that is shown. */
    this.fastest = 1.08 * Math.max(...speeds);
  }

  /** @param {number} m @returns {[number, number]} */
  frequency(m) {
    return [this.frequencies[2 * m], this.frequencies[2 * m + 1]];
  }

  /**
   * Add cosines up to the one whose frequency, or its opposite, is nearest to a point of the plane.
   *
   * @param {{ x: number, y: number, scale: number }} point
   */
  chooseFrequency({ x, y, scale }) {
    const both = Float64Array.from(
      this.order.flatMap((m) => [...this.frequency(m), ...this.frequency(m).map((a) => -a)]),
    );
    const nearest = nearestPoint(both, x, y, REACH * scale);
    if (nearest !== undefined) this.stopAt(Math.floor(nearest / 2) + 1);
  }

  /** @param {number} count */
  stopAt(count) {
    this.stop();
    this.setCount(count);
  }

  /** @param {number} count */
  setCount(count) {
    this.count = Math.min(Math.max(count, 1), this.view.D);
    this.view.request();
  }

  /** Add cosine after cosine; with reduced motion in few steps. */
  play() {
    const { D } = this.view;
    const still = reducedMotion();
    if (this.count >= D) this.setCount(1);
    const add = () => {
      if (!this.dialog?.isConnected) return clearInterval(this.timer);
      this.setCount(still ? 2 * this.count : this.count + 1);
      if (this.count === this.view.D) this.stop();
    };
    this.timer = setInterval(add, still ? DOUBLING : Math.min(SLOWEST, WHOLE_PLAY / D));
    this.showPlaying();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.showPlaying();
  }

  showPlaying() {
    this.find(".add").textContent = this.timer ? "❚❚" : "▶";
    this.find(".add").setAttribute("aria-pressed", String(this.timer !== null));
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  /** Compute what depends on the sliders and on the number of cosines. */
  compute() {
    if (!this.dialog) return;
    const { view, landmark } = this;
    const { D, Q } = view;
    const start = landmark * view.maxD;
    const settings = `${view.computed} ${landmark}`;
    if (this.computed !== settings) {
      if (this.count === this.order.length || this.count > D) this.count = D;
      this.order = descendingOrder(Q.subarray(start, start + D));
      this.reached = partialSums(Q, start, this.order, this.coarse.u, this.coarse.v, COARSE);
      this.computed = settings;
    }
    const weights = new Float64Array(view.maxD);
    view.fillMap(landmark, firstWeights(Q, start, this.order, this.count, weights), 0, this.sum);
    weights.fill(0)[this.order[this.count - 1]] = 1;
    view.fillMap(landmark, weights, 0, this.last);
    this.sumRaster.set(this.sum, -1, 1, "similarity");
    this.lastRaster.set(this.last, -1, 1, "similarity");
  }

  write() {
    if (!this.dialog) return;
    const { view, landmark, count } = this;
    const { D } = view;
    const weight = view.Q[landmark * view.maxD + this.order[count - 1]];
    const lacking = this.reached.distances[count].toFixed(3);
    const share = percent(this.reached.shares[count]);
    this.find("h2").textContent = `Landmark ${landmark + 1}`;
    const whole = `learned similarity: ${D === 1 ? "one cosine" : `the sum of all ${D} cosines`}`;
    const part = count === 1 ? `the heaviest of ${D} cosines` : `sum of the ${count} heaviest of ${D} cosines`;
    this.find(".sum-words").textContent = count === D ? whole : part;
    this.find(".last-words").textContent = `cosine ${count}, weight ${percent(weight)}`;
    this.find(".count-value").textContent = `${count} of ${D}`;
    this.find(".share-value").textContent = share;
    this.find(".lacking-value").textContent = lacking;
    Object.assign(this.slider, { max: String(D), value: String(count) });
    this.slider.setAttribute("aria-valuetext", `${count} of ${D} cosines, ${share} of the weight`);
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {Context} c @param {number} w */
  paintSum(c, w) {
    const { view } = this;
    this.sumRaster.paint(c, w, w);
    paintPoints(c, w, view.extent, view.X, view.y, Math.max(2, w / 160));
    view.paintLandmark(c, w, this.landmark, Math.max(10, w / 45));
  }

  /** @param {Context} c @param {number} w */
  paintLast(c, w) {
    this.lastRaster.paint(c, w, w);
    this.view.paintLandmark(c, w, this.landmark, Math.min(10, w * 0.06));
  }

  /**
   * The frequencies, each with its opposite, which has the same cosine; their areas are their weights.
   *
   * @param {Context} c @param {number} w
   */
  paintPlane(c, w) {
    const { view, landmark, count } = this;
    const scale = w / 2 / this.fastest;
    this.paintCircles(c, w, scale);
    const colour = classColour(view.label(landmark));
    const ranked = [...this.order.entries()];
    for (const [k, m] of [...ranked.slice(count), ...ranked.slice(0, count)]) {
      const [a, b] = this.frequency(m).map((value) => value * scale);
      const radius = Math.max(SMALLEST_DOT, LARGEST_DOT * w * Math.sqrt(view.Q[landmark * view.maxD + m]));
      for (const sign of [1, -1]) {
        circle(c, w / 2 + sign * a, w / 2 - sign * b, radius);
        if (k < count) fillAndOutline(c, colour, INK, 1);
        else stroke(c, view.ink, 1);
        if (k === count - 1) paintRing(c, w / 2 + sign * a, w / 2 - sign * b, radius + 3);
      }
    }
    this.nameCircles(c, w, scale);
  }

  /** Speeds |omega| at which a circle is painted. */
  get speeds() {
    const step = tickStep(this.fastest, 2);
    return Array.from({ length: Math.floor(this.fastest / step) }, (_, k) => Number(((k + 1) * step).toPrecision(3)));
  }

  /** @param {Context} c @param {number} w @param {number} scale pixels of 1 */
  paintCircles(c, w, scale) {
    for (const speed of this.speeds) {
      circle(c, w / 2, w / 2, speed * scale);
      stroke(c, "rgba(128, 128, 128, 0.5)", 1);
    }
  }

  /** @param {Context} c @param {number} w @param {number} scale pixels of 1 */
  nameCircles(c, w, scale) {
    const size = 0.75 * this.view.rem;
    c.font = fontOf(size);
    c.textAlign = "left";
    c.textBaseline = "alphabetic";
    for (const speed of this.speeds) {
      const [text, x, y] = [`|ω| = ${speed}`, 0.3 * size, w / 2 - speed * scale];
      paintLevel(c, { left: c.measureText(text).width + 2 * x, right: w / 2 }, y, this.view.ink, "dot", 0.5);
      c.fillStyle = this.view.ink;
      c.fillText(text, x, y + 0.35 * size);
    }
  }

  /**
   * Weight and distance of sums of 0, 1, ..., D cosines.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintReached(c, w, h) {
    const { ink, D } = this.view;
    const { shares, distances } = this.reached;
    const step = Math.max(1, tickStep(D, 4));
    this.frame = this.view.chart(c, w, h, {
      x: { low: 0, high: D, ticks: evenTicks(D, step) },
      y: { low: 0, high: 1.04, ticks: [0, 0.5, 1].map((value) => [value, String(value)]) },
      xTitle: "number of cosines, the heaviest first",
      yTitle: "",
      inside: (px, py, frame) => {
        for (const [values, dash] of /** @type {[Float64Array, Dash][]} */ ([
          [shares, REACHED.share],
          [distances, REACHED.lacking],
        ])) {
          const points = Array.from(values, (value, k) => [px(k), py(value)]);
          paintCurve(c, points, ink, dash);
          circle(c, px(this.count), py(values[this.count]), 4);
          c.fillStyle = ink;
          c.fill();
        }
        paintMarker(c, px(this.count), frame, ink);
      },
    });
  }
}
