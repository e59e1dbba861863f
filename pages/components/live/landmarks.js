// @ts-check
// The live Landmarks view: prior and learned maps, decisions, points and spectral weights, all under one beta and D.

import { GRID } from "./constants.js";
import { paintPoints, paintRing, paintStar, place, pointerIn } from "./marks.js";
import {
  cellCentres,
  cosineTable,
  errorRate,
  klDivergence,
  largest,
  linearSvm,
  nearestPoint,
  pseudoPosterior,
  similarities,
  similarityMap,
  waves,
} from "./maths.js";
import { Raster, paintBoundary } from "./rasters.js";
import { LiveView, mounting } from "./view.js";

/** @import { Waves } from "./maths.js" */
/** @import { Context } from "./svg.js" */
/** @import { Data, Root } from "./view.js" */

const CELL_COUNT = GRID * GRID;

/** A landmark's cosines, over the cells of its map and at the training and the test points.
 * @typedef {{ u: Waves, v: Waves, train: Float32Array, test: Float32Array, slowToFast: number[] }} Cosines */

class LiveLandmarks extends LiveView {
  /** Row of a training point, or landmark and rank of a frequency.
   * @type {{ point?: number, landmark?: number, frequency?: number }} */
  focus = {};

  /** A raster for each canvas of the maps: the prior's row, then the learned one.
   * @type {Raster[]} */
  tiles;

  /** Settings that the numbers below belong to.
   * @type {string | null} */
  computed = null;

  trainError = NaN;

  testError = NaN;

  /** @type {Raster} */
  weightRaster;

  /** The weight, relative to the prior's, at the end of the colour scale. */
  topWeight = 2;

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.maps = this.find(".maps");
    this.points = this.panel("canvas.points", (c, w) => this.paintData(c, w, 4));
    this.decisions = ["prior", "learned"].map((name) => {
      const raster = new Raster(GRID);
      this.panel(`canvas.${name}`, (c, w) => {
        raster.paint(c, w, w);
        paintBoundary(c, w, name === "prior" ? this.priorDecision : this.decision, GRID);
        this.paintData(c, w, 2.6);
      });
      return raster;
    });
    this.weights = this.panel("canvas.weights", (c, w, h) => this.paintWeights(c, w, h));
    this.panelsWithoutMaps = this.panels.length;
    this.listenToPoints(this.points.canvas);
    this.listenToWeights(this.weights.canvas);
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data */
  receive(data) {
    this.omega = this.array("omega", Float32Array);
    this.loss = this.array("loss", Float64Array);
    this.landmarks = this.array("landmarks", Float32Array);
    this.X = this.array("points", Float32Array);
    this.y = this.array("labels", Int8Array);
    this.testX = this.array("test_points", Float32Array);
    this.testY = this.array("test_labels", Int8Array);
    this.priorDecision = this.array("prior_decision", Float32Array);
    this.extent = data.extent;
    this.L = data.rows.length;
    this.maxD = data.max_D;
    this.n = this.y.length;
    this.inputs.D.max = String(this.maxD);
    this.prepare();
    this.describePoints(data.clickable);
    this.computed = null;
    this.layOutMaps();
    this.decisions[0].set(this.priorDecision, -1, 1, "decision");
    const maps = this.array("prior_maps", Uint8Array);
    for (let l = 0; l < this.L; l++) {
      this.tiles[l].set(maps.subarray(l * CELL_COUNT, (l + 1) * CELL_COUNT), 0, 255, "similarity");
    }
  }

  /** Compute all cosines, and make room for what depends on the sliders. */
  prepare() {
    const { L, n, maxD } = this;
    const grid = cellCentres(this.extent, GRID);
    this.cosines = Array.from({ length: L }, (_, l) => this.cosinesOf(l, grid));
    this.Q = new Float64Array(L * maxD);
    this.learnedMaps = Array.from({ length: L }, () => new Float32Array(CELL_COUNT));
    this.decision = new Float32Array(CELL_COUNT);
    this.cosine = new Float32Array(CELL_COUNT);
    this.svm = new Float64Array(L + 1);
    this.psi = new Float64Array(n * L);
    this.testPsi = new Float64Array(this.testY.length * L);
    this.scratch = new Float64Array(Math.max(n, this.testY.length));
  }

  /** @param {number} l @param {Float64Array} grid @returns {Cosines} */
  cosinesOf(l, grid) {
    const { omega, maxD } = this;
    const start = 2 * l * maxD;
    const [x, y] = this.landmark(l);
    const speeds = Array.from({ length: maxD }, (_, m) => Math.hypot(omega[start + 2 * m], omega[start + 2 * m + 1]));
    return {
      u: waves(omega, start, maxD, x, 0, grid),
      v: waves(omega, start, maxD, y, 1, grid),
      train: cosineTable(omega, start, maxD, x, y, this.X),
      test: cosineTable(omega, start, maxD, x, y, this.testX),
      slowToFast: Array.from({ length: maxD }, (_, m) => m).sort((a, b) => speeds[a] - speeds[b]),
    };
  }

  /** @param {number} l */
  landmark(l) {
    return [this.landmarks[2 * l], this.landmarks[2 * l + 1]];
  }

  /**
   * Say what the canvas of points is for: choosing landmarks, or looking at similarities.
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

  /** Make one canvas per landmark and row. */
  layOutMaps() {
    if (this.tiles?.length === 2 * this.L) return;
    this.maps.style.setProperty("--landmarks", String(this.L));
    this.maps.replaceChildren();
    this.panels.length = this.panelsWithoutMaps;
    this.tiles = [];
    for (const row of ["prior", "learned"]) {
      const name = this.maps.appendChild(document.createElement("div"));
      name.className = "row-name";
      name.dataset.words = "";
      name.textContent = row;
      for (let l = 0; l < this.L; l++) this.tiles.push(this.addMap(row, l));
    }
  }

  /** @param {string} row @param {number} l */
  addMap(row, l) {
    const canvas = this.maps.appendChild(document.createElement("canvas"));
    const raster = new Raster(GRID);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${row} similarity to landmark ${l + 1}`);
    canvas.onpointerenter = () => this.setFocus({ landmark: l });
    canvas.onpointerleave = () => this.setFocus({});
    this.panel(canvas, (c, w) => {
      raster.paint(c, w, w);
      paintPoints(c, w, this.extent, this.X, this.y, Math.min(1.6, w * 0.012), 100);
      this.paintFocus(c, w, 5);
      this.paintLandmark(c, w, l, Math.min(10, w * 0.08));
    });
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
      const D = this.value("D");
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
    const D = this.value("D");
    const landmark = Math.floor(((event.clientY - box.top) / box.height) * this.L);
    const frequency = Math.floor(((event.clientX - box.left) / box.width) * D);
    return landmark >= 0 && landmark < this.L && frequency >= 0 && frequency < D ? { landmark, frequency } : {};
  }

  /** @param {number | undefined} row */
  click(row) {
    if (row !== undefined && this.data.clickable) this.report("clicked", row);
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    const settings = `${this.value("beta")} ${this.value("D")}`;
    if (this.computed !== settings) {
      this.computeMaps();
      this.computeDecision();
      this.computed = settings;
    }
    this.decisions[1].set(this.decision, -1, 1, "decision");
    for (let l = 0; l < this.L; l++) this.tiles[this.L + l].set(this.shownMap(l), -1, 1, "similarity");
  }

  computeMaps() {
    const { L, maxD, n, Q, scratch } = this;
    const D = this.value("D");
    pseudoPosterior(this.loss, L, maxD, D, this.value("beta"), n, Q);
    for (const [l, { u, v, train, test }] of this.cosines.entries()) {
      similarityMap(Q, l * maxD, D, u, v, GRID, this.learnedMaps[l]);
      similarities(Q, l * maxD, D, train, n, this.psi, l, L, scratch);
      similarities(Q, l * maxD, D, test, this.testY.length, this.testPsi, l, L, scratch);
    }
  }

  computeDecision() {
    const { L, n, svm, decision } = this;
    linearSvm(this.psi, this.y, n, L, this.data.C, svm);
    decision.fill(0);
    for (const [l, map] of this.learnedMaps.entries()) {
      for (let i = 0; i < map.length; i++) decision[i] += svm[l] * map[i];
    }
    for (let i = 0; i < decision.length; i++) decision[i] += svm[L];
    this.trainError = errorRate(this.psi, this.y, n, L, svm);
    this.testError = errorRate(this.testPsi, this.testY, this.testY.length, L, svm);
  }

  /**
   * A landmark's learned map, or the one cosine in focus.
   *
   * @param {number} l
   */
  shownMap(l) {
    const { landmark, frequency } = this.focus;
    if (landmark !== l || frequency === undefined) return this.learnedMaps[l];
    const one = new Float64Array(this.maxD);
    one[this.order(l)[frequency]] = 1;
    return similarityMap(one, 0, this.maxD, this.cosines[l].u, this.cosines[l].v, GRID, this.cosine);
  }

  /**
   * The first D frequencies of a landmark, slow to fast.
   *
   * @param {number} l
   */
  order(l) {
    const D = this.value("D");
    return this.cosines[l].slowToFast.filter((m) => m < D);
  }

  write() {
    const { L, maxD, Q } = this;
    const D = this.value("D");
    const percent = (/** @type {number} */ v) => `${(100 * v).toFixed(1)} %`;
    const { prior_train: train, prior_test: test } = this.data;
    this.find(".prior-errors").textContent = `prior: train error ${percent(train)}, test error ${percent(test)}`;
    this.find(".learned-errors").textContent =
      `learned: train error ${percent(this.trainError)}, test error ${percent(this.testError)}`;
    this.topWeight = Math.max(2, largest(Q) * D);
    const kl = Array.from({ length: L }, (_, l) => klDivergence(Q, l * maxD, D).toFixed(2)).join(", ");
    this.find(".weights-caption").textContent =
      "spectral weights, one row per landmark, slow to fast frequencies; " +
      `colours from 0 to ${this.topWeight.toPrecision(3)} × the prior's weight. KL: ${kl} nats`;
    for (const [k, canvas] of this.maps.querySelectorAll("canvas").entries()) {
      canvas.classList.toggle("on", this.focus.landmark === k % L);
    }
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {Context} c @param {number} w @param {number} radius */
  paintData(c, w, radius) {
    paintPoints(c, w, this.extent, this.X, this.y, radius);
    this.paintFocus(c, w, radius + 4);
    for (let l = 0; l < this.L; l++) this.paintLandmark(c, w, l, Math.min(12, w * 0.05));
  }

  /** @param {Context} c @param {number} w @param {number} l @param {number} radius */
  paintLandmark(c, w, l, radius) {
    const [x, y] = this.landmark(l);
    paintStar(c, ...place(x, y, this.extent, w), radius, l);
  }

  /** @param {Context} c @param {number} w @param {number} radius */
  paintFocus(c, w, radius) {
    const j = this.focus.point;
    if (j !== undefined) paintRing(c, ...place(this.X[2 * j], this.X[2 * j + 1], this.extent, w), radius);
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintWeights(c, w, h) {
    const { L, maxD, Q } = this;
    const D = this.value("D");
    const { landmark, frequency } = this.focus;
    if (this.weightRaster?.columns !== D || this.weightRaster.rows !== L) this.weightRaster = new Raster(D, L);
    const shown = new Float64Array(L * D);
    for (let l = 0; l < L; l++) {
      for (const [k, m] of this.order(l).entries()) shown[(L - 1 - l) * D + k] = Q[l * maxD + m] * D;
    }
    this.weightRaster.set(shown, 0, this.topWeight, "sequential");
    this.weightRaster.paint(c, w, h, false);
    if (landmark === undefined) return;
    const row = h / L;
    const cell = w / D;
    c.strokeStyle = "#fff";
    c.lineWidth = 2;
    if (frequency === undefined) c.strokeRect(1, landmark * row + 1, w - 2, row - 2);
    else c.strokeRect(frequency * cell, landmark * row, cell, row);
  }
}

export default mounting(LiveLandmarks);
