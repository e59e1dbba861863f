// @ts-check
// Shared by live views: sliders that repaint the canvases at every frame, Play, gliding to settings from the server,
// and reports of the settings at which a slider was left.

import { paintChart, paintSwatch } from "./charts.js";
import { setTheme, tableOf } from "./rasters.js";
import { cssColour } from "./colours.js";
import { inFigures, nearestIndex, roundedPower } from "./maths.js";
import { INK_OF_FILES, svgOf } from "./picture.js";
import { FAMILY_OF_FILES, setFamily } from "./typeface.js";
import { unpackedArray } from "./unpacking.js";

/** @import { Chart, Dash } from "./charts.js" */
/** @import { Floats } from "./maths.js" */
/** @import { TableName } from "./rasters.js" */
/** @import { Context } from "./svg.js" */
/** @typedef {(c: Context, w: number, h: number) => void} Painter */
/** @typedef {Record<string, number>} Settings */
/** @typedef {(name: string, value: unknown) => void} Report */
/** @typedef {{ version: string, sample?: string, settings: Settings, rows?: number[], clickable: boolean, [name: string]: any }} Data */
/** @typedef {HTMLElement & { view?: LiveView }} Root */
/**
 * @typedef {object} Component of Streamlit
 * @property {HTMLElement} parentElement
 * @property {any} data
 * @property {Report} setStateValue
 * @property {Report} setTriggerValue
 */

const REDUCED_MOTION = window.matchMedia("(prefers-reduced-motion: reduce)");
const GLIDE = 900; // milliseconds from one setting to another that came from the server
export const REST = 150; // milliseconds without a change after which a slider is settled
const ECHO = 3000; // milliseconds within which the server answers a report
const SAME = 0.02; // positions closer than this fraction of a slider's range count as one
const OPTIONAL = ["sigma", "along", "across", "angle", "noise", "n"]; // sliders that some views lack at times

export const reducedMotion = () => REDUCED_MOTION.matches;

/** A canvas and the painter that fills it, in CSS pixels. The same painter paints the panel of a saved picture. */
export class Panel {
  /** The last picture of `still`, with its look and size. */
  layer = { canvas: document.createElement("canvas"), look: "" };

  /** Look and size of the painted panel. */
  painted = "";

  /**
   * @param {HTMLCanvasElement} canvas @param {Painter} painter
   * @param {boolean} fixed whether no slider changes the panel
   */
  constructor(canvas, painter, fixed) {
    this.canvas = canvas;
    this.painter = painter;
    this.fixed = fixed;
    this.context = canvas.getContext("2d");
    canvas.oncontextrestored = () => (this.painted = this.layer.look = "");
  }

  /**
   * @param {string} look state of the panel's picture, apart from data, sliders and focus
   * @param {Data} data @param {string} focus
   */
  repaint(look, { version, sample = version }, focus) {
    const { canvas, context } = this;
    const ratio = window.devicePixelRatio || 1;
    const w = canvas.clientWidth;
    const h = canvas.clientHeight;
    if (!w || !h) return; // hidden
    const width = Math.max(1, Math.round(w * ratio));
    const height = Math.max(1, Math.round(h * ratio));
    this.look = `${look} ${sample} ${width} ${height}`;
    const now = `${this.look} ${version} ${focus}`;
    if (this.fixed && this.painted === now) return;
    this.painted = now;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, w, h);
    this.painter(context, w, h);
  }

  /**
   * Paint the part that neither a slider nor the focus changes: on the screen as a kept picture, in a file directly.
   *
   * @param {Context} c of the panel or of a file @param {number} w @param {number} h
   * @param {(c: Context) => void} paint
   */
  still(c, w, h, paint) {
    if (c !== this.context) return paint(c);
    const { layer, canvas } = this;
    if (layer.look !== this.look) {
      layer.look = this.look;
      Object.assign(layer.canvas, { width: canvas.width, height: canvas.height }); // clears it
      const context = layer.canvas.getContext("2d");
      context.setTransform(this.context.getTransform());
      paint(context);
    }
    c.drawImage(layer.canvas, 0, 0, w, h);
  }
}

export class LiveView {
  /** Data as they came.
   * @type {Data} */
  given;

  /** Complete data of the view.
   * @type {Data} */
  data;

  /** @type {Report} */
  report;

  /** @type {Panel[]} */
  panels = [];

  /** Element under the pointer, or chosen by keyboard.
   * @type {any} */
  focus = {};

  /** Milliseconds from an input event to the frame that shows it.
   * @type {number[]} */
  latencies = [];

  /** Colour of text.
   * @type {string} */
  ink;

  /** Left and right end, in pixels, of the chart on which a slider is dragged.
   * @type {{ left: number, right: number }} */
  frame;

  /** Whole numbers that a slider takes, if it takes no others.
   * @type {number[]} */
  counts = [];

  /** Their logarithms.
   * @type {Float64Array} */
  logCounts;

  /** The slider that takes them.
   * @type {HTMLInputElement | undefined} */
  counting;

  /** Whether the reader is moving a slider. */
  dragging = false;

  /** Whether the page is printed, in the colours of the light theme. */
  onPaper = false;

  /** Name of the slider that Play moves. */
  played = "beta";

  /** Whether it is hidden. */
  betaHidden = false;

  /** Time of the first input event that no frame shows yet.
   * @type {number | undefined} */
  inputTime;

  /** The last report, until the server has answered it.
   * @type {{ positions: Settings, rows: number[], time: number } | null} */
  reported = null;

  /** Rows that the reader has made landmarks by clicks, until the server has answered.
   * @type {number[] | null} */
  clicked = null;

  /** @type {ReturnType<typeof setTimeout>} */
  restTimer;

  /** @type {ReturnType<typeof setInterval> | null} */
  glideTimer = null;

  /** Settings that the sliders glide to, as text. */
  destination = "";

  /** @type {any} */
  playTimer = null;

  /** @type {number | null} */
  frameRequest = null;

  /**
   * Sliders are the inputs of the root's `.scrubbers`, and of `.handles`, which stand for handles on pictures; one with `data-scale="log"` holds the logarithm of its value.
   *
   * @param {Root} root
   */
  constructor(root) {
    this.root = root;
    /** @type {NodeListOf<HTMLInputElement>} */
    const inputs = root.querySelectorAll(".scrubbers input, .handles input");
    this.inputs = Object.fromEntries([...inputs].map((input) => [input.name, input]));
    /** @type {HTMLInputElement | undefined} */
    this.beta = this.inputs.beta;
    /** @type {NodeListOf<HTMLCanvasElement>} */
    const scales = root.querySelectorAll("canvas.scale");
    for (const scale of scales) this.panel(scale, paintScale, { fixed: true });
    for (const input of inputs) {
      input.oninput = (event) => this.moved(event);
      input.onchange = () => {
        clearTimeout(this.restTimer);
        this.restTimer = setTimeout(() => this.settle(), REST);
      };
    }
    this.find(".play").onclick = () => (this.playTimer ? this.stop() : this.play());
    new ResizeObserver(() => this.request()).observe(root);
  }

  // --- what a view implements ---------------------------------------------------------------------------------------

  /**
   * Complete data of the view, which it may make from draws, see `landmark_data.js` and `kernel_data.js`.
   *
   * @param {Data} data @returns {Data}
   */
  completed(data) {
    return data;
  }

  /**
   * Take in new data.
   *
   * @param {Data} _data
   */
  receive(_data) {}

  /** Compute what depends on the sliders. */
  compute() {}

  /** Write captions and tables. */
  write() {}

  // --- elements -----------------------------------------------------------------------------------------------------

  /** @param {string} selector @returns {HTMLElement} */
  find(selector) {
    return this.root.querySelector(selector);
  }

  /**
   * @param {string | HTMLCanvasElement} canvas @param {Painter} painter
   * @param {{ fixed?: boolean }} [options] whether no slider changes the panel
   */
  panel(canvas, painter, { fixed = false } = {}) {
    const element = typeof canvas === "string" ? this.root.querySelector(canvas) : canvas;
    const panel = new Panel(/** @type {HTMLCanvasElement} */ (element), painter, fixed);
    this.panels.push(panel);
    return panel;
  }

  /** Paint the swatches of the legend. @param {(line: string) => [string, Dash]} lookOf colour and dash of a line */
  addSwatches(lookOf) {
    /** @type {NodeListOf<HTMLCanvasElement>} */
    const swatches = this.root.querySelectorAll("canvas.swatch[data-line]");
    for (const swatch of swatches) {
      this.panel(swatch, (c, w, h) => paintSwatch(c, w, h, ...lookOf(swatch.dataset.line)));
    }
  }

  // --- values of the sliders ----------------------------------------------------------------------------------------

  /** Let a slider take the values of a control; an arrow key goes to the next one. @param {number[]} counts */
  setCounts(counts, name = "D") {
    this.counts = counts;
    this.logCounts = Float64Array.from(counts, Math.log10);
    const input = (this.counting = this.inputs[name]);
    [input.min, input.max] = [0, counts.length - 1].map((k) => String(this.logCounts[k]));
    input.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      const next = this.logCounts[nearestIndex(this.logCounts, Number(input.value)) + step];
      if (!step) return;
      event.preventDefault();
      if (next === undefined) return;
      input.value = String(next);
      for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind));
    };
  }

  /** @param {string} name */
  value(name) {
    const input = this.inputs[name];
    if (input === this.counting) return this.counts[nearestIndex(this.logCounts, Number(input.value))];
    return isLog(input) ? 10 ** Number(input.value) : Number(input.value);
  }

  /** The prior's width on its slider: the value of the app's control, which has three figures. */
  get sigma() {
    return roundedPower(Number(this.inputs.sigma.value));
  }

  /** The standard deviation of the noise: the slider's, or the data's if no slider moves it. */
  get noise() {
    return "noise" in this.given.settings ? this.value("noise") : this.given.noise;
  }

  /** Rows of the training points that are landmarks, if there are landmarks. */
  get landmarkRows() {
    return this.clicked ?? this.given.rows;
  }

  /** Key of the data on screen: the server's version and the values derived from its draws. */
  get version() {
    const { version, draws, C, centroids } = this.given;
    if (!draws) return version;
    const landmarks = this.clicked ? [] : (centroids?.points ?? []);
    return [version, this.sigma, this.noise, C, this.landmarkRows, landmarks].join(" ");
  }

  /**
   * A slider's value as text.
   *
   * @param {string} name
   */
  text(name) {
    return inFigures(this.value(name));
  }

  /**
   * A slider's value for a screen reader.
   *
   * @param {string} name
   */
  spoken(name) {
    return this.text(name);
  }

  // --- data and settings from the server ----------------------------------------------------------------------------

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    this.report = report;
    const first = !this.data;
    const other = data.version !== this.given?.version;
    const outdated = this.outdated(data);
    this.given = data;
    if (other || !outdated) this.clicked = null;
    if (data.noise !== undefined) this.inputs.noise.value = String(data.noise); // it glides from there once shown
    if (other) {
      if (first) this.moveTo(data.settings, false);
      this.focus = {};
      this.complete();
    }
    this.hide(OPTIONAL.filter((name) => !(name in data.settings)));
    if (!this.dragging && !this.playTimer && !outdated) {
      this.moveTo(data.settings, !first && !reducedMotion());
    }
    this.request();
  }

  /** Take in the data for the positions of the sliders on which data from draws depend. */
  complete() {
    const { given } = this;
    if (!given.draws) this.data = given;
    else {
      const { sigma, noise, version } = this;
      this.data = { ...this.completed(given), sigma, noise, sample: `${given.version} ${noise}`, version };
    }
    this.receive(this.data);
  }

  /**
   * Hide the sliders of these names; neither Play nor a chart moves one that is hidden.
   *
   * @param {string[]} names
   */
  hide(names) {
    const bar = this.find(".scrubbers");
    for (const [name, input] of Object.entries(this.inputs)) input.closest("label").hidden = names.includes(name);
    this.betaHidden = this.find(".play").hidden = names.includes(this.played);
    bar.hidden = [...bar.children].every((part) => /** @type {HTMLElement} */ (part).hidden);
    for (const fold of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll("details.more"))) {
      fold.hidden = [...fold.querySelectorAll("label")].every((label) => label.hidden);
    }
    this.root.classList.toggle("beta-hidden", this.betaHidden);
    if (this.betaHidden && this.playTimer) this.stop();
  }

  /**
   * An array of the data, sent as base64 or as it is.
   *
   * @template {Floats | Int8Array | Uint8Array | Uint16Array} T
   * @param {string} name @param {{ new (buffer: ArrayBuffer): T, from(values: ArrayLike<number>): T }} Type @param {Record<string, any>} from
   */
  array(name, Type, from = this.data) {
    return unpackedArray(from[name], Type);
  }

  /** @param {Settings} settings @param {boolean} glide @param {number} duration in milliseconds */
  moveTo(settings, glide, duration = GLIDE) {
    const destination = JSON.stringify(settings);
    if (this.glideTimer && this.destination === destination) return;
    this.destination = destination;
    /** @type {{ input: HTMLInputElement, from: number, to: number }[]} */
    const moves = [];
    for (const [name, value] of Object.entries(settings)) {
      const input = this.inputs[name];
      const to = position(input, value);
      const from = Number(input.value);
      // A slider left between two values of its scale moves to the nearer one at once.
      if (glide && Math.abs(to - from) > SAME * range(input)) moves.push({ input, from, to });
      else input.value = String(to);
    }
    this.halt();
    if (!moves.length) return;
    const start = performance.now();
    this.glideTimer = setInterval(() => {
      const part = Math.min((performance.now() - start) / duration, 1);
      const eased = part * part * (3 - 2 * part);
      for (const { input, from, to } of moves) input.value = String(from + eased * (to - from));
      if (part === 1) this.halt();
      this.request();
    }, 16);
  }

  /**
   * Whether settings from the server are older than the last report, whose answer is still to come.
   *
   * @param {Data} data
   */
  outdated({ settings, rows }) {
    const { reported } = this;
    if (!reported || performance.now() - reported.time > ECHO) return false;
    const answered =
      (!this.clicked || String(rows) === String(reported.rows)) &&
      Object.entries(settings).every(([name, value]) => {
        const input = this.inputs[name];
        return Math.abs(position(input, value) - reported.positions[name]) <= SAME * range(input);
      });
    if (answered) this.reported = null;
    return !answered;
  }

  /** End gliding. */
  halt() {
    clearInterval(this.glideTimer);
    this.glideTimer = null;
  }

  // --- input --------------------------------------------------------------------------------------------------------

  /** @param {Event} event */
  moved(event) {
    this.dragging = true;
    this.halt();
    this.inputTime ??= event.timeStamp;
    this.request();
  }

  /** Report the positions of the sliders to the server. */
  settle() {
    clearTimeout(this.restTimer);
    this.dragging = false;
    this.note();
    this.report("settled", Object.fromEntries(Object.keys(this.inputs).map((name) => [name, this.value(name)])));
  }

  /** Remember the report: settings that differ from it are older. */
  note() {
    const positions = Object.fromEntries(Object.entries(this.inputs).map(([name, { value }]) => [name, Number(value)]));
    this.reported = { positions, rows: this.landmarkRows, time: performance.now() };
  }

  /** How far Play moves its slider in 40 milliseconds, unless the slider's step is larger. */
  get pace() {
    return 0.03;
  }

  /** Run a slider, beta in most views, to its end; with reduced motion in few steps. */
  play() {
    const input = this.inputs[this.played];
    const { pace } = this;
    const end = Number(input.max);
    const step = reducedMotion() ? (0.5 / 0.03) * pace : Math.max(pace, Number(input.step) || 0);
    this.halt();
    if (Number(input.value) >= end) input.value = input.min;
    this.showPlaying(true);
    const tick = () => {
      input.value = String(Math.min(Number(input.value) + step, end));
      this.request();
      if (Number(input.value) >= end) this.stop();
    };
    this.playTimer = setInterval(tick, reducedMotion() ? 1000 : (40 * step) / pace);
  }

  stop() {
    clearInterval(this.playTimer);
    this.playTimer = null;
    this.showPlaying(false);
    this.settle();
  }

  /** @param {boolean} playing */
  showPlaying(playing) {
    this.find(".play").textContent = playing ? "❚❚" : "▶";
    this.find(".play").setAttribute("aria-pressed", String(playing));
  }

  /**
   * Let a chart be dragged: `moveSlider` takes a fraction of the width of the chart's frame.
   *
   * @param {HTMLCanvasElement} canvas @param {(fraction: number) => void} moveSlider
   */
  draggable(canvas, moveSlider) {
    canvas.classList.add("draggable");
    followPointer(canvas, this, (fraction, event) => {
      if (this.betaHidden) return;
      moveSlider(fraction);
      this.moved(event);
    });
    canvas.onpointerup = canvas.onpointercancel = () => this.dragging && this.settle();
  }

  /** @param {object} focus */
  setFocus(focus) {
    if (JSON.stringify(focus) === JSON.stringify(this.focus)) return;
    this.focus = focus;
    this.request();
  }

  // --- painting -----------------------------------------------------------------------------------------------------

  /** Paint in the next frame, once for all requests before it. */
  request() {
    this.frameRequest ??= requestAnimationFrame(() => {
      this.frameRequest = null;
      if (this.data) this.paint();
    });
  }

  paint(panels = this.panels) {
    if (this.data.version !== this.version) this.complete();
    this.compute();
    for (const [name, input] of Object.entries(this.inputs)) {
      this.find(`.${name}-value`).textContent = this.text(name);
      input.setAttribute("aria-valuetext", this.spoken(name));
    }
    this.write();
    // After all words are written, so that the browser lays the page out once.
    const style = getComputedStyle(this.root);
    this.ink = this.onPaper ? INK_OF_FILES : style.color;
    setFamily(style.fontFamily);
    setTheme(isLight(this.ink) ? "dark" : "light");
    this.rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const look = [this.ink, style.fontFamily, this.rem, document.fonts.status].join(" ");
    const focus = JSON.stringify(this.focus);
    for (const panel of panels) panel.repaint(look, this.data, focus);
    followSliders(this);
    this.find(".waiting")?.remove();
    if (this.inputTime === undefined) return;
    this.latencies.push(performance.now() - this.inputTime);
    this.inputTime = undefined;
  }

  /**
   * Paint a chart in the colour of text.
   *
   * @param {Context} c @param {number} w @param {number} h
   * @param {Omit<Chart, "ink" | "size"> & { size?: number }} chart
   */
  chart(c, w, h, chart) {
    return paintChart(c, w, h, { ink: this.ink, size: 0.8 * this.rem, ...chart });
  }

  /** The whole view as the text of an SVG file, in the colours of the light theme. */
  picture() {
    const { ink } = this;
    setFamily(FAMILY_OF_FILES);
    this.ink = INK_OF_FILES;
    setTheme("light");
    const text = svgOf(this);
    this.ink = ink;
    this.request(); // brings back the page's own colours and typeface
    return text;
  }
}

/**
 * Whether a colour of text is light, as in a dark theme.
 *
 * @param {string} colour "rgb(r, g, b)"; empty where the view has left the page
 */
function isLight(colour) {
  const [r, g, b] = (colour.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  return Math.max(r, g, b) >= 128;
}

/** @param {HTMLInputElement} input */
function isLog(input) {
  return input.dataset.scale === "log";
}

/**
 * Position of a slider for a value.
 *
 * @param {HTMLInputElement} input @param {number} value
 */
function position(input, value) {
  return isLog(input) ? Math.log10(value) : value;
}

/** @param {HTMLInputElement} input */
function range(input) {
  return Number(input.max) - Number(input.min);
}

/**
 * The colours of values from -1 to 1, for a legend.
 *
 * @param {Context} c @param {number} w @param {number} h @param {TableName} [name]
 */
export function paintScale(c, w, h, name = "similarity") {
  const table = tableOf(name);
  for (let k = 0; k < 64; k++) {
    c.fillStyle = cssColour(table[k * 4 + 2]);
    c.fillRect((k * w) / 64, 0, w / 64 + 0.5, h);
  }
}

/**
 * Call `move` where a pointer presses a chart and while it is dragged, with a fraction of the width of the frame.
 *
 * @param {HTMLCanvasElement} canvas @param {{ frame: { left: number, right: number } }} chart
 * @param {(fraction: number, event: PointerEvent) => void} move
 */
export function followPointer(canvas, chart, move) {
  const moveTo = (/** @type {PointerEvent} */ event) => {
    const { left, right } = chart.frame;
    move((event.clientX - canvas.getBoundingClientRect().left - left) / (right - left), event);
  };
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    moveTo(event);
  };
  canvas.onpointermove = (event) => canvas.hasPointerCapture(event.pointerId) && moveTo(event);
}

/**
 * Move the lines at sliders in the page's Plotly figures, which the server makes only when a slider is settled; they have
 * the names of the sliders. Plotly paints each shape as a path, and all of them again with the figure.
 *
 * @param {LiveView} view
 */
function followSliders(view) {
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    const { layout, _fullLayout } = /** @type {any} */ (plot); // Plotly's own fields of the element
    for (const [k, { name, xref, x0 }] of (layout?.shapes ?? []).entries()) {
      const axis = _fullLayout?.[xref.replace("x", "xaxis")];
      if (!(name in view.inputs) || !axis?.d2p) continue;
      const line = plot.querySelector(`.shapelayer path[data-index="${k}"]`);
      line?.setAttribute("transform", `translate(${axis.d2p(view.value(name)) - axis.d2p(x0)} 0)`);
    }
  }
}

/**
 * The default export of a component: one view for as long as its root exists.
 *
 * @param {new (root: Root) => LiveView} View
 */
export function mounting(View) {
  return (/** @type {Component} */ component) => {
    /** @type {Root} */
    const root = component.parentElement.querySelector(".live");
    root.view ??= new View(root);
    root.view.update(component.data, (name, value) =>
      name === "settled" ? component.setStateValue(name, value) : component.setTriggerValue(name, value),
    );
  };
}
