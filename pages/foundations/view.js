// @ts-check
// The live view of a lift: points of the plane rise into space, where a plane separates them, and can be turned.

import { paintArea, paintLine } from "../shared/live/charts.js";
import { CELLS, PALETTE } from "../shared/live/constants.js";
import { paintPoint, paintPoints } from "../shared/live/marks.js";
import { cellCentres, percent } from "../shared/live/maths.js";
import { Raster, paintBoundary } from "../shared/live/rasters.js";
import { LiveView, mounting } from "../shared/live/view.js";

/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Root } from "../shared/live/view.js" */

const HALF = 0.9; // of a side of the cube
const EXTENT = 1.4; // of the plane
const FLAT = 0.6; // size of the circles before they are lifted
const SOFT = 4; // decision values that are painted alike
const PALE = 1.5; // value of the full colour, beyond all, so that points stand out
const RADIANS = 0.008; // a pixel
const STEP = 0.12; // radians an arrow key
const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 4, k & 2, k & 1].map((bit) => (bit ? HALF : -HALF)));
const EDGES = CORNERS.flatMap((one, p) =>
  CORNERS.slice(p + 1)
    .filter((other) => one.filter((value, k) => value !== other[k]).length === 1)
    .map((other) => [one, other]),
);

class LiveLift extends LiveView {
  played = "lift";

  /** Angles of the eye: around the third axis, and above the first two. */
  turn = { yaw: 0, pitch: 0.3 };

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.raster = new Raster(CELLS);
    const { canvas } = this.panel("canvas.space", (c, w, h) => this.paintSpace(c, w, h));
    this.panel("canvas.flat", (c, w) => this.paintFlat(c, w));
    canvas.onpointerdown = (event) => canvas.setPointerCapture(event.pointerId);
    canvas.onpointermove = (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) this.rotate(-RADIANS * event.movementX, RADIANS * event.movementY);
    };
    canvas.onkeydown = (event) => {
      const [x, y] =
        { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key] ?? [];
      if (x === undefined) return;
      event.preventDefault();
      this.rotate(x, y);
    };
  }

  get pace() {
    return 0.02;
  }

  /** @param {number} yaw @param {number} pitch */
  rotate(yaw, pitch) {
    const { turn } = this;
    this.turn = { yaw: turn.yaw + yaw, pitch: Math.min(Math.max(turn.pitch + pitch, -1.5), 1.5) };
    this.request();
  }

  /** @param {Data} data */
  receive({ coef, intercept, frequencies, phases }) {
    this.points = this.array("points", Float32Array);
    this.lifted = this.array("lifted", Float32Array);
    this.labels = this.array("labels", Int8Array);
    const [w, v, u] = coef;
    const edge = (-u * Math.tan(this.turn.pitch)) / Math.hypot(w, v);
    this.turn.yaw = Math.atan2(v, w) + Math.acos(Math.min(Math.max(edge, -1), 1)) - 0.25; // almost from the plane's edge
    this.polygon = section(coef, intercept);
    const at = cellCentres(EXTENT, CELLS);
    this.decision = Float32Array.from({ length: CELLS ** 2 }, (_, k) => {
      const [x, y] = [at[k % CELLS], at[Math.floor(k / CELLS)]];
      const lifted = phases.map((/** @type {number} */ phase, /** @type {number} */ j) =>
        Math.cos(frequencies[j][0] * x + frequencies[j][1] * y + phase),
      );
      return Math.tanh((intercept + Math.sqrt(2 / 3) * dot(coef, lifted)) / SOFT);
    });
    this.raster.set(this.decision, -PALE, PALE, "decision");
  }

  write() {
    const { flat, lifted } = this.data.risks;
    this.find(".flat-words").textContent =
      `in the plane: a line errs on ${percent(flat)}, the plane in space on ${percent(lifted)}`;
  }

  text() {
    return `${Math.round(100 * this.value("lift"))} %`;
  }

  /** @param {Context} c @param {number} w */
  paintFlat(c, w) {
    this.raster.paint(c, w, w);
    paintBoundary(c, w, this.decision, CELLS);
    paintPoints(c, w, EXTENT, this.points, this.labels, Math.max(1.8, w / 150));
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintSpace(c, w, h) {
    const { coef, intercept } = this.data;
    const lift = this.value("lift");
    const { yaw, pitch } = this.turn;
    const eye = [Math.cos(pitch) * Math.cos(yaw), Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch)];
    const right = [-Math.sin(yaw), Math.cos(yaw), 0];
    const up = [-Math.sin(pitch) * Math.cos(yaw), -Math.sin(pitch) * Math.sin(yaw), Math.cos(pitch)];
    const scale = Math.min(w, h) / 2.9;
    const shown = (/** @type {number[]} */ p) => [w / 2 + scale * dot(right, p), h / 2 - scale * dot(up, p)];
    c.strokeStyle = "rgba(128, 128, 128, 0.4)";
    c.lineWidth = 1;
    for (const edge of EDGES) paintLine(c, edge.map(shown));
    c.fillStyle = this.ink;
    c.textAlign = "center";
    for (const [k, name] of ["φ₁", "φ₂", "φ₃"].entries()) {
      const end = [0, 1, 2].map((j) => (j === k ? 1.12 * HALF : -HALF));
      const [x, y] = shown(end);
      c.fillText(name, x, y);
    }
    const side = Math.sign(dot(coef, eye)); // of the plane, on which the eye is
    const points = Array.from(this.labels, (label, i) => {
      const p = [0, 1, 2].map(
        (k) => lift * this.lifted[3 * i + k] + (1 - lift) * (k < 2 ? FLAT * this.points[2 * i + k] : 0),
      );
      return { label, p, depth: dot(eye, p), before: side * (dot(coef, p) + intercept) > 0 };
    }).sort((one, other) => one.depth - other.depth);
    const paint = (/** @type {boolean} */ before) => {
      for (const { label, p, before: is } of points) {
        const [x, y] = shown(p);
        if (is === before) paintPoint(c, x, y, Math.max(2, scale / 60), label);
      }
    };
    paint(false);
    if (this.polygon.length) paintArea(c, this.polygon.map(shown), PALETTE.methods.okrff, 0.35 * lift);
    paint(true);
  }
}

/** @param {number[]} a @param {number[]} b */
function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/**
 * Corners of the polygon in which the plane w . z + b = 0 cuts the cube, in order around their middle.
 *
 * @param {number[]} w @param {number} b
 */
export function section(w, b) {
  const cuts = EDGES.map(([p, q]) => {
    const [from, to] = [dot(w, p) + b, dot(w, q) + b];
    return from * to < 0 ? p.map((value, k) => value + ((q[k] - value) * from) / (from - to)) : null;
  }).filter(Boolean);
  if (!cuts.length) return [];
  const middle = [0, 1, 2].map((k) => cuts.reduce((sum, cut) => sum + cut[k], 0) / cuts.length);
  const from = (/** @type {number[]} */ cut) => cut.map((value, k) => value - middle[k]);
  const one = from(cuts[0]);
  const other = [w[1] * one[2] - w[2] * one[1], w[2] * one[0] - w[0] * one[2], w[0] * one[1] - w[1] * one[0]];
  const size = Math.hypot(...w);
  const angle = (/** @type {number[]} */ cut) => Math.atan2(dot(from(cut), other) / size, dot(from(cut), one));
  return cuts.sort((p, q) => angle(p) - angle(q));
}

export default mounting(LiveLift);
