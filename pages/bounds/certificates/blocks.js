// @ts-check
// The live view of progressive validation: a block of points comes, tests the classifier of the points before it, then
// teaches the next one, and the certified risk follows.

import { evenTicks, paintCurve, paintLevel, paintMarker, tickStep } from "../../shared/live/charts.js";
import { circle, fillAndOutline, paintPoints, paintRing, place } from "../../shared/live/marks.js";
import { interpolate, percent } from "../../shared/live/maths.js";
import { paintBoundary, Raster } from "../../shared/live/rasters.js";
import { LiveView, mounting } from "../../shared/live/view.js";

/** @import { Context } from "../../shared/live/svg.js" */
/** @import { Data, Root } from "../../shared/live/view.js" */

const TESTING = 0.7; // share of a block's time in which it tests; in the rest it teaches
const MOST_TAUGHT = 400; // most points painted of those that taught

class LiveBlocks extends LiveView {
  /** State of the film: the block, the points counted, how far the block has taught, and errors.
   * @type {{ block: number, count: number, taught: number, errors: number, ofBlock: number, bound: number }} */
  shown;

  /** Settings of the map. */
  ground = "";

  /** The first point of each block, and the number of points.
   * @type {number[]} */
  starts;

  played = "arrived";

  /** @param {Root} root */
  constructor(root) {
    super(root);
    const { canvas } = this.panel("canvas.certified", (c, w, h) => this.paintCertified(c, w, h));
    this.plane = this.panel("canvas.plane", (c, w) => this.paintPlane(c, w));
    this.draggable(canvas, (fraction) => {
      this.inputs.arrived.value = String(this.timeOf(fraction * 1.03 * this.data.n_bound));
    });
  }

  /** @param {Data} data */
  receive(data) {
    this.points = this.array("points", Float32Array);
    this.labels = this.array("labels", Int8Array);
    this.wrong = this.array("wrong", Uint8Array);
    this.maps = this.array("maps", Float32Array);
    this.counts = [...this.array("counts", Uint16Array)];
    this.bounds = this.array("bounds", Float32Array);
    this.cells = Math.sqrt(this.maps.length / data.sizes.length);
    this.raster = new Raster(this.cells);
    this.map = new Float32Array(this.cells ** 2);
    this.starts = [0];
    for (const size of data.sizes) this.starts.push(this.starts.at(-1) + size);
  }

  get pace() {
    return 0.03 / this.data.sizes.length;
  }

  /** The place of the slider at which so many points are counted. @param {number} count */
  timeOf(count) {
    const { starts } = this;
    const B = starts.length - 1;
    const begun = starts.filter((start) => start < count).length;
    const block = Math.min(Math.max(begun - 1, 0), B - 1);
    const part = Math.min((count - starts[block]) / (starts[block + 1] - starts[block]), 1);
    return Math.min(Math.max((block + part * (block === B - 1 ? 1 : TESTING)) / B, 0), 1);
  }

  text() {
    return `${this.shown.count} of ${this.data.n_bound}`;
  }

  spoken() {
    const { block, ofBlock, bound } = this.shown;
    return `${this.text()}: block ${block + 1}, ${ofBlock} errors in it; certified ${percent(bound)}`;
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    const { starts, cells } = this;
    const B = starts.length - 1;
    const time = this.value("arrived") * B;
    const block = Math.min(Math.floor(time), B - 1);
    const part = time - block;
    const last = block === B - 1; // teaches no other
    const tested = last ? part : Math.min(part / TESTING, 1);
    const taught = last ? 0 : Math.max((part - TESTING) / (1 - TESTING), 0);
    const count = starts[block] + Math.round(tested * (starts[block + 1] - starts[block]));
    const known = this.counts.filter((one) => one <= count).length - 1;
    this.shown = {
      block,
      count,
      taught,
      errors: this.errorsOf(0, count),
      ofBlock: this.errorsOf(starts[block], count),
      bound: known < 0 ? 1 : this.bounds[known],
    };
    const ground = `${this.data.version} ${block} ${taught}`;
    if (ground === this.ground) return;
    this.ground = ground;
    this.plane.layer.look = ""; // to be painted again
    interpolate(this.maps, block, Math.min(block + 1, B - 1), taught, cells ** 2, this.map);
    this.raster.set(this.map, -1, 1, "decision");
  }

  /** @param {number} from @param {number} to */
  errorsOf(from, to) {
    return this.wrong.subarray(from, to).reduce((sum, wrong) => sum + wrong, 0);
  }

  /** Whether all points to count have come. */
  get ended() {
    return this.shown.count === this.starts.at(-1);
  }

  write() {
    const { starts } = this;
    const { first, sizes, n_bound, test_set_bound, risk_bound } = this.data;
    const { block, count, taught, errors, ofBlock, bound } = this.shown;
    this.find(".test-set-value").textContent = percent(test_set_bound);
    this.find(".blocks-value").textContent = percent(this.ended ? risk_bound : bound);
    this.find(".blocks-words").textContent = this.ended ? "blocks certify" : "blocks so far";
    this.find(".plane-words").textContent =
      `the classifier of the first ${first + starts[block]} points; ` +
      (taught ? `block ${block + 1} teaches` : `errors of block ${block + 1} ringed`);
    const left = n_bound - starts.at(-1);
    this.find(".readout").textContent = this.ended
      ? `${errors} errors on ${count} points` +
        (left ? `; there the counting ends, as was fixed beforehand, and ${left} points are left.` : ".") +
        ` A random one of the ${sizes.length} classifiers errs on at most ${percent(risk_bound)} of new points.`
      : taught
        ? `Block ${block + 1} has tested: ${ofBlock} errors on ${sizes[block]} points. Now it teaches, and the boundary moves.`
        : `Block ${block + 1} of ${sizes.length} tests the classifier of the points before it: ` +
          `${ofBlock} errors on ${count - starts[block]} points so far.`;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {Context} c @param {number} w */
  paintPlane(c, w) {
    const { first, extent } = this.data;
    const { block, count, taught } = this.shown;
    const { points, labels, starts } = this;
    const [from, to] = [first + starts[block], first + count];
    const radius = Math.max(2.2, w / 120);
    this.plane.still(c, w, w, (ground) => {
      this.raster.paint(ground, w, w);
      paintBoundary(ground, w, this.map, this.cells);
      ground.globalAlpha = 0.4;
      const old = Math.max(from - MOST_TAUGHT, 0);
      paintPoints(ground, w, extent, points.subarray(2 * old, 2 * from), labels.subarray(old, from), 0.7 * radius);
      ground.globalAlpha = 1;
    });
    c.globalAlpha = 1 - 0.7 * taught;
    paintPoints(c, w, extent, points.subarray(2 * from, 2 * to), labels.subarray(from, to), radius);
    for (let k = starts[block]; k < count; k++) {
      if (!this.wrong[k]) continue;
      const j = 2 * (first + k);
      paintRing(c, ...place(points[j], points[j + 1], extent, w), 2.2 * radius);
    }
    c.globalAlpha = 1;
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintCertified(c, w, h) {
    const { n_bound: n, risk_bound, test_error, test_set_bound, ends, total } = this.data;
    const { count, bound } = this.shown;
    const size = (w < 420 ? 0.72 : 0.8) * this.rem;
    const high = Math.min(2.5 * Math.max(risk_bound, test_set_bound), 1);
    const inPercent = (/** @type {number} */ risk) => String(Number((100 * risk).toPrecision(3)));
    this.frame = this.chart(c, w, h, {
      x: { low: 0, high: 1.03 * n, ticks: evenTicks(n, tickStep(n, w > 420 ? 4 : 2)) },
      y: { low: 0, high, ticks: evenTicks(high, tickStep(high, 4), inPercent) },
      xTitle: "points that were counted",
      yTitle: "risk, %",
      size,
      inside: (px, py, frame) => {
        c.fillStyle = "rgba(128, 128, 128, 0.1)";
        for (const [k, start] of this.starts.slice(0, -1).entries()) {
          if (k % 2 === 0)
            c.fillRect(px(start), frame.top, px(this.starts[k + 1]) - px(start), frame.bottom - frame.top);
        }
        paintLevel(c, frame, py(test_set_bound), this.ink, "dash");
        paintLevel(c, frame, py(test_error), this.ink, "dot");
        const along = this.counts.flatMap((one, k) => (one <= count ? [[px(one), py(this.bounds[k])]] : []));
        paintCurve(c, along, total, "solid");
        paintMarker(c, px(count), frame, this.ink);
        for (const [at, risk] of ends) {
          if (at > count) continue;
          circle(c, px(at), py(risk), 0.35 * size);
          fillAndOutline(c, risk === risk_bound ? total : "white", total, 2);
        }
        circle(c, px(count), py(bound), 0.3 * size);
        fillAndOutline(c, total, "white", 1.2);
      },
    });
  }
}

export default mounting(LiveBlocks);
