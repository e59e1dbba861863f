// @ts-check
// The live Landmarks view: prior and learned maps, decisions, points and spectral weights, all under one beta and D.

import { paintHorizontal, paintVertical } from "../shared/live/charts.js";
import { GRID } from "../shared/live/constants.js";
import { Enlarged } from "./enlarged.js";
import { LandmarkMaps } from "../shared/live/landmark_maps.js";
import { paintPoints, paintStar, pointerIn, stroke } from "../shared/live/marks.js";
import {
  errorRate,
  klDivergence,
  largest,
  linearSvm,
  nearestPoint,
  percent,
  pseudoPosterior,
  similarities,
} from "../shared/live/maths.js";
import { Raster, paintBoundary } from "../shared/live/rasters.js";
import { fontOf } from "../shared/live/typeface.js";
import { REST, mounting } from "../shared/live/view.js";

/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Panel, Report, Root } from "../shared/live/view.js" */

const STAR = 11; // radius in pixels of the stars beside the weights

class LiveLandmarks extends LandmarkMaps {
  /** @type {Raster} */
  weightRaster;

  /** KL divergences of the landmarks, in words.
   * @type {string[]} */
  divergences = [];

  /** Rows of the landmarks, or their coordinates, as text. */
  stars = "";

  /** The weight, relative to the prior's, at the end of the colour scale. */
  topWeight = 2;

  /** Key of the error at equal weights: its settings. */
  ignoredAt = "";

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  ignoring;

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.points = this.panel("canvas.points", (c, w) => this.paintData(this.points, c, w, 4), { fixed: true });
    this.decisions = ["prior", "learned"].map((name) => this.addDecision(name));
    this.weights = this.panel("canvas.weights", (c, w, h) => this.paintWeights(c, w, h));
    this.listenToPoints(this.points.canvas);
    this.listenToWeights(this.weights.canvas);
    this.enlarged = new Enlarged(this);
  }

  /** @param {string} name */
  addDecision(name) {
    const raster = new Raster(GRID);
    const panel = this.panel(
      `canvas.${name}`,
      (c, w) => {
        raster.paint(c, w, w);
        paintBoundary(c, w, name === "prior" ? this.priorDecision : this.decision, GRID);
        this.paintData(panel, c, w, 2.6);
      },
      { fixed: name === "prior" },
    );
    return raster;
  }

  get D() {
    return this.value("D");
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    if (data.version !== this.given?.version) this.enlarged.close();
    super.update(data, report);
  }

  complete() {
    const before = this.stars;
    super.complete();
    this.stars = `${this.data.rows} ${this.data.centroids?.points ?? ""}`;
    if (this.stars !== before) this.enlarged.close();
    if (this.focus.landmark >= this.L) this.focus = {};
    if (this.enlarged.dialog) this.enlarged.takeFrequencies(); // they are new
  }

  /** @param {Data} data */
  receive(data) {
    super.receive(data);
    this.inputs.D.max = String(this.maxD);
    this.priorDecision = this.array("prior_decision", Float32Array);
    this.decisions[0].set(this.priorDecision, -1, 1, "decision");
    this.describePoints(data.clickable);
    /** @type {NodeListOf<HTMLElement>} */
    const cells = this.root.querySelectorAll(".errors .train");
    for (const cell of cells) cell.hidden = data.test_points === data.points; // then training errors suffice
  }

  /**
   * Write the purpose of the canvas of points: choosing landmarks, or looking at similarities.
   *
   * @param {boolean} clickable
   */
  describePoints(clickable) {
    const { canvas } = this.points;
    this.find(".points-words .advice").hidden = !clickable;
    canvas.style.cursor = clickable ? "pointer" : "default";
    const advice = clickable
      ? "Click a point to make it a landmark, a star to remove it; or go from point to point with the arrow keys and press Enter."
      : "Go from point to point with the arrow keys to see how similar the landmarks are to it.";
    canvas.setAttribute("aria-label", `Training points and landmarks. ${advice}`);
  }

  /**
   * A map that a click enlarges; the keyboard reaches the maps of the learned row.
   *
   * @param {string} row @param {number} l
   */
  addMap(row, l) {
    const raster = super.addMap(row, l);
    const { canvas } = this.mapPanels[this.mapPanels.length - 1];
    canvas.classList.add("enlarges");
    canvas.onclick = () => this.enlarged.open(l);
    if (row === "prior") return raster;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "button");
    canvas.setAttribute("aria-haspopup", "dialog");
    canvas.setAttribute("aria-label", `Enlarge the learned similarity to landmark ${l + 1}`);
    canvas.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.enlarged.open(l);
    };
    return raster;
  }

  // --- input --------------------------------------------------------------------------------------------------------

  /** @param {HTMLCanvasElement} canvas */
  listenToPoints(canvas) {
    canvas.onpointermove = (event) => this.setFocus({ point: this.pointAt(event) });
    canvas.onpointerleave = canvas.onblur = () => this.setFocus({});
    canvas.onclick = (event) => this.click(this.pointAt(event));
    canvas.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) this.setFocus({ point: this.nextPoint(step) });
      else if (event.key === "Enter" || event.key === " ") this.click(this.focus.point);
      else return;
      event.preventDefault();
    };
  }

  /** @param {HTMLCanvasElement} canvas */
  listenToWeights(canvas) {
    canvas.onpointermove = (event) => this.setFocus(this.weightAt(event));
    canvas.onpointerleave = canvas.onblur = () => this.setFocus({});
    canvas.onkeydown = (event) => {
      const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (!move) return;
      const { landmark = 0, frequency = 0 } = this.focus;
      const { D } = this;
      this.setFocus({ landmark: (landmark + move[0] + this.L) % this.L, frequency: (frequency + move[1] + D) % D });
      event.preventDefault();
    };
  }

  /**
   * The training point after the one in focus, from left to right.
   *
   * @param {number} step
   */
  nextPoint(step) {
    const order = Array.from({ length: this.n }, (_, j) => j).sort((a, b) => this.X[2 * a] - this.X[2 * b]);
    const current = order.indexOf(this.focus.point);
    return order[current < 0 ? 0 : (current + step + this.n) % this.n];
  }

  /**
   * Row of the training point under the pointer; a star comes before a point.
   *
   * @param {MouseEvent} event
   */
  pointAt(event) {
    const { x, y, scale } = pointerIn(event, this.points.canvas, this.extent);
    for (let l = 0; l < this.L; l++) {
      const [a, b] = this.landmark(l);
      const row = this.data.rows[l];
      if (row >= 0 && Math.hypot(a - x, b - y) < 12 * scale) return row;
    }
    return nearestPoint(this.X, x, y, 10 * scale);
  }

  /** @param {MouseEvent} event */
  weightAt(event) {
    const box = this.weights.canvas.getBoundingClientRect();
    const { D } = this;
    const { left, right, bottom } = this.weightFrame(box.width, box.height);
    const landmark = Math.floor(((event.clientY - box.top) / bottom) * this.L);
    const frequency = Math.floor(((event.clientX - box.left - left) / (right - left)) * D);
    return landmark >= 0 && landmark < this.L && frequency >= 0 && frequency < D ? { landmark, frequency } : {};
  }

  /**
   * Toggle a training point as a landmark, if at least one landmark and not too many remain.
   *
   * @param {number | undefined} row
   */
  click(row) {
    if (row === undefined || !this.given.clickable) return;
    const rows = this.landmarkRows;
    const picked = rows.includes(row) ? rows.filter((other) => other !== row) : [...rows, row];
    if (picked.length && picked.length <= this.drawn.frequencies.length / (2 * this.maxD)) {
      this.clicked = picked;
      this.note();
      this.request();
    }
    this.report("clicked", picked);
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    super.compute();
    this.decisions[1].set(this.decision, -1, 1, "decision");
    this.enlarged.compute();
  }

  /** The test error of the same cosines at equal weights. */
  errorAtEqualWeights() {
    const { L, D, maxD, n, loss, data } = this;
    const [Q, w] = [new Float64Array(L * maxD), new Float64Array(L + 1)];
    const psi = new Float64Array(n * L);
    const scratch = new Float64Array(n);
    pseudoPosterior(loss, L, maxD, D, 0, n, Q);
    for (const [l, { train }] of this.cosines.entries()) similarities(Q, l * maxD, D, train, n, psi, l, L, scratch);
    linearSvm(psi, this.y, n, L, data.C, w);
    return errorRate(this.testPsi(Q), this.testY, this.testY.length, L, w);
  }

  /** The test error of the same cosines at equal weights: once the hand rests, since it takes a second SVM. */
  writeIgnored() {
    const settings = `${this.D} ${this.data.version}`;
    if (settings === this.ignoredAt) return;
    this.ignoredAt = settings;
    const words = this.find(".ignored");
    words.classList.add("stale");
    clearTimeout(this.ignoring);
    this.ignoring = setTimeout(() => {
      words.textContent = `${this.D} cosines, labels ignored: ${percent(this.errorAtEqualWeights())}`;
      words.classList.remove("stale");
    }, REST);
  }

  write() {
    super.write();
    this.writeIgnored();
    const { L, D, maxD, Q } = this;
    this.find(".test-name").textContent = this.data.test_error;
    this.find(".prior-train").textContent = percent(this.data.prior_train);
    this.find(".learned-train").textContent = percent(this.trainError);
    this.topWeight = Math.max(2, largest(Q) * D);
    this.divergences = Array.from({ length: L }, (_, l) => klDivergence(Q, l * maxD, D).toFixed(2));
    this.enlarged.write();
    this.find(".weights-caption").textContent =
      `spectral weights of every star, from 0 to ${this.topWeight.toPrecision(3)} × the prior's; KL in nats`;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {Panel} panel @param {Context} c @param {number} w @param {number} radius */
  paintData(panel, c, w, radius) {
    panel.still(c, w, w, (still) => paintPoints(still, w, this.extent, this.X, this.y, radius));
    this.paintFocus(c, w, radius + 4);
    for (let l = 0; l < this.L; l++) this.paintLandmark(c, w, l, Math.min(12, w * 0.05));
  }

  /**
   * Frame of the weights in their figure: a star stands on the left of each row, its KL divergence on the right.
   *
   * @param {number} width @param {number} height
   */
  weightFrame(width, height) {
    return { left: 2 * STAR + 6, right: width - 4.6 * this.rem, bottom: height - 1.4 * this.rem };
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintWeights(c, w, h) {
    const { left, right, bottom } = this.weightFrame(w, h);
    c.save();
    c.translate(left, 0);
    this.paintCells(c, right - left, bottom);
    c.restore();
    const size = 0.85 * this.rem;
    const row = bottom / this.L;
    c.font = fontOf(size);
    c.fillStyle = this.ink;
    c.textAlign = "left";
    for (const [l, kl] of this.divergences.entries()) c.fillText(`KL ${kl}`, right + 8, (l + 0.5) * row + 0.35 * size);
    c.fillText("slow", left, h - 0.3 * size);
    c.textAlign = "right";
    c.fillText("fast cosines", right, h - 0.3 * size);
    for (let l = 0; l < this.L; l++)
      paintStar(c, STAR + 2, (l + 0.5) * row, Math.min(STAR, 0.45 * row), l, this.label(l));
  }

  /**
   * The weights, a cell each, and a frame around the one in focus.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintCells(c, w, h) {
    const { L, D, maxD, Q } = this;
    const { landmark, frequency } = this.focus;
    if (this.weightRaster?.columns !== D || this.weightRaster.rows !== L) this.weightRaster = new Raster(D, L);
    const shown = new Float64Array(L * D);
    for (let l = 0; l < L; l++) {
      for (const [k, m] of this.order(l).entries()) shown[(L - 1 - l) * D + k] = Q[l * maxD + m] * D;
    }
    this.weightRaster.set(shown, 0, this.topWeight, "sequential");
    this.weightRaster.paint(c, w, h, false);
    const row = h / L;
    const cell = w / D;
    c.strokeStyle = "rgba(128, 128, 128, 0.5)";
    c.lineWidth = 1;
    for (let k = 1; k < D && cell > 8; k++) paintVertical(c, k * cell, 0, h);
    for (let l = 1; l < L; l++) paintHorizontal(c, 0, w, l * row);
    if (landmark === undefined) return;
    c.beginPath();
    if (frequency === undefined) c.rect(1, landmark * row + 1, w - 2, row - 2);
    else c.rect(frequency * cell, landmark * row, cell, row);
    stroke(c, "white", 2);
  }
}

export default mounting(LiveLandmarks);
