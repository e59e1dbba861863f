// @ts-check
// The live view of a descent: frequencies that move step by step, the errors along the steps, and one step of them.

import {
  evenTicks,
  paintCurve,
  paintLevel,
  paintLine,
  paintMarker,
  symmetricTicks,
  tickStep,
  withMinus,
} from "../shared/live/charts.js";
import { circle, fillAndOutline, paintRing, place, stroke } from "../shared/live/marks.js";
import { descendingOrder, interpolate, interpolateLog, largest, nearestIndex } from "../shared/live/maths.js";
import { Raster, paintWave } from "../shared/live/rasters.js";
import { LiveView, mounting, reducedMotion } from "../shared/live/view.js";

/** @import { Scale, Ticks } from "../shared/live/charts.js" */
/** @import { Floats } from "../shared/live/maths.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Root } from "../shared/live/view.js" */

/** @typedef {"all" | "landmarks" | "drawn"} Curve of the errors: over all points, at the landmarks, before the descent */

const STEPS_PER_SECOND = 11; // kept steps, while it plays
const JUMPS = 8; // from the first step to the last, one per second, with reduced motion
const BRIGHT_STEPS = 6; // kept steps along the bright end of a trail
const EVEN_DOT = 5.5; // radius in pixels of a dot of weight 1/r
const LARGEST_DOT = 13; // largest radius in pixels
const SMALLEST_DOT = 1.2; // radius in pixels of all dots below it
const POINTER_RADIUS = 14; // pixels within which the pointer is on a dot
const WAVE_CELLS = 100; // along a side of the points' square
const LOWEST_ERROR = -6; // power of ten at which the axis ends

class LiveDescent extends LiveView {
  /** @type {{ frequency?: number }} */
  focus = {};

  /** The frequencies at the shown step, and where they lie on the canvas.
   * @type {{ omega: Float32Array, weight: Float32Array, spots: [number, number][] }} */
  dots;

  /** Frequencies, the heaviest first.
   * @type {number[]} */
  order = [];

  /** The kept step at or before the shown one. */
  kept = 0;

  /** Number of the last kept step. */
  last = 0;

  /** The shown step, and the errors over all points and at the landmarks there.
   * @type {{ step: number, errors: [number, number] }} */
  shown;

  /** Ends of the axis of steps.
   * @type {{ low: number, high: number }} */
  axis;

  played = "step";

  /** @param {Root} root */
  constructor(root) {
    super(root);
    const slider = (this.slider = this.inputs.step);
    this.panel("canvas.points", (c, w) => this.paintInputs(c, w));
    this.wave = new Raster(WAVE_CELLS);
    this.plane = this.panel("canvas.frequencies", (c, w, h) => this.paintPlane(c, w, h)).canvas;
    const errors = this.panel("canvas.errors", (c, w, h) => this.paintErrors(c, w, h));
    this.draggable(errors.canvas, (fraction) => this.moveToStep(fraction));
    this.addSwatches((line) => [this.data.colours[line], this.data.dashes[line]]);
    // A hand on the slider ends Play, before the slider moves.
    slider.onpointerdown = () => this.playTimer && this.stop();
    slider.onkeydown = (event) => this.playTimer && /^(Arrow|Page|Home|End)/.test(event.key) && this.stop();
    this.plane.onpointermove = (event) => this.setFocus(this.dotAt(event));
    this.plane.onpointerleave = this.plane.onblur = () => this.setFocus({});
    this.plane.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const current = this.order.indexOf(this.focus.frequency);
      this.setFocus({ frequency: this.order[current < 0 ? 0 : (current + step + this.r) % this.r] });
      event.preventDefault();
    };
  }

  /** @param {Data} data */
  receive(data) {
    if (this.playTimer) this.stop();
    const atEnd = this.last > 0 && Number(this.slider.value) >= this.last;
    this.points = this.array("points", Float32Array);
    this.landmarks = this.array("landmarks", Float32Array);
    this.steps = this.array("steps", Uint16Array);
    this.omega = this.array("frequencies", Float32Array);
    this.weights = this.array("weights", Float32Array);
    this.errors = this.array("errors", Float32Array);
    this.landmarkErrors = this.array("landmark_errors", Float32Array);
    const r = (this.r = this.weights.length / this.steps.length);
    this.last = this.steps.length - 1;
    // One scale for all steps: a dot grows with its weight.
    this.unit = Math.min(EVEN_DOT, LARGEST_DOT / Math.sqrt(largest(this.weights) * r));
    this.dots = { omega: new Float32Array(2 * r), weight: new Float32Array(r), spots: [] };
    this.slider.max = String(this.last);
    if (atEnd) this.slider.value = String(this.last); // to compare the ends of two descents
    this.find(".drawn-words").textContent = `as drawn: ${errorText(data.drawn_error)}`;
  }

  // --- the step -----------------------------------------------------------------------------------------------------

  /** The kept step nearest to the slider: a blend of two kept steps is no step of the descent. */
  value() {
    return this.steps[Math.round(Number(this.slider.value))];
  }

  text() {
    return `${this.value()} of ${this.steps[this.last]}`;
  }

  spoken() {
    const [all, landmarks] = this.shown.errors.map(errorText);
    return `${this.text()}: error ${all} over all points, ${landmarks} at the landmarks`;
  }

  /**
   * Move to the kept step nearest to a place on the chart, whose axis is in steps.
   *
   * @param {number} fraction
   */
  moveToStep(fraction) {
    if (this.playTimer) this.stop();
    const { low, high } = this.axis;
    this.slider.value = String(nearestIndex(this.steps, low + fraction * (high - low)));
  }

  /** Nothing else depends on the step, so there is nothing to report. */
  settle() {
    clearTimeout(this.restTimer);
    this.dragging = false;
  }

  play() {
    const { slider, last } = this;
    const jump = reducedMotion() ? Math.ceil(last / JUMPS) : 0;
    if (Number(slider.value) >= last) slider.value = "0";
    if (!jump) slider.step = "any";
    this.showPlaying(true);
    /** @type {number} */
    let before;
    const frame = (/** @type {number} */ now) => {
      const passed = now - (before ??= now);
      if (!jump || passed >= 1000) {
        before = now;
        // A hidden page resumes where it was.
        const steps = jump || (STEPS_PER_SECOND * Math.min(passed, 100)) / 1000;
        slider.value = String(Number(slider.value) + steps);
        if (Number(slider.value) >= last) return this.stop();
        this.request(); // before the next frame of Play: otherwise only every other frame is painted
      }
      this.playTimer = requestAnimationFrame(frame);
    };
    this.playTimer = requestAnimationFrame(frame);
  }

  stop() {
    cancelAnimationFrame(this.playTimer);
    this.playTimer = null;
    this.slider.value = String(Math.round(Number(this.slider.value)));
    this.slider.step = "1";
    this.showPlaying(false);
    this.settle();
    this.request();
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    const { dots, r, last, steps, errors, landmarkErrors } = this;
    const place = Number(this.slider.value);
    const k = Math.min(Math.floor(place), last);
    const next = Math.min(k + 1, last);
    const part = place - k;
    interpolate(this.omega, k, next, part, 2 * r, dots.omega);
    interpolate(this.weights, k, next, part, r, dots.weight);
    this.order = descendingOrder(dots.weight);
    this.kept = k;
    const step = (1 - part) * steps[k] + part * steps[next];
    const s = Math.floor(step);
    const following = Math.min(s + 1, steps[last]);
    this.shown = {
      step,
      errors: [
        interpolateLog(errors[k], errors[next], part),
        interpolateLog(landmarkErrors[s], landmarkErrors[following], step - s),
      ],
    };
  }

  write() {
    const { extent } = this.data;
    const { omega, weight } = this.dots;
    const [all, landmarks] = this.shown.errors.map(errorText);
    const outside = weight.filter((_, j) => Math.max(Math.abs(omega[2 * j]), Math.abs(omega[2 * j + 1])) > extent);
    this.find(".plane-words").textContent =
      `${this.r} frequencies: rings as drawn, discs at step ${this.value()}, area their weight` +
      (outside.length ? `; ${outside.length} outside the axes` : "");
    this.find(".all-words").textContent = `over all points: ${all}`;
    this.find(".landmarks-words").textContent = `at the landmarks: ${landmarks}`;
    const j = this.focus.frequency;
    const waves = j === undefined ? "" : ", over the wave of this frequency";
    this.find(".points-words").textContent =
      `${this.points.length / 2} points, ${this.landmarks.length / 2} landmarks (orange)${waves}`;
    this.find(".advice").hidden = j !== undefined;
    this.find(".reading").textContent = j === undefined ? "" : this.reading(j);
  }

  /** @param {number} j */
  reading(j) {
    const weight = this.dots.weight[j];
    return (
      `ω = ${frequencyText(this.dots.omega, j)}, weight ${weight.toFixed(4)}, ${(weight * this.r).toPrecision(3)} × 1/r. ` +
      `Drawn at ${frequencyText(this.omega, j)}; its best weight there is ${this.weights[j].toFixed(4)}.`
    );
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {MouseEvent} event */
  dotAt(event) {
    const box = this.plane.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let nearest;
    let distance = POINTER_RADIUS;
    for (const [j, spot] of this.dots.spots.entries()) {
      const d = Math.hypot(spot[0] - x, spot[1] - y);
      if (d < distance) [nearest, distance] = [j, d];
    }
    return nearest === undefined ? {} : { frequency: nearest };
  }

  /**
   * The points and the landmarks, over the wave of the frequency in focus.
   *
   * @param {Context} c @param {number} w
   */
  paintInputs(c, w) {
    const { colours, data_extent: extent } = this.data;
    const { frequency: j } = this.focus;
    if (j !== undefined) {
      paintWave(c, w, this.wave, this.dots.omega.subarray(2 * j, 2 * j + 2), 0, extent, "similarity");
    }
    /** @param {Floats} points @param {number} radius @param {string} colour */
    const dots = (points, radius, colour) => {
      for (let k = 0; k < points.length; k += 2) {
        circle(c, ...place(points[k], points[k + 1], extent, w), radius);
        fillAndOutline(c, colour, "white", 0.5);
      }
    };
    dots(this.points, Math.max(1.8, w / 150), colours.start);
    dots(this.landmarks, Math.max(2.6, w / 90), colours.chosen);
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintPlane(c, w, h) {
    const { extent } = this.data;
    const axis = { low: -extent, high: extent, ticks: symmetricTicks(extent) };
    this.chart(c, w, h, {
      x: axis,
      y: axis,
      xTitle: "ω₁",
      yTitle: "ω₂",
      inside: (px, py) => {
        const { omega } = this.dots;
        const scale = this.rem / 15;
        this.dots.spots = this.order.map((_, j) => [px(omega[2 * j]), py(omega[2 * j + 1])]);
        for (let j = 0; j < this.r; j++) this.paintTrail(c, j, px, py, scale);
        for (const j of this.order) this.paintDot(c, j, scale);
        const { frequency: j } = this.focus;
        if (j === undefined) return;
        const radius = this.unit * Math.sqrt(this.dots.weight[j] * this.r) + 3;
        paintRing(c, ...this.dots.spots[j], scale * Math.max(radius, 6));
      },
    });
  }

  /**
   * A frequency's path so far: a ring where it was drawn, a faint line, and a bright line along the latest steps.
   *
   * @param {Context} c @param {number} j @param {Scale} px @param {Scale} py @param {number} scale
   */
  paintTrail(c, j, px, py, scale) {
    const { omega, r, kept } = this;
    const inFocus = this.focus.frequency === j;
    const path = Array.from({ length: kept + 1 }, (_, k) => [
      px(omega[2 * (k * r + j)]),
      py(omega[2 * (k * r + j) + 1]),
    ]);
    path.push(this.dots.spots[j]);
    circle(c, path[0][0], path[0][1], (inFocus ? 4 : 2.6) * scale);
    stroke(c, this.data.colours.start, (inFocus ? 2.2 : 1.2) * scale);
    c.strokeStyle = this.data.colours.trail;
    c.globalAlpha = inFocus ? 1 : 0.5;
    c.lineWidth = (inFocus ? 2 : 1) * scale;
    paintLine(c, path);
    c.globalAlpha = 1;
    c.lineWidth = 2 * scale;
    paintLine(c, path.slice(-BRIGHT_STEPS - 1));
  }

  /** @param {Context} c @param {number} j @param {number} scale */
  paintDot(c, j, scale) {
    const { colours } = this.data;
    const radius = scale * this.unit * Math.sqrt(this.dots.weight[j] * this.r);
    const tiny = radius < SMALLEST_DOT * scale;
    circle(c, ...this.dots.spots[j], tiny ? SMALLEST_DOT * scale : radius);
    c.globalAlpha = 0.8;
    c.fillStyle = tiny ? colours.start : colours.all;
    c.fill();
    c.globalAlpha = 1;
    stroke(c, "white", 0.7 * scale);
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintErrors(c, w, h) {
    const { drawn_error: drawn, colours, dashes } = this.data;
    const all = [...this.errors, ...this.landmarkErrors, drawn].map(logError);
    const low = Math.min(...all) - 0.1;
    const high = Math.max(...all) + 0.15;
    const last = Math.max(this.steps[this.last], 1);
    this.axis = { low: -0.03 * last, high: 1.03 * last };
    const step = Math.max(1, tickStep(last, w > 420 ? 4 : 2));
    this.frame = this.chart(c, w, h, {
      x: { ...this.axis, ticks: evenTicks(last, step) },
      y: { low, high, ticks: errorTicks(low, high) },
      xTitle: "step",
      yTitle: "error ‖K̃ − K‖ / ‖K‖",
      inside: (px, py, frame) => {
        const x = px(this.shown.step);
        /** @type {(error: number) => number} */
        const y = (error) => py(logError(error));
        paintMarker(c, x, frame, this.ink);
        paintLevel(c, frame, y(drawn), colours.drawn, dashes.drawn, 2.5);
        const atLandmarks = Array.from(this.landmarkErrors, (error, step) => [px(step), y(error)]);
        paintCurve(c, atLandmarks, colours.landmarks, dashes.landmarks);
        const overAll = Array.from(this.errors, (error, k) => [px(this.steps[k]), y(error)]);
        paintCurve(c, overAll, colours.all, dashes.all);
        for (const [k, name] of ["all", "landmarks"].entries()) {
          circle(c, x, y(this.shown.errors[k]), 5.5 * (this.rem / 15));
          fillAndOutline(c, colours[name], "white", 1.5);
        }
      },
    });
  }
}

/** @param {number} error */
function logError(error) {
  return Math.max(Math.log10(error), LOWEST_ERROR);
}

/** An error in three digits. @param {number} error */
function errorText(error) {
  return error < 1e-4 ? withMinus(error.toExponential(2)) : error.toPrecision(3);
}

/** @param {Float32Array} omega @param {number} j */
function frequencyText(omega, j) {
  return `(${withMinus(omega[2 * j].toFixed(2))}, ${withMinus(omega[2 * j + 1].toFixed(2))})`;
}

/**
 * Ticks of a logarithmic axis between two powers of ten: at 1, on a short axis at 3 as well.
 *
 * @param {number} low @param {number} high
 * @returns {Ticks}
 */
function errorTicks(low, high) {
  /** @type {Ticks} */
  const ticks = [];
  for (let power = LOWEST_ERROR; power <= high; power++) {
    for (const lead of high - low < 3.5 ? [1, 3] : [1]) {
      const value = power + Math.log10(lead);
      if (value < low || value > high) continue;
      ticks.push([value, power < -3 ? `${lead}e−${-power}` : String(Number(`${lead}e${power}`))]);
    }
  }
  return ticks;
}

export default mounting(LiveDescent);
