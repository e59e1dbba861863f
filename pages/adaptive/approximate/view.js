// @ts-check
// The live view of two methods that approximate a kernel: their frequencies, maps of their errors, and errors against
// r. A sequence has the first r of one sample; other methods have fits at those r that the server has computed.

import { paintArea, paintCross, paintCurve, paintMarker, withMinus } from "../../shared/live/charts.js";
import { PALETTE } from "../../shared/live/constants.js";
import { circle, fillAndOutline, place, star } from "../../shared/live/marks.js";
import { cellCentres, kernelMap, largest, waves } from "../../shared/live/maths.js";
import { Raster } from "../../shared/live/rasters.js";
import { fontOf } from "../../shared/live/typeface.js";
import { LiveView, mounting, paintScale } from "../../shared/live/view.js";

/** @import { Dash, Scale, Ticks } from "../../shared/live/charts.js" */
/** @import { Floats, Waves } from "../../shared/live/maths.js" */
/** @import { Context } from "../../shared/live/svg.js" */
/** @import { Data, Root } from "../../shared/live/view.js" */

/**
 * @typedef {object} Fit frequencies with weights, or landmarks with their map of errors
 * @property {number} r
 * @property {number} error over all pairs of rows
 * @property {Float64Array} [omega] (r, 2)
 * @property {Floats} [weights]
 * @property {Float64Array} [landmarks] (r, 2)
 * @property {Float32Array} [map] (G, G)
 * @property {[Waves, Waves]} [waves]
 */
/**
 * @typedef {object} Side
 * @property {string} method
 * @property {string} name
 * @property {string} [misfit] why the method does not fit the kernel
 * @property {Fit[]} fits by r; none for a sequence
 * @property {Float64Array} [omega] (M, 2), a sequence
 * @property {Float64Array} [errors] (draws, M) of a sequence, the draw on screen first
 * @property {[Waves, Waves]} [waves] of a sequence
 */
/** @typedef {Fit & { map: Float32Array }} Shown */

const SIDES = [0, 1];
const AVERAGE_DOT = 3.7; // radius in pixels of a dot of weight 1/r
const HEAVIEST_DOT = 12; // largest radius in pixels
const LIGHTEST_DOT = 0.8; // radius in pixels of all dots below it
const R_TICKS = [1, 2, 5, 10, 20, 50, 100, 200];
const ERROR_TICKS = [1e-5, 1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

class LiveApproximation extends LiveView {
  /** @type {Side[]} */
  sides;

  /** Fits on screen, by side, at the r `of`; null for a method that does not fit.
   * @type {(Shown | null)[]} */
  shown;

  of = 0;

  played = "r";

  /** Version of the data for which the view has asked for other fits. */
  asked = "";

  /** @param {Root} root */
  constructor(root) {
    super(root);
    for (const k of SIDES) {
      this.panel(`canvas.frequencies-${k}`, (c, w) => this.paintFrequencies(c, w, k));
      this.panel(`canvas.map-${k}`, (c, w) => this.paintMap(c, w, k));
    }
    this.addSwatches((side) => this.lookOf(Number(side)));
    this.panel("canvas.error-scale", (c, w, h) => paintScale(c, w, h, "sequential"), { fixed: true });
    const { canvas } = this.panel("canvas.curves", (c, w, h) => this.paintErrors(c, w, h));
    const { r } = this.inputs;
    this.draggable(
      canvas,
      (fraction) => (r.value = String(this.ends.low + fraction * (this.ends.high - this.ends.low))),
    );
    r.onfocus = r.closest("label").onpointerenter = canvas.onpointerenter = () => this.reach();
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data */
  receive(data) {
    this.setCounts(data.counts, "r");
    this.kernel = this.array("kernel", Float64Array);
    this.points = this.array("points", Float32Array);
    const G = (this.cells = Math.sqrt(this.kernel.length));
    this.grid = cellCentres(data.extent, G);
    this.sides = data.sides.map((/** @type {any} */ side) => this.unpackedSide(side));
    this.rasters = SIDES.map(() => new Raster(G));
    const errors = this.sides.flatMap(({ errors, fits }) => [...(errors ?? []), ...fits.map(({ error }) => error)]);
    const known = errors.filter((error) => error > 0);
    // The error of a single cosine would leave little room for the other errors.
    this.limits = { low: Math.log10(Math.min(1, ...known)) - 0.08, high: Math.log10(Math.max(0.1, ...known)) + 0.08 };
    this.of = 0;
  }

  /** @param {any} side as it comes @returns {Side} */
  unpackedSide(side) {
    const { method, name, misfit, fits = [] } = side;
    if (side.frequencies) {
      const omega = this.array("frequencies", Float64Array, side);
      return { method, name, fits, omega, errors: this.array("errors", Float64Array, side) };
    }
    const arrays = (/** @type {any} */ fit) =>
      fit.landmarks
        ? { landmarks: this.array("landmarks", Float64Array, fit), map: this.array("map", Float32Array, fit) }
        : { omega: this.array("frequencies", Float64Array, fit), weights: this.array("weights", Float64Array, fit) };
    return {
      method,
      name,
      misfit,
      fits: fits.map((/** @type {any} */ fit) => ({ ...fit, map: undefined, ...arrays(fit) })),
    };
  }

  /** Ask for fits at other r, if there are any. */
  reach() {
    if (this.asked === this.data?.version || !this.sides?.some(({ fits }) => fits.length === 1)) return;
    this.asked = this.data.version;
    this.report("reached", "r");
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  /** @param {string} name */
  spoken(name) {
    const errors = this.shown.map((fit, k) => `${this.nameOf(k)} ${fit ? shortError(fit.error) : "does not fit"}`);
    return `${this.text(name)}: error ${errors.join(", ")}`;
  }

  /** A side's method, with its r where that is not the slider's. @param {number} k */
  nameOf(k) {
    const fit = this.shown[k];
    return this.sides[k].name + (fit && fit.r !== this.of ? ` at r = ${fit.r}` : "");
  }

  /**
   * Fit of a side at r: the first r of a sequence, or the last fit for at most r.
   *
   * @param {Side} side @param {number} r @returns {Fit | null}
   */
  fitAt({ misfit, omega, errors, fits }, r) {
    if (misfit) return null;
    if (!omega) return fits.filter((fit) => fit.r <= r).pop() ?? fits[0];
    return { r, error: errors[r - 1], omega, weights: new Float64Array(omega.length / 2).fill(1 / r, 0, r) };
  }

  compute() {
    const r = this.value("r");
    if (this.of === r) return;
    this.of = r;
    this.shown = this.sides.map((side, k) => {
      const fit = this.fitAt(side, r);
      if (!fit) return null;
      const map = fit.map ?? this.errorMap(fit, side.omega ? side : fit);
      this.rasters[k].set(map, 0, this.data.limit, "sequential");
      return { ...fit, map };
    });
  }

  /**
   * |k~ - k| between the centre and the cells.
   *
   * @param {Fit} fit @param {Fit | Side} owner of its waves
   */
  errorMap({ omega, weights }, owner) {
    const D = weights.length;
    owner.waves ??= [waves(omega, 0, D, 0, 0, this.grid), waves(omega, 0, D, 0, 1, this.grid)];
    const map = kernelMap(weights, D, ...owner.waves, this.cells, new Float32Array(this.kernel.length));
    for (let i = 0; i < map.length; i++) map[i] = Math.abs(map[i] - this.kernel[i]);
    return map;
  }

  write() {
    this.find(".limit-words").textContent = `≥ ${this.data.limit}`;
    for (const k of SIDES) {
      const fit = this.shown[k];
      const { name, misfit } = this.sides[k];
      const error = this.find(`.error-${k}`);
      error.textContent = fit ? shortError(fit.error) : "–";
      error.classList.toggle("stale", Boolean(fit) && fit.r !== this.of);
      this.find(`.name-${k}`).textContent = `${name} errs by`;
      this.find(`.frequencies-words-${k}`).textContent = misfit ?? `${this.nameOf(k)}: ${this.counted(fit)}`;
      this.find(`.map-words-${k}`).textContent = fit ? `${name}: its error, from the star` : "";
      this.find(`.curve-words-${k}`).textContent =
        `${name} (${this.sides[k].omega ? "band: all samples" : "fitted at each dot"})`;
    }
  }

  /** @param {Fit} fit */
  counted({ r, omega, weights, landmarks }) {
    if (landmarks) return r === 1 ? "1 landmark" : `${r} landmarks`;
    const { frequency_extent: extent } = this.data;
    const used = [...weights.keys()].filter((j) => weights[j] > 0);
    const outside = used.filter((j) => Math.max(Math.abs(omega[2 * j]), Math.abs(omega[2 * j + 1])) > extent).length;
    const beyond = outside ? `, ${outside} outside` : "";
    return `${used.length} ${used.length === 1 ? "frequency" : "frequencies"}${beyond}`;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** Colour and dash of a side's method. @param {number} k @returns {[string, Dash]} */
  lookOf(k) {
    const { method } = this.sides[k];
    return [PALETTE.methods[method], PALETTE.dashes[method] ?? "solid"];
  }

  /** @param {Context} c @param {number} w @param {number} k */
  paintFrequencies(c, w, k) {
    const fit = this.shown[k];
    paintCross(c, w / 2, w / 2, "rgba(128, 128, 128, 0.45)");
    if (!fit) return this.paintMisfit(c, w);
    const { omega, weights, landmarks, r } = fit;
    const { extent, frequency_extent } = this.data;
    const scale = this.rem / 15;
    [c.fillStyle] = this.lookOf(k);
    c.globalAlpha = 0.75;
    if (landmarks) {
      for (let j = 0; j < r; j++) {
        star(c, ...place(landmarks[2 * j], landmarks[2 * j + 1], extent, w), 1.5 * AVERAGE_DOT * scale);
        c.fill();
      }
    } else {
      const unit = Math.min(AVERAGE_DOT, HEAVIEST_DOT / Math.sqrt(largest(weights) * r));
      for (let j = 0; j < weights.length; j++) {
        if (!weights[j]) continue;
        const radius = Math.max(unit * Math.sqrt(weights[j] * r), LIGHTEST_DOT);
        circle(c, ...place(omega[2 * j], omega[2 * j + 1], frequency_extent, w), radius * scale);
        c.fill();
      }
    }
    c.globalAlpha = 1;
  }

  /** @param {Context} c @param {number} w */
  paintMisfit(c, w) {
    c.font = fontOf(0.8 * this.rem);
    c.fillStyle = this.ink;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText("does not fit this kernel", w / 2, w / 2, w);
  }

  /** @param {Context} c @param {number} w @param {number} k */
  paintMap(c, w, k) {
    if (!this.shown[k]) return this.paintMisfit(c, w);
    this.rasters[k].paint(c, w, w);
    c.globalAlpha = 0.45;
    c.fillStyle = "white";
    for (let j = 0; 2 * j < this.points.length; j++) {
      circle(c, ...place(this.points[2 * j], this.points[2 * j + 1], this.data.extent, w), Math.max(1, w / 170));
      c.fill();
    }
    c.globalAlpha = 1;
    star(c, w / 2, w / 2, Math.max(6, w / 32));
    fillAndOutline(c, "white", "black", 1);
  }

  /** Ends of the axis of r. */
  get ends() {
    return { low: -0.05, high: Math.log10(this.counts[this.counts.length - 1]) + 0.05 };
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintErrors(c, w, h) {
    const { low, high } = this.limits;
    const few = h < 180 || high - low > 2.5;
    const ticks = (/** @type {number[]} */ values) =>
      /** @type {Ticks} */ (values.map((value) => [Math.log10(value), String(value)]));
    const errors = ERROR_TICKS.filter((error) => Math.log10(error) >= low && Math.log10(error) <= high);
    this.frame = this.chart(c, w, h, {
      x: { ...this.ends, ticks: ticks(R_TICKS) },
      y: { low, high, ticks: ticks(few ? errors.filter((error) => Number.isInteger(Math.log10(error))) : errors) },
      xTitle: "number of frequencies r",
      yTitle: "error ‖K̃ − K‖ / ‖K‖",
      inside: (px, py, frame) => {
        for (const k of SIDES) this.paintDraws(c, k, px, py);
        paintMarker(c, px(Math.log10(this.of)), frame, this.ink);
        for (const k of SIDES) {
          if (!this.shown[k]) continue;
          circle(c, px(Math.log10(this.shown[k].r)), py(logOf(this.shown[k].error)), 5.5 * (this.rem / 15));
          fillAndOutline(c, this.lookOf(k)[0], "white", 1.5);
        }
      },
    });
  }

  /**
   * Errors of a side: for a sequence, errors of the draw on screen and a band of all draws; else errors of its fits.
   *
   * @param {Context} c @param {number} k @param {Scale} px @param {Scale} py
   */
  paintDraws(c, k, px, py) {
    const { errors, omega, fits } = this.sides[k];
    const [colour, dash] = this.lookOf(k);
    if (!omega) {
      const spots = fits.map(({ r, error }) => [px(Math.log10(r)), py(logOf(error))]);
      if (spots.length) paintCurve(c, spots, colour, dash);
      for (const [x, y] of spots) {
        circle(c, x, y, 3);
        c.fillStyle = colour;
        c.fill();
      }
      return;
    }
    const M = omega.length / 2;
    const draws = Array.from({ length: errors.length / M }, (_, i) => errors.subarray(i * M, (i + 1) * M));
    const at = (/** @type {number} */ j, /** @type {number} */ error) => [px(Math.log10(j + 1)), py(logOf(error))];
    const worst = Array.from(draws[0], (_, j) => at(j, Math.max(...draws.map((draw) => draw[j]))));
    const best = Array.from(draws[0], (_, j) => at(j, Math.min(...draws.map((draw) => draw[j]))));
    paintArea(c, [...worst, ...best.reverse()], colour, 0.15);
    const onScreen = Array.from(draws[0], (error, j) => at(j, error));
    paintCurve(c, onScreen, colour, dash);
  }
}

/** @param {number} error */
function logOf(error) {
  return Math.log10(Math.max(error, 1e-9));
}

/** An error with three decimals, or as a power of ten if they are all 0. @param {number} error */
function shortError(error) {
  return error >= 0.0005 ? error.toFixed(3) : withMinus(error.toExponential(0));
}

export default mounting(LiveApproximation);
