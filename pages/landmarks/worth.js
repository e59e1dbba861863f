// @ts-check
// The live view of the worth of one landmark: its error at every place of the plane, and its similarity at one.

import { PALETTE } from "../shared/live/constants.js";
import { circle, fillAndOutline, paintPoints, paintRing, place, pointerIn, star } from "../shared/live/marks.js";
import { cellCentres, least, percent, similarityMap, waves } from "../shared/live/maths.js";
import { labelSums, withWaves, worthAt } from "./one_landmark.js";
import { Raster } from "../shared/live/rasters.js";
import { LiveView, REST, mounting, paintScale } from "../shared/live/view.js";

/** @import { Worth } from "./one_landmark.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Root } from "../shared/live/view.js" */

const PLACES = 32; // along a side of the map of errors, as in the static edition's figure
const COARSEST = 8; // distance in places of the first pass; each further pass halves it
const BUDGET = { moving: 8, resting: 40 }; // milliseconds a frame for further places
const SIMILARITY_CELLS = 100;
const WORST = 0.5; // error at the end of the scale

/** @type {[string, typeof circle][]} */
const METHODS = [
  ["random", circle],
  ["k-means", square],
  ["boosted", triangle],
];

class LiveWorth extends LiveView {
  /** The place of the landmark. */
  at = { x: 0, z: 0 };

  /** @type {Worth} */
  worth;

  /** Mean errors at the landmarks of each method.
   * @type {number[]} */
  means = [];

  /** Places that the map lacks, the next one last.
   * @type {[number, number, number][]} */
  missing = [];

  /** Settings of the map. */
  of = "";

  held = false;

  /** @type {ReturnType<typeof setTimeout>} */
  keyTimer;

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.errors = new Float32Array(PLACES * PLACES);
    this.map = new Raster(PLACES);
    this.similar = new Raster(SIMILARITY_CELLS);
    const { canvas } = this.panel("canvas.worth", (c, w) => this.paintWorth(c, w));
    this.panel("canvas.worth-scale", (c, w, h) => paintScale(c, w, h, "sequential"), { fixed: true });
    this.panel("canvas.similar", (c, w) => this.paintSimilarity(c, w));
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.held = true;
      this.follow(canvas, event);
    };
    canvas.onpointermove = (event) => this.held && this.follow(canvas, event);
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (this.held) this.tell();
      this.held = false;
    };
    canvas.onkeydown = (event) => this.moveByKey(event);
  }

  /** @param {HTMLCanvasElement} canvas @param {PointerEvent} event */
  follow(canvas, event) {
    const { x, y } = pointerIn(event, canvas, this.data.extent);
    this.moveLandmark(x, y, event.timeStamp);
  }

  /** @param {number} x @param {number} z @param {number} time of the input */
  moveLandmark(x, z, time) {
    const { extent } = this.data;
    const [a, b] = [x, z].map((value) => Number(Math.max(-extent, Math.min(value, extent)).toFixed(2)));
    this.at = { x: a, z: b };
    this.inputTime ??= time;
    this.request();
  }

  /** @param {KeyboardEvent} event */
  moveByKey(event) {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const far = (this.data.extent / 40) * (event.shiftKey ? 5 : 1);
    this.moveLandmark(this.at.x + far * step[0], this.at.z + far * step[1], event.timeStamp);
    clearTimeout(this.keyTimer);
    this.keyTimer = setTimeout(() => this.tell(), REST);
  }

  /** Report the landmark's place to the server. */
  tell() {
    this.report("clicked", [this.at.x, this.at.z]);
  }

  /** @param {Data} data */
  receive(data) {
    this.omega = this.array("omega", Float64Array);
    const [X, y] = [this.array("points", Float64Array), this.array("labels", Int8Array)];
    this.train = withWaves(X, y, this.omega);
    this.test = withWaves(this.array("test_points", Float64Array), this.array("test_labels", Int8Array), this.omega);
    this.sums = labelSums(this.train);
    this.of = "";
    if (!this.held) this.at = { x: data.star[0], z: data.star[1] };
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  /** @param {number} x @param {number} z */
  worthOf(x, z) {
    return worthAt(x, z, this.omega, this.value("beta"), this.train, this.sums, this.test);
  }

  compute() {
    const { x, z } = this.at;
    this.worth = this.worthOf(x, z);
    const of = String(this.value("beta"));
    if (this.of !== of) {
      this.of = of;
      this.missing = this.places();
      this.means = METHODS.map(([method]) => {
        /** @type {[number, number][]} */
        const places = this.data.marks[method];
        return places.reduce((sum, [x, z]) => sum + this.worthOf(x, z).testError, 0) / places.length;
      });
    }
    this.refine();
  }

  /** Places of the map in passes, each at half the distance of the pass before; the first pass is last. */
  places() {
    /** @type {[number, number, number][]} */
    const all = [];
    for (let apart = COARSEST; apart >= 1; apart /= 2) {
      for (let j = 0; j < PLACES; j += apart) {
        for (let i = 0; i < PLACES; i += apart) {
          if (apart === COARSEST || i % (2 * apart) || j % (2 * apart)) all.push([i, j, apart]);
        }
      }
    }
    return all.reverse();
  }

  /** Compute further places, at least the first pass, and fill the square up to the next place with each. */
  refine() {
    const start = performance.now();
    const budget = this.held || this.dragging ? BUDGET.moving : BUDGET.resting;
    const centres = cellCentres(this.data.extent, PLACES);
    const first = this.missing.length - (PLACES / COARSEST) ** 2;
    while (this.missing.length) {
      const [i, j, apart] = this.missing.pop();
      const { testError } = this.worthOf(centres[i], centres[j]);
      for (let row = j; row < Math.min(j + apart, PLACES); row++) {
        this.errors.fill(testError, row * PLACES + i, row * PLACES + Math.min(i + apart, PLACES));
      }
      if (this.missing.length <= first && performance.now() - start > budget) break;
    }
    this.map.set(this.errors, WORST, 0, "sequential"); // bright where it is low
    if (this.missing.length) this.request();
  }

  write() {
    const { kl, label, testError } = this.worth;
    this.find(".worth-value").textContent = percent(testError);
    this.find(".reading").textContent =
      `At (${this.at.x.toFixed(2)}, ${this.at.z.toFixed(2)}), of the ${label > 0 ? "red" : "blue"} class: ` +
      `${this.data.test_error} ${percent(testError)}, KL ${kl.toFixed(2)} nats.`;
    this.find(".compared").textContent =
      `Lowest on the map: ${percent(least(this.errors))}${this.missing.length ? " so far" : ""}. Mean at the marks: ` +
      `${METHODS.map(([method], k) => `${method} ${percent(this.means[k])}`).join(", ")}.`;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {Context} c @param {number} w */
  paintWorth(c, w) {
    const { extent, marks } = this.data;
    this.map.paint(c, w, w, false);
    c.globalAlpha = 0.35;
    paintPoints(c, w, extent, this.train.X, this.train.y, Math.max(1.2, w / 240));
    c.globalAlpha = 1;
    for (const [name, shape] of METHODS) {
      for (const [x, z] of marks[name]) {
        shape(c, ...place(x, z, extent, w), Math.max(4, w / 70));
        fillAndOutline(c, "white", "black", 1.2);
      }
    }
    this.paintLandmark(c, w);
  }

  /** @param {Context} c @param {number} w */
  paintSimilarity(c, w) {
    const G = SIMILARITY_CELLS;
    const { x, z } = this.at;
    const { Q } = this.worth;
    const centres = cellCentres(this.data.extent, G);
    const u = waves(this.omega, 0, Q.length, x, 0, centres);
    const v = waves(this.omega, 0, Q.length, z, 1, centres);
    this.similar.set(similarityMap(Q, 0, Q.length, u, v, G, new Float32Array(G * G)), -1, 1, "similarity");
    this.similar.paint(c, w, w);
    paintPoints(c, w, this.data.extent, this.train.X, this.train.y, Math.max(1.6, w / 160));
    this.paintLandmark(c, w);
  }

  /** @param {Context} c @param {number} w */
  paintLandmark(c, w) {
    const at = place(this.at.x, this.at.z, this.data.extent, w);
    star(c, ...at, Math.max(9, w / 32));
    fillAndOutline(c, this.worth.label > 0 ? PALETTE.red : PALETTE.blue, "white", 2);
    if (this.held) paintRing(c, ...at, Math.max(13, w / 22));
  }
}

/** @param {Context} c @param {number} x @param {number} y @param {number} radius */
function square(c, x, y, radius) {
  c.beginPath();
  c.rect(x - radius, y - radius, 2 * radius, 2 * radius);
}

/** @param {Context} c @param {number} x @param {number} y @param {number} radius */
function triangle(c, x, y, radius) {
  c.beginPath();
  for (const [a, b] of [
    [0, -1.2],
    [1.1, 0.8],
    [-1.1, 0.8],
  ])
    c.lineTo(x + a * radius, y + b * radius);
  c.closePath();
}

export default mounting(LiveWorth);
