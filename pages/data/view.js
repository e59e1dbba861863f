// @ts-check
// The live view of errors: one data set enlarged, all others small beside it, and D along them.

import { evenTicks, paintArea, paintCurve, paintLevel, paintMarker, tickStep } from "../shared/live/charts.js";
import { PALETTE } from "../shared/live/constants.js";
import { circle, fillAndOutline } from "../shared/live/marks.js";
import { LiveView, mounting } from "../shared/live/view.js";
import { ofLandmarks, saving } from "./saving.js";

/** @import { Dash, Frame, Scale, Ticks } from "../shared/live/charts.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Known } from "./saving.js" */
/** @import { Data, Report, Root } from "../shared/live/view.js" */

const ROOM = 1.06; // of an axis above its largest value

class LiveErrors extends LiveView {
  played = "D";

  /** The enlarged set, until the server has answered a click.
   * @type {string | null} */
  asked = null;

  /** @type {Map<string, { button: HTMLButtonElement, words: HTMLElement }>} */
  small = new Map();

  /** @param {Root} root */
  constructor(root) {
    super(root);
    const one = this.panel("canvas.one", (c, w, h) => this.paintOne(c, w, h));
    this.draggable(one.canvas, (fraction) => {
      const { low, high } = this.axis;
      this.inputs.D.value = String(low + fraction * (high - low));
    });
    this.addSwatches((line) => [
      PALETTE.methods[line],
      line === "svm" ? "longdash" : dashOf({ method: line, random: false }),
    ]);
  }

  get pace() {
    return 0.012;
  }

  /** Ends of the enlarged chart's axis. */
  get axis() {
    const xs = this.shown.curves.flatMap(({ x }) => x);
    if (this.data.study === "landmarks") return { low: 0, high: 1.05 * Math.max(...xs, 10) };
    return { low: -0.08, high: Math.log10(Math.max(...xs, ...this.counts)) + 0.08 };
  }

  /** The set that is enlarged; a run's rows stand in place of those that are known.
   * @returns {Known} */
  get shown() {
    const { sets, run } = this.data;
    const name = this.asked ?? this.given.chosen;
    if (run && run.name === name) return run;
    return (
      sets.find((/** @type {Known} */ one) => one.name === name) ?? {
        name,
        runs: 0,
        curves: [],
        svm: null,
      }
    );
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    if (data.chosen !== this.given?.chosen) this.asked = null;
    this.setCounts(data.counts);
    super.update(data, report);
    if (data.study === "landmarks") this.hide(["D"]);
  }

  /** @param {Data} data */
  receive(data) {
    const features = data.study === "features";
    for (const swatch of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".swatch"))) {
      const { line } = swatch.dataset;
      swatch.parentElement.hidden = line !== "svm" && features === line.includes("landmarks");
    }
    this.find(".panels").hidden = !data.sets.length; // as beside your table
    for (const known of /** @type {Known[]} */ (data.sets)) {
      if (!this.small.has(known.name)) this.addSmall(known.name);
    }
  }

  /** Add the small panel of a set. @param {string} name */
  addSmall(name) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "panel";
    const words = document.createElement("span");
    words.dataset.words = "";
    const canvas = document.createElement("canvas");
    button.append(words, canvas);
    button.onclick = () => {
      this.asked = name;
      this.request();
      this.report("clicked", name);
    };
    this.find(".panels").append(button);
    this.small.set(name, { button, words });
    const known = () => this.data.sets.find((/** @type {Known} */ one) => one.name === name);
    this.panel(canvas, (c, w, h) => known() && this.paintSmall(c, w, h, known()));
  }

  write() {
    const { shown, data } = this;
    const D = this.value("D");
    const whose = shown === data.run && data.sets.length ? "your settings, mean" : "mean";
    const over = `${whose} over ${shown.runs} split${shown.runs === 1 ? "" : "s"}`;
    this.find(".one-words").textContent = `${shown.name}: ${shown.runs ? over : "not computed yet"}`;
    const features = data.study === "features";
    const told = (/** @type {Known} */ known) => (features ? saving(known, D) : ofLandmarks(known));
    this.find(".saving").textContent = told(shown).long;
    this.find(".thin").textContent = `thin: training error${features ? "" : "; dotted: random landmarks"}`;
    this.find(".all-words").textContent = features
      ? `${D} learned do the work of …`
      : "Test error, the prior's → learned";
    for (const known of /** @type {Known[]} */ (data.sets)) {
      const { button, words } = this.small.get(known.name);
      button.setAttribute("aria-pressed", String(known.name === shown.name));
      button.title = `${known.name}: ${told(known).long}`;
      words.textContent = `${known.name}: ${told(known).short}`;
    }
  }

  /** @param {number} x of a curve, as plotted */
  plotted(x) {
    return this.data.study === "features" ? Math.log10(x) : x;
  }

  /**
   * The curves of a set, with a mark at D.
   *
   * @param {Context} c @param {Known} known @param {Scale} px @param {Scale} py @param {Frame} frame
   * @param {number} scale of lines and dots @param {boolean} full with intervals and training errors
   */
  paintCurves(c, { curves, svm }, px, py, frame, scale, full) {
    if (svm !== null) paintLevel(c, frame, py(svm), PALETTE.methods.svm, "longdash", 1.5 * scale);
    const D = this.value("D");
    const marked = !this.betaHidden;
    if (marked) paintMarker(c, px(Math.log10(D)), frame, this.ink);
    for (const curve of curves) {
      const colour = PALETTE.methods[curve.method];
      const at = (/** @type {number[]} */ values) => values.map((y, k) => [px(this.plotted(curve.x[k])), py(y)]);
      const test = at(curve.test_error);
      if (full) {
        const upper = at(curve.test_error.map((y, k) => y + curve.half_width[k]));
        const lower = at(curve.test_error.map((y, k) => Math.max(y - curve.half_width[k], 0)));
        if (!curve.random) paintArea(c, [...upper, ...lower.reverse()], colour, 0.13);
        paintCurve(c, at(curve.train_error), colour, "dot", 1);
      } else if (curve.random) continue;
      paintCurve(c, test, colour, dashOf(curve), (full ? 2.5 : 1.8) * scale);
      for (const [k, [x, y]] of test.entries()) {
        const here = marked && curve.x[k] === D;
        circle(c, x, y, (here ? 5.5 : full ? 2.6 : 0) * scale);
        if (here || full) fillAndOutline(c, colour, "white", here ? 1.5 : 0.5);
      }
    }
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintOne(c, w, h) {
    const { shown, axis } = this;
    const features = this.data.study === "features";
    const high = top(shown, true);
    const ticks = features
      ? this.counts
          .filter((count) => w > 420 || /^1/.test(String(count)))
          .map((count) => [Math.log10(count), String(count)])
      : evenTicks(axis.high, tickStep(axis.high, 4));
    this.frame = this.chart(c, w, h, {
      x: { ...axis, ticks: /** @type {Ticks} */ (ticks) },
      y: { low: 0, high, ticks: evenTicks(high, tickStep(high, 4)) },
      xTitle: features ? "number of frequencies D" : "landmarks, % of the training rows",
      yTitle: "error, %",
      inside: (px, py, frame) => this.paintCurves(c, shown, px, py, frame, this.rem / 16, true),
    });
  }

  /** @param {Context} c @param {number} w @param {number} h @param {Known} known */
  paintSmall(c, w, h, known) {
    const frame = { left: 2, right: w - 2, top: 3, bottom: h - 2 };
    const low = this.data.study === "features" ? -0.1 : 0;
    const high = this.data.study === "features" ? 3.1 : 10.5;
    const most = top(known, false);
    /** @type {Scale} */
    const px = (x) => 2 + ((x - low) / (high - low)) * (w - 4);
    /** @type {Scale} */
    const py = (y) => h - 2 - (y / most) * (h - 5);
    paintLevel(c, frame, h - 2, "rgba(128, 128, 128, 0.5)", "solid", 1);
    this.paintCurves(c, known, px, py, frame, 0.75, false);
  }
}

/** @param {{ method: string, random: boolean }} curve @returns {Dash} */
function dashOf({ method, random }) {
  return random ? "dot" : (PALETTE.dashes[method] ?? "solid");
}

/** Upper end of an axis of errors. @param {Known} known @param {boolean} full with intervals */
function top({ curves, svm }, full) {
  const errors = curves.flatMap(({ test_error: test, half_width: half }) =>
    test.map((y, k) => y + (full ? half[k] : 0)),
  );
  return errors.length ? ROOM * Math.min(100, Math.max(1, svm ?? 0, ...errors)) : 100;
}

export default mounting(LiveErrors);
