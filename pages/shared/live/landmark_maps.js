// @ts-check
// Shared by the views of landmarks: the prior's and the learned maps, and a linear SVM on the learned similarities.

import { errorBetween, valueBetween } from "./between.js";
import { GRID } from "./constants.js";
import { fillLosses, landmarkSample, ofWidth } from "./landmark_data.js";
import { paintPoints, paintRing, paintStar, place } from "./marks.js";
import {
  cosineTable,
  errorRate,
  linearSvm,
  percent,
  pseudoPosterior,
  similarities,
  similarityAt,
  similarityMap,
  waves,
} from "./maths.js";
import { Nodes } from "./nodes.js";
import { Raster } from "./rasters.js";
import { unpackedArray, unpackedDraw } from "./unpacking.js";
import { LiveView } from "./view.js";

/** @import { Draws, Sample } from "./landmark_data.js" */
/** @import { Waves } from "./maths.js" */
/** @import { Context } from "./svg.js" */
/** @import { Data, Root } from "./view.js" */

const CELL_COUNT = GRID * GRID;
const AFTER_FIRST_PICTURE = 300; // milliseconds

const OF_CELLS = 2e-4; // more than the error of a map's cells
const MOST_UNSURE = 0.1; // share of the test points beyond which tables of their cosines are quicker

/** A landmark's cosines, over the nodes of its map and at the training points.
 * @typedef {{ u: Waves, v: Waves, train: Float32Array, slowToFast: number[] }} Cosines */

export class LandmarkMaps extends LiveView {
  /** Row of a training point, or landmark and rank of a frequency.
   * @type {{ point?: number, landmark?: number, frequency?: number }} */
  focus = {};

  /** A raster for each canvas of the maps: the prior's row, then the learned one.
   * @type {Raster[]} */
  tiles;

  /** Their panels.
   * @type {LiveView["panels"]} */
  mapPanels = [];

  /** Settings of the numbers below.
   * @type {string | null} */
  computed = null;

  /** @type {ReturnType<typeof setTimeout>} */
  reachTimer;

  /** Draws behind the data, with unpacked arrays.
   * @type {Pick<Draws, "train" | "test" | "count"> & { version: string, frequencies: Float64Array } | undefined} */
  drawn;

  /** Points and landmarks made from the draws.
   * @type {Sample} */
  sample;

  /** @type {Cosines[]} */
  cosines = [];

  /** Cosines at the test points, of the landmarks that needed them: `now`, and `before` with other data.
   * @type {{ now: Float32Array[], before: Float32Array[] }} */
  testTables = { now: [], before: [] };

  /** Number of frequencies of each landmark with computed cosines. */
  reached = 0;

  trainError = NaN;

  testError = NaN;

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.maps = this.find(".maps");
  }

  /** Frequencies of each landmark that are used. */
  get D() {
    return this.maxD;
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data @returns {Data} */
  completed(data) {
    const { version, draws, extent, C } = data;
    if (this.drawn?.version !== version) {
      const [train, test] = [unpackedDraw(draws.train, Float64Array), unpackedDraw(draws.test, Float32Array)];
      const frequencies = unpackedArray(draws.frequencies, Float64Array);
      this.drawn = { version, train, test, frequencies, count: draws.count };
    }
    const centroids = this.clicked ? null : data.centroids;
    const shown = { ...this.drawn, rows: this.landmarkRows, centroids };
    const sample = (this.sample = landmarkSample(shown, this.noise, extent));
    const loss = new Float64Array(sample.rows.length * sample.max_D); // filled when D reaches them
    return { ...data, ...sample, ...ofWidth(sample, this.drawn.frequencies, this.sigma, C, GRID), loss };
  }

  /** @param {Data} data */
  receive(data) {
    this.omega = this.array("omega", Float32Array);
    this.loss = this.array("loss", Float64Array);
    this.landmarks = this.array("landmarks", Float32Array);
    this.X = this.array("points", Float32Array);
    this.y = this.array("labels", Int8Array);
    this.testX = this.array("test_points", Float32Array);
    this.testY = this.array("test_labels", Int8Array);
    this.extent = data.extent;
    this.L = data.rows.length;
    this.maxD = data.max_D;
    this.n = this.y.length;
    this.prepare();
    this.computed = null;
    this.layOutMaps();
    const maps = this.array("prior_maps", Uint8Array);
    for (let l = 0; l < this.L; l++) {
      this.tiles[l].set(maps.subarray(l * CELL_COUNT, (l + 1) * CELL_COUNT), 0, 255, "similarity");
    }
  }

  /** Reserve memory for results that depend on the sliders. */
  prepare() {
    const { L, n, maxD } = this;
    this.nodes = new Nodes(this.extent, GRID, this.omega);
    this.reached = 0;
    this.Q = new Float64Array(L * maxD);
    this.learnedMaps = Array.from({ length: L }, () => new Float32Array(CELL_COUNT));
    clearTimeout(this.reachTimer);
    this.reachTimer = setTimeout(() => this.reach(maxD), AFTER_FIRST_PICTURE);
    this.cosine = new Float32Array(CELL_COUNT);
    this.svm = new Float64Array(L + 1);
    this.psi = new Float64Array(n * L);
    this.decision = new Float32Array(CELL_COUNT);
    this.scratch = new Float64Array(Math.max(n, this.testY.length));
  }

  /** Compute cosines of the first D frequencies; of twice as many if there are cosines already. @param {number} D */
  reach(D) {
    const { reached, data } = this;
    if (D <= reached) return;
    this.reached = Math.min(this.maxD, reached ? 2 * D : D);
    if (data.draws) fillLosses(this.sample, data.omega, this.loss, reached, this.reached);
    this.cosines = Array.from({ length: this.L }, (_, l) => this.cosinesOf(l, this.reached));
    const { now, before } = this.testTables;
    this.testTables = { now: [], before: now.length ? now : before };
  }

  /** @param {number} l @param {number} count @returns {Cosines} */
  cosinesOf(l, count) {
    const { omega, maxD } = this;
    const { at } = this.nodes;
    const before = this.cosines[l]; // of other data, or fewer
    const start = 2 * l * maxD;
    const [x, y] = this.landmark(l);
    const speeds = Array.from({ length: maxD }, (_, m) => Math.hypot(omega[start + 2 * m], omega[start + 2 * m + 1]));
    return {
      u: waves(omega, start, count, x, 0, at),
      v: waves(omega, start, count, y, 1, at),
      train: cosineTable(omega, start, count, x, y, this.X, before?.train),
      slowToFast: Array.from({ length: maxD }, (_, m) => m).sort((a, b) => speeds[a] - speeds[b]),
    };
  }

  /** @param {number} l */
  landmark(l) {
    return [this.landmarks[2 * l], this.landmarks[2 * l + 1]];
  }

  /** The class of a landmark. @param {number} l @returns {number} */
  label(l) {
    return this.data.landmark_labels[l];
  }

  /** Make one canvas per landmark and row. */
  layOutMaps() {
    if (this.tiles?.length === 2 * this.L) return;
    this.root.style.setProperty("--landmarks", String(this.L));
    this.maps.replaceChildren();
    this.panels = this.panels.filter((panel) => !this.mapPanels.includes(panel));
    this.mapPanels = [];
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
    const panel = this.panel(
      canvas,
      (c, w) => {
        const radius = Math.min(1.6, w * 0.012);
        raster.paint(c, w, w);
        panel.still(c, w, w, (still) => paintPoints(still, w, this.extent, this.X, this.y, radius, 100));
        this.paintFocus(c, w, 5);
        this.paintLandmark(c, w, l, Math.min(10, w * 0.08));
      },
      { fixed: row === "prior" },
    );
    this.mapPanels.push(panel);
    return raster;
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    const settings = `${this.value("beta")} ${this.D} ${this.data.version}`;
    if (this.computed !== settings) {
      this.computeAt(this.value("beta"));
      this.computed = settings;
    }
    for (let l = 0; l < this.L; l++) this.tiles[this.L + l].set(this.shownMap(l), -1, 1, "similarity");
  }

  /** Maps, the SVM on their similarities, and its errors. @param {number} beta */
  computeAt(beta) {
    this.computeMaps(beta);
    this.computeDecision();
  }

  /** @param {number} beta */
  computeMaps(beta) {
    const { L, D, maxD, n, Q, scratch } = this;
    this.reach(D);
    pseudoPosterior(this.loss, L, maxD, D, beta, n, Q);
    for (const [l, { train }] of this.cosines.entries()) {
      this.fillMap(l, Q, l * maxD, this.learnedMaps[l]);
      similarities(Q, l * maxD, D, train, n, this.psi, l, L, scratch);
    }
  }

  /**
   * A landmark's map with the weights of Q from `start` on.
   *
   * @param {number} l @param {Float64Array} Q @param {number} start @param {Float32Array} out
   */
  fillMap(l, Q, start, out) {
    const { u, v } = this.cosines[l];
    return this.nodes.map((count, values) => similarityMap(Q, start, this.D, u, v, count, values), out);
  }

  /** The linear SVM on the learned similarities, its values on the grid, and its errors. */
  computeDecision() {
    const { L, n, svm, decision } = this;
    linearSvm(this.psi, this.y, n, L, this.data.C, svm);
    decision.fill(svm[L]);
    for (const [l, map] of this.learnedMaps.entries()) {
      for (let i = 0; i < map.length; i++) decision[i] += svm[l] * map[i];
    }
    this.trainError = errorRate(this.psi, this.y, n, L, svm);
    this.testError = this.errorAtTestPoints();
  }

  /** The test error: values on the grid give the side of most points; only for the others are cosines summed. */
  errorAtTestPoints() {
    const { L, D, maxD, Q, svm, decision, extent, omega, testX, testY } = this;
    const step = (2 * extent) / GRID;
    let doubt = 0;
    for (let l = 0; l < L; l++) {
      doubt += Math.abs(svm[l]) * errorBetween(Q, l * maxD, D, omega, 2 * l * maxD, step, OF_CELLS);
    }
    const unsure = [];
    let wrong = 0;
    for (let j = 0; j < testY.length; j++) {
      const value = valueBetween(decision, GRID, extent, testX[2 * j], testX[2 * j + 1]);
      if (!(Math.abs(value) > doubt)) unsure.push(j);
      else if (value > 0 !== testY[j] > 0) wrong++;
    }
    if (unsure.length > MOST_UNSURE * testY.length) return errorRate(this.testPsi(Q), testY, testY.length, L, svm);
    for (const j of unsure) if (this.decisionAt(testX[2 * j], testX[2 * j + 1]) > 0 !== testY[j] > 0) wrong++;
    return wrong / testY.length;
  }

  /** The SVM's value at a point. @param {number} x @param {number} y */
  decisionAt(x, y) {
    const { L, D, maxD, Q, svm, omega, landmarks } = this;
    let sum = svm[L];
    for (let l = 0; l < L; l++) {
      const [a, b] = [landmarks[2 * l] - x, landmarks[2 * l + 1] - y];
      sum += svm[l] * similarityAt(Q, l * maxD, D, omega, 2 * l * maxD, a, b);
    }
    return sum;
  }

  /** Similarities of the test points to all landmarks, (m, L). @param {Float64Array} Q */
  testPsi(Q) {
    const { L, D, maxD, omega, testX, reached, scratch, testTables } = this;
    const m = testX.length / 2;
    const psi = new Float64Array(m * L);
    for (let l = 0; l < L; l++) {
      const [x, y] = this.landmark(l);
      const { now, before } = testTables;
      now[l] ??= cosineTable(omega, 2 * l * maxD, reached, x, y, testX, before[l]);
      similarities(Q, l * maxD, D, now[l], m, psi, l, L, scratch);
    }
    return psi;
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
    return this.fillMap(l, one, 0, this.cosine);
  }

  /**
   * The first D frequencies of a landmark, slow to fast.
   *
   * @param {number} l
   */
  order(l) {
    const { D } = this;
    return this.cosines[l].slowToFast.filter((m) => m < D);
  }

  write() {
    this.find(".prior-errors").textContent = percent(this.data.prior_test);
    this.find(".learned-errors").textContent = percent(this.testError);
    for (const [k, canvas] of this.maps.querySelectorAll("canvas").entries()) {
      canvas.classList.toggle("on", this.focus.landmark === k % this.L);
    }
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {Context} c @param {number} w @param {number} l @param {number} radius */
  paintLandmark(c, w, l, radius) {
    const [x, y] = this.landmark(l);
    paintStar(c, ...place(x, y, this.extent, w), radius, l, this.label(l));
  }

  /** @param {Context} c @param {number} w @param {number} radius */
  paintFocus(c, w, radius) {
    const j = this.focus.point;
    if (j !== undefined) paintRing(c, ...place(this.X[2 * j], this.X[2 * j + 1], this.extent, w), radius);
  }
}
