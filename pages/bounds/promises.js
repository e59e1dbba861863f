// @ts-check
// The live view of Theorem 4 on many samples: a dot for each at its bound and its true loss, and how often it fails.

import { evenTicks, paintArea, paintCurve, paintMarker, tickStep } from "../shared/live/charts.js";
import { paintRing } from "../shared/live/marks.js";
import { nearestIndex } from "../shared/live/maths.js";
import { failureRates, sampleLosses, widthsOf } from "./promises_kept.js";
import { LiveView, mounting, reducedMotion } from "../shared/live/view.js";

/** @import { Ticks } from "../shared/live/charts.js" */
/** @import { Widths } from "./promises_kept.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Root } from "../shared/live/view.js" */

/** @type {(keyof Widths)[]} */
const FORMS = ["corrected", "printed"];
const LARGEST = 0.5; // true loss of two classes
const HEIGHTS = 50; // points of each line of rates, at true losses from 0 to the largest
const WITHIN = 4; // true losses that a point averages; a single rate jumps with the whole sizes of classes
const BINS = 10; // of true losses, in which failures are counted
const FALL = 350; // milliseconds that a dot falls
const LAST_FALLS = 700; // milliseconds from the start of the first dot to that of the last
const DOT_SIZE = 3; // pixels

/** @type {Ticks} */
const LOSS_TICKS = [0, 0.1, 0.2, 0.3, 0.4, 0.5].map((value) => [value, String(value)]);

class LivePromises extends LiveView {
  /** Uniform numbers, two for each sample.
   * @type {Float32Array} */
  draws;

  /** Empirical losses of the samples that were shown at `n`.
   * @type {Float64Array} */
  losses;

  /** @type {Widths} */
  widths;

  played = "samples";

  /** Failures among the samples that are shown.
   * @type {Widths} */
  failures;

  /** Rates of failure at each true loss.
   * @type {Widths[]} */
  rates = [];

  /** Settings of the losses, and of the rates. */
  of = { losses: "", rates: "" };

  /** Samples that fall: the first of them, how many, and when it was drawn.
   * @type {{ from: number, count: number, start: number } | null} */
  falling = null;

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.panel("canvas.samples", (c, w, h) => this.paintSamples(c, w, h));
    this.panel("canvas.rates", (c, w, h) => this.paintRates(c, w, h));
    this.find(".one").onclick = () => this.add(1);
    this.find(".thousand").onclick = () => this.add(1000);
  }

  /** @param {Data} data */
  receive(data) {
    this.draws = this.array("uniform", Float32Array);
    this.inputs.samples.max = String(Math.log10(this.draws.length / 2));
    const { eps } = this.inputs;
    [eps.min, eps.max] = [data.allowed[0], data.allowed.at(-1)].map((value) => String(Math.log10(value)));
    this.of = { losses: "", rates: "" };
    for (const form of FORMS) this.find(`.${form}-mark`).style.color = data.colours[form];
  }

  /** Draw more samples. @param {number} count */
  add(count) {
    const from = this.value("samples");
    const to = Math.min(from + count, this.draws.length / 2);
    this.inputs.samples.value = String(Math.log10(to));
    if (!reducedMotion()) this.falling = { from, count: to - from, start: performance.now() };
    this.request();
    this.settle();
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  /** @param {string} name */
  value(name) {
    const value = super.value(name);
    const { allowed } = this.given;
    if (name === "eps") return allowed[nearestIndex(Float64Array.from(allowed, Math.log10), Math.log10(value))];
    return name === "samples" ? Math.round(value) : value;
  }

  /** @param {string} name */
  text(name) {
    return name === "samples" ? String(this.value(name)) : super.text(name);
  }

  compute() {
    const [samples, n, mu, eps] = ["samples", "n", "mu", "eps"].map((name) => this.value(name));
    const { draws, of } = this;
    if (of.losses !== String(n)) this.losses = new Float64Array();
    if (this.losses.length < samples) this.losses = sampleLosses(draws, samples, n, this.losses);
    this.widths = widthsOf(n, mu, eps);
    if (of.rates !== `${n} ${mu} ${eps}`) {
      this.rates = Array.from({ length: HEIGHTS }, (_, k) => {
        const sum = { printed: 0, corrected: 0 };
        for (let j = 0; j < WITHIN; j++) {
          const rates = failureRates(((k + (j + 0.5) / WITHIN) / HEIGHTS) * LARGEST, n, this.widths);
          for (const form of FORMS) sum[form] += rates[form] / WITHIN;
        }
        return sum;
      });
    }
    this.of = { losses: String(n), rates: `${n} ${mu} ${eps}` };
    this.failures = { printed: 0, corrected: 0 };
    this.counted = Array.from({ length: BINS }, () => ({ samples: 0, printed: 0, corrected: 0 }));
    for (let k = 0; k < samples; k++) {
      const bin = this.counted[Math.floor((this.trueLoss(k) / LARGEST) * BINS)];
      bin.samples += 1;
      for (const form of FORMS) {
        if (!this.fails(k, form)) continue;
        bin[form] += 1;
        this.failures[form] += 1;
      }
    }
  }

  /** @param {number} k of the sample */
  trueLoss(k) {
    return this.draws[2 * k] / 2;
  }

  /** @param {number} k of the sample @param {keyof Widths} form */
  fails(k, form) {
    return this.trueLoss(k) - this.losses[k] - this.widths[form] > 1e-12;
  }

  write() {
    const samples = this.value("samples");
    const allowed = this.value("eps");
    for (const form of FORMS) {
      const rate = this.failures[form] / samples;
      this.find(`.${form}-value`).textContent = `${(100 * rate).toFixed(1)} %`;
      this.find(`.${form}-value`).classList.toggle("broken", rate > allowed);
    }
    this.find(".allowed-value").textContent = `${Number((100 * allowed).toPrecision(3))} %`;
    const k = samples - 1;
    const said = FORMS.map((form) => {
      const bound = this.losses[k] + this.widths[form];
      return `${form} ${bound.toFixed(3)} ${this.fails(k, form) ? "fails" : "holds"}`;
    });
    this.find(".last").textContent =
      `Sample ${samples}: empirical loss ${this.losses[k].toFixed(3)}, true loss ${this.trueLoss(k).toFixed(3)}; ` +
      `the bound ${said.reverse().join(", ")}.`;
    const full = samples >= this.draws.length / 2;
    for (const name of [".one", ".thousand"]) /** @type {HTMLButtonElement} */ (this.find(name)).disabled = full;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** How far a sample has still to fall, from 1 to 0. @param {number} k @param {number} now */
  above(k, now) {
    if (!this.falling || k < this.falling.from) return 0;
    const { from, count, start } = this.falling;
    const since = now - start - (LAST_FALLS * (k - from)) / Math.max(count, 2);
    return 1 - Math.min(Math.max(since / FALL, 0), 1) ** 2;
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintSamples(c, w, h) {
    const samples = this.value("samples");
    const now = performance.now();
    this.chart(c, w, h, {
      x: { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1].map((value) => [value, String(value)]) },
      y: { low: 0, high: LARGEST, ticks: LOSS_TICKS },
      xTitle: "bound",
      yTitle: "true loss",
      inside: (px, py, frame) => {
        const diagonal = [0, LARGEST].map((value) => [px(value), py(value)]);
        paintArea(c, [...diagonal, [px(0), frame.top]], "rgb(214, 72, 48)", 0.1);
        paintCurve(c, diagonal, this.ink, "solid", 1.5);
        c.fillStyle = this.ink;
        c.textAlign = "left";
        c.fillText("too small: it fails", frame.left + 0.5 * this.rem, frame.top + 1.2 * this.rem);
        for (const form of FORMS) {
          for (let k = 0; k < samples; k++) {
            const [x, y] = [px(Math.min(this.losses[k] + this.widths[form], 1)), py(this.trueLoss(k))];
            const height = this.above(k, now) * (y - frame.top + DOT_SIZE);
            c.globalAlpha = this.fails(k, form) ? 1 : 0.45;
            c.fillStyle = this.data.colours[form];
            c.fillRect(x - DOT_SIZE / 2, y - height - DOT_SIZE / 2, DOT_SIZE, DOT_SIZE);
            if (k === samples - 1) paintRing(c, x, y - height, 2 * DOT_SIZE);
          }
        }
        c.globalAlpha = 1;
      },
    });
    if (!this.falling) return;
    if (now - this.falling.start > FALL + LAST_FALLS) this.falling = null;
    this.request();
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintRates(c, w, h) {
    const allowed = 100 * this.value("eps");
    const largest = Math.max(...this.rates.flatMap((rates) => FORMS.map((form) => 100 * rates[form])), 2 * allowed);
    const high = Math.min(1.1 * largest, 100);
    this.chart(c, w, h, {
      x: { low: 0, high, ticks: evenTicks(high, tickStep(high, 3)) },
      y: { low: 0, high: LARGEST, ticks: LOSS_TICKS },
      xTitle: "% of samples",
      yTitle: "true loss",
      inside: (px, py, frame) => {
        for (const form of FORMS) {
          c.fillStyle = c.strokeStyle = this.data.colours[form];
          c.globalAlpha = 0.3;
          for (const [k, bin] of this.counted.entries()) {
            const top = py(((k + 1) / BINS) * LARGEST);
            const rate = bin.samples ? (100 * bin[form]) / bin.samples : 0;
            c.fillRect(px(0), top + 1, px(rate) - px(0), py((k / BINS) * LARGEST) - top - 2);
          }
          c.globalAlpha = 1;
          const points = this.rates.map((rates, k) => [px(100 * rates[form]), py(((k + 0.5) / HEIGHTS) * LARGEST)]);
          paintCurve(c, points, this.data.colours[form], "solid");
        }
        paintMarker(c, px(allowed), frame, this.ink);
      },
    });
  }
}

export default mounting(LivePromises);
