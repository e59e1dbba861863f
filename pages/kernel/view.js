// @ts-check
// The live view of a kernel as a prior: frequencies under their density, the kernel as the mean of their cosines, and
// functions drawn from the prior.

import { paintCurve, paintVertical, symmetricTicks, withMinus } from "../shared/live/charts.js";
import { cssColour } from "../shared/live/colours.js";
import { circle, fillAndOutline, paintRing, stroke } from "../shared/live/marks.js";
import { largest, roundedPower } from "../shared/live/maths.js";
import { codeOfPlaces, movedPlaces, places, priorLine, sumsOf } from "./prior_line.js";
import { tableOf } from "../shared/live/rasters.js";
import { LiveView, REST, mounting } from "../shared/live/view.js";

/** @import { Dash, Scale } from "../shared/live/charts.js" */
/** @import { PriorLine, UnitPrior } from "./prior_line.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Report, Root } from "../shared/live/view.js" */

const MOST_TICKS = 100; // frequencies that are shown one by one; more are bars
const BAR = 0.25; // width of a bar times the width of the kernel: the bars are the same for all widths
const LOWEST = -1.1; // of the kernels' axis, whose top is HIGHEST
const HIGHEST = 1.3;
const FUNCTION_RANGE = 3.3; // standard deviations of a function, to either side
const REACH = 22; // pixels within which the pointer takes hold of a frequency
const KEY_STEP = 0.1; // of a frequency by an arrow key; ten times as far with Shift
const PATIENCE = 3000; // milliseconds within which the server answers a report

class LivePrior extends LiveView {
  /** The frequency under the pointer, or chosen by keyboard.
   * @type {{ frequency?: number }} */
  focus = {};

  /** Places at width 1 of the frequencies that the reader has moved, by their numbers.
   * @type {Map<number, number>} */
  moves = new Map();

  /** The dragged frequency, and the pointer's distance from its middle, in pixels.
   * @type {{ frequency: number, apart: number } | null} */
  held = null;

  /** The code that was sent to the server and has no answer yet.
   * @type {{ code: string, time: number } | null} */
  sent = null;

  /** Waits for the last arrow key.
   * @type {ReturnType<typeof setTimeout>} */
  keyTimer;

  /** @type {UnitPrior} */
  prior;

  /** Curves on screen, at the settings `of`.
   * @type {PriorLine} */
  line;

  of = "";

  played = "D";

  /** Frequencies within the axis whose single cosines are shown.
   * @type {number[]} */
  waves = [];

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.spectrum = this.panel("canvas.spectrum", (c, w, h) => this.paintSpectrum(c, w, h)).canvas;
    this.takeHold(this.spectrum);
    this.find(".put-back").onclick = () => this.putBack();
    this.panel("canvas.kernel", (c, w, h) => this.paintKernel(c, w, h));
    this.panel("canvas.functions", (c, w, h) => this.paintFunctions(c, w, h));
    this.addSwatches((line) => [this.data.colours[line], this.data.dashes[line]]);
    this.panel("canvas.waves", (c, w, h) => this.paintWaveSwatch(c, w, h));
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data */
  receive(data) {
    this.prior = {
      omega: this.array("omega", Float64Array),
      offsets: this.array("offsets", Float32Array),
      weights: this.array("weights", Float32Array),
      density: this.array("density", Float64Array),
      kernel: this.array("kernel", Float64Array),
      reach: data.reach,
      ranges: data.ranges,
    };
    this.sums = sumsOf(this.prior);
    this.setCounts(data.counts);
    this.of = "";
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    super.update(data, report);
    const code = data.moved ?? "";
    const { sent } = this;
    if (this.held || (sent && sent.code !== code && performance.now() - sent.time < PATIENCE)) return;
    this.sent = null;
    this.moves = movedPlaces(code);
    this.request();
  }

  // --- frequencies that the reader moves ----------------------------------------------------------------------------

  /** Whether frequencies may be moved: not in a lesson, nor where there are too many to see. */
  get movable() {
    return this.data.moved !== null && this.line.omega.length <= MOST_TICKS;
  }

  /** @param {HTMLCanvasElement} canvas */
  takeHold(canvas) {
    canvas.onpointerdown = (event) => {
      const frequency = this.frequencyAt(event);
      if (frequency === undefined) return;
      canvas.setPointerCapture(event.pointerId);
      this.held = { frequency, apart: event.offsetX - this.pixelOf(frequency) };
      this.setFocus({ frequency });
    };
    canvas.onpointermove = (event) => {
      if (!this.held) return this.setFocus({ frequency: this.frequencyAt(event) });
      const { left, right } = this.frame;
      const end = this.prior.ranges[0];
      const { frequency, apart } = this.held;
      this.place(frequency, ((event.offsetX - apart - left) / (right - left)) * 2 * end - end, event.timeStamp);
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (this.held) this.tell();
      this.held = null;
    };
    canvas.onpointerleave = canvas.onblur = () => !this.held && this.setFocus({});
    canvas.onkeydown = (event) => this.moveByKey(event);
  }

  /** Where a frequency is on the canvas, from its left. @param {number} frequency */
  pixelOf(frequency) {
    const { left, right } = this.frame;
    return left + (this.line.omega[frequency] / this.prior.ranges[0] + 1) * 0.5 * (right - left);
  }

  /** The frequency under the pointer. @param {PointerEvent} event */
  frequencyAt(event) {
    if (!this.movable) return undefined;
    let nearest;
    let distance = REACH;
    for (let j = 0; j < this.line.omega.length; j++) {
      const far = Math.abs(this.pixelOf(j) - event.offsetX);
      if (far < distance) [nearest, distance] = [j, far];
    }
    return nearest;
  }

  /** @param {number} frequency @param {number} omega where it is put, within the axis @param {number} time of the input */
  place(frequency, omega, time) {
    const end = this.prior.ranges[0];
    const place = Math.max(-end, Math.min(omega, end)) * this.value("width");
    this.moves.set(frequency, Number(place.toFixed(4)));
    this.inputTime ??= time;
    this.request();
  }

  /** Choose a frequency by Up and Down, move it by Left and Right, or put it back. @param {KeyboardEvent} event */
  moveByKey(event) {
    if (!this.movable) return;
    const { frequency } = this.focus;
    const { omega } = this.line;
    const turn = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const side = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (turn) {
      const end = this.prior.ranges[0];
      const order = [...omega.keys()].filter((j) => Math.abs(omega[j]) <= end).sort((a, b) => omega[a] - omega[b]);
      const at = frequency === undefined ? Math.floor(order.length / 2) : order.indexOf(frequency) + turn;
      this.setFocus({ frequency: order[(at + order.length) % order.length] });
    } else if (frequency !== undefined && side) {
      this.place(frequency, omega[frequency] + side * KEY_STEP * (event.shiftKey ? 10 : 1), event.timeStamp);
    } else if (frequency !== undefined && ["Delete", "Backspace"].includes(event.key)) {
      this.moves.delete(frequency);
      this.request();
    } else return;
    event.preventDefault();
    clearTimeout(this.keyTimer);
    if (!turn) this.keyTimer = setTimeout(() => this.tell(), REST);
  }

  putBack() {
    this.moves.clear();
    this.tell();
    this.request();
  }

  /** Report the moved frequencies to the server. */
  tell() {
    const code = codeOfPlaces(this.moves);
    if (code === (this.sent?.code ?? this.given.moved ?? "")) return;
    this.sent = { code, time: performance.now() };
    this.report("clicked", code);
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  /** @param {string} name */
  value(name) {
    return name === "width" ? roundedPower(Number(this.inputs.width.value)) : super.value(name);
  }

  /** @param {string} name */
  spoken(name) {
    return `${this.text(name)}: largest distance of the mean of cosines from the kernel ${this.distance.toFixed(2)}`;
  }

  compute() {
    const [width, D] = [this.value("width"), this.value("D")];
    const of = `${width} ${D} ${codeOfPlaces(this.moves)}`;
    if (this.of === of) return;
    this.of = of;
    const omega = this.prior.omega.slice();
    for (const [frequency, place] of this.moves) omega[frequency] = place;
    this.line = priorLine({ ...this.prior, omega }, this.sums, width, D);
    const [end] = this.prior.ranges;
    const within = [...this.line.omega].filter((omega) => Math.abs(omega) <= end);
    this.outside = D - within.length;
    this.waves = within.slice(0, this.data.waves.length);
    this.distance = largest(this.line.kernel.map((value, k) => Math.abs(value - this.line.cosSin[k])));
  }

  write() {
    const D = this.value("D");
    const outside = this.outside ? `, ${this.outside} beyond the axis` : "";
    this.find(".spectrum-words").textContent = `density, and ${D} ${D === 1 ? "frequency" : "frequencies"}${outside}`;
    const cosines = D === 1 ? "one cosine misses" : `the mean of ${D} cosines misses`;
    this.find(".kernel-words").textContent = `kernel: ${cosines} it by at most ${this.distance.toFixed(2)}`;
    this.find(".put-back").hidden = !this.movable || !this.moves.size;
    this.find("span.advice").hidden = !this.movable || this.focus.frequency !== undefined;
    this.find(".reading").textContent = this.reading();
    this.spectrum.classList.toggle("draggable", this.movable);
    this.find(".functions-words").textContent = `${this.line.functions.length} functions drawn from this prior`;
  }

  /** Words on the frequency in focus. */
  reading() {
    const { frequency } = this.focus;
    if (frequency === undefined || !this.movable) return "";
    const omega = this.line.omega[frequency];
    const drawn = this.prior.omega[frequency] / this.value("width");
    const moved = this.moves.has(frequency) ? `, drawn at ${withMinus(drawn.toFixed(2))}` : "";
    return `ω = ${withMinus(omega.toFixed(2))}${moved}: its cosine repeats after ${((2 * Math.PI) / Math.abs(omega)).toPrecision(3)}.`;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** @param {Context} c @param {number} w @param {number} h */
  paintSpectrum(c, w, h) {
    const { line } = this;
    const [end] = this.prior.ranges;
    const bars = line.omega.length > MOST_TICKS ? this.bars() : [];
    const top = Math.max(largest(line.density), ...bars.map(({ height }) => height));
    this.frame = this.chart(c, w, h, {
      x: { low: -end, high: end, ticks: symmetricTicks(end) },
      y: { low: -0.12 * top, high: 1.05 * top, ticks: symmetricTicks(top).filter(([value]) => value >= 0) },
      xTitle: w > 300 ? "frequency ω (radians per unit of x)" : "frequency ω",
      yTitle: "density",
      inside: (px, py) => {
        c.fillStyle = this.data.colours.cos_sin;
        c.globalAlpha = 0.45;
        for (const { left, right, height } of bars) {
          c.fillRect(px(left), py(height), px(right) - px(left), py(0) - py(height));
        }
        c.globalAlpha = 1;
        this.paintGraph(c, line.density, end, px, py, this.data.colours.kernel, "solid", 3);
        if (!bars.length)
          this.paintTicks(c, line.omega, this.data.colours.cos_sin, 1.3, px, py(-0.08 * top), py(-0.02 * top));
        for (const [k, omega] of this.waves.entries()) {
          this.paintTicks(c, [omega], this.data.waves[k], 2.5, px, py(-0.11 * top), py(0.01 * top));
        }
        if (!bars.length) this.paintMoves(c, px, py(-0.05 * top));
      },
    });
  }

  /**
   * Discs at frequencies that were moved and rings where they were drawn, and a ring around the one in focus.
   *
   * @param {Context} c @param {Scale} px @param {number} y
   */
  paintMoves(c, px, y) {
    const { omega } = this.line;
    const radius = 0.3 * this.rem;
    for (const [frequency] of this.moves) {
      if (frequency >= omega.length) continue;
      circle(c, px(this.prior.omega[frequency] / this.value("width")), y, radius);
      stroke(c, this.data.colours.kernel, 1.5);
      circle(c, px(omega[frequency]), y, radius);
      fillAndOutline(c, this.data.colours.cos_sin, "white", 1.2);
    }
    const { frequency } = this.focus;
    if (frequency < omega.length) paintRing(c, px(omega[frequency]), y, 1.5 * radius);
  }

  /** A histogram of the frequencies, to compare with the density. */
  bars() {
    const { omega } = this.line;
    const side = BAR / this.value("width");
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (const w of omega) counts.set(Math.floor(w / side), (counts.get(Math.floor(w / side)) ?? 0) + 1);
    return [...counts].map(([k, count]) => {
      return { left: k * side, right: (k + 1) * side, height: count / (omega.length * side) };
    });
  }

  /**
   * @param {Context} c @param {Iterable<number>} omega @param {string} colour @param {number} width
   * @param {Scale} px @param {number} bottom @param {number} top in pixels
   */
  paintTicks(c, omega, colour, width, px, bottom, top) {
    c.strokeStyle = colour;
    c.lineWidth = width;
    for (const w of omega) paintVertical(c, px(w), top, bottom);
  }

  /**
   * @param {Context} c @param {ArrayLike<number>} values at the places of an axis that ends at `end` @param {number} end
   * @param {Scale} px @param {Scale} py @param {string} colour
   * @param {Dash} dash @param {number} width
   */
  paintGraph(c, values, end, px, py, colour, dash, width) {
    const every = Math.max(1, Math.floor(values.length / (px(end) - px(-end)))); // about one point a pixel
    const points = [];
    for (const [k, x] of places(end, values.length).entries()) if (k % every === 0) points.push([px(x), py(values[k])]);
    paintCurve(c, points, colour, dash, width);
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintKernel(c, w, h) {
    const { line } = this;
    const { colours, dashes, waves } = this.data;
    const end = this.prior.ranges[1];
    this.chart(c, w, h, {
      x: { low: -end, high: end, ticks: symmetricTicks(end) },
      y: { low: LOWEST, high: HIGHEST, ticks: symmetricTicks(1) },
      xTitle: "difference δ = x − x′",
      yTitle: "kernel",
      inside: (px, py) => {
        c.globalAlpha = 0.55;
        for (const [k, omega] of this.waves.entries()) {
          const wave = places(end, line.kernel.length).map((delta) => Math.cos(omega * delta));
          this.paintGraph(c, wave, end, px, py, waves[k], "solid", 1.2);
        }
        c.globalAlpha = 1;
        const { frequency } = this.focus;
        if (this.movable && frequency < line.omega.length) {
          const wave = places(end, line.kernel.length).map((delta) => Math.cos(line.omega[frequency] * delta));
          this.paintGraph(c, wave, end, px, py, this.ink, "solid", 1.8);
        }
        this.paintGraph(c, line.kernel, end, px, py, colours.kernel, dashes.kernel, 5);
        this.paintGraph(c, line.randomPhase, end, px, py, colours.random_phase, dashes.random_phase, 1.8);
        this.paintGraph(c, line.cosSin, end, px, py, colours.cos_sin, dashes.cos_sin, 2.2);
      },
    });
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintFunctions(c, w, h) {
    const { functions } = this.line;
    const end = this.prior.ranges[1];
    const table = tableOf("sequential");
    this.chart(c, w, h, {
      x: { low: -end, high: end, ticks: symmetricTicks(end) },
      y: { low: -FUNCTION_RANGE, high: FUNCTION_RANGE, ticks: symmetricTicks(FUNCTION_RANGE) },
      xTitle: "x",
      yTitle: "f(x)",
      inside: (px, py) => {
        for (const [s, values] of functions.entries()) {
          const colour = cssColour(table[Math.round(70 + (140 * s) / functions.length)]);
          this.paintGraph(c, values, end, px, py, colour, "solid", 2);
        }
      },
    });
  }

  /**
   * The colours of single cosines, for the legend.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintWaveSwatch(c, w, h) {
    const { waves } = this.data;
    for (const [k, colour] of waves.entries()) {
      c.fillStyle = colour;
      c.fillRect((k * w) / waves.length, h / 2 - 1, w / waves.length, 2);
    }
  }
}

export default mounting(LivePrior);
