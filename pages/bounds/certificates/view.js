// @ts-check
// The live view of a certificate: a vote over the plane, its bound term by term, and both along a step away from the
// prior's weights. The bound holds for every step at once; D has to be fixed beforehand, or the bound pays for a look.

import { evenTicks, paintCurve, paintLevel, paintMarker } from "../../shared/live/charts.js";
import { circle, fillAndOutline, paintPoints } from "../../shared/live/marks.js";
import { normalCdf, percent } from "../../shared/live/maths.js";
import { paintBoundary, Raster } from "../../shared/live/rasters.js";
import { fontOf } from "../../shared/live/typeface.js";
import { unpackedArray } from "../../shared/live/unpacking.js";
import { LiveView, mounting, paintScale } from "../../shared/live/view.js";

/** @import { Dash, Frame, Scale } from "../../shared/live/charts.js" */
/** @import { Context } from "../../shared/live/svg.js" */
/** @import { Data, Root } from "../../shared/live/view.js" */
/** @typedef {{ bound: number, risks: Float32Array }} Certificate the risks add up to the bound */
/** @typedef {{ prior: Float32Array, step: Float32Array }} Margins over the plane, of the prior's weights and of the step away from them */
/** @typedef {{ pays: boolean, tied: boolean, heldOut: (number | null)[], risks: Float32Array[], tests: Float32Array, map: Margins }} Vote at a D; `heldOut`, and `risks` at every step, without a look at another D and after it */

const POINTS = 600; // painted at most
const TOPS = [0.1, 0.2, 0.5, 1]; // largest risks of the charts: few, so that they rarely change with D
const COIN = 0.5; // its risk

class LiveCertificate extends LiveView {
  /** Votes by number of frequencies: all, or one until the reader reaches for the slider of D.
   * @type {Map<number, Vote>} */
  votes = new Map();

  /** Version of the data for which the view has asked for other votes. */
  asked = "";

  /** The current vote's certificate and its error on fresh points.
   * @type {{ certificate: Certificate, test: number }} */
  now;

  /** The votes as they came.
   * @type {any[] | undefined} */
  packed;

  /** Certified risks and test errors at the steps of the curves, with their settings.
   * @type {{ bounds: number[], tests: number[] }} */
  curves = { bounds: [], tests: [] };

  /** Numbers of frequencies that the reader has looked at, on this sample.
   * @type {Set<number>} */
  seen = new Set();

  /** Largest risk of the charts. */
  top = 1;

  played = "stretch";

  /** The longest step. */
  get longest() {
    return Number(this.inputs.stretch.max);
  }

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.plane = this.panel("canvas.votes", (c, w) => this.paintVotes(c, w));
    this.panel("canvas.decision-scale", (c, w, h) => paintScale(c, w, h, "decision"), { fixed: true });
    this.panel("canvas.ledger", (c, w, h) => this.paintLedger(c, w, h));
    const steps = this.panel("canvas.steps", (c, w, h) => this.paintSteps(c, w, h));
    this.draggable(steps.canvas, (fraction) => (this.inputs.stretch.value = String(this.longest * fraction)));
    /** @type {HTMLButtonElement} */ (this.find(".renew")).onclick = () => this.report("clicked", Date.now());
    const { D } = this.inputs;
    D.onfocus = D.closest("label").onpointerenter = () => this.reach();
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data */
  receive(data) {
    const before = this.packed;
    this.packed = data.votes;
    this.setCounts(data.counts);
    this.points = this.array("points", Float32Array);
    this.labels = this.array("labels", Int8Array);
    this.votes = new Map(
      data.votes.map((/** @type {any} */ vote) => [
        vote.D,
        {
          pays: vote.pays,
          tied: vote.tied,
          heldOut: vote.test_set_bounds,
          risks: vote.terms.map((/** @type {string} */ risks) => unpackedArray(risks, Float32Array)),
          tests: this.array("test_errors", Float32Array, vote),
          map: { prior: this.array("prior_map", Float32Array, vote), step: this.array("step_map", Float32Array, vote) },
        },
      ]),
    );
    const [first] = this.votes.values();
    this.side = Math.sqrt(first.map.prior.length);
    this.raster = new Raster(this.side);
    this.shares = new Float32Array(this.side ** 2);
    if (before?.some(isIn(data.votes))) {
      this.seen.add(this.value("D")); // where the reader has moved it meanwhile
    } else {
      this.seen = new Set([data.settings.D]);
      this.top = 0;
    }
    const bounds = [...this.votes.keys()].map((count) => this.certified(count, this.placeOf(1)).bound);
    this.top = Math.max(this.top, TOPS.find((top) => top >= 1.2 * Math.max(...bounds)) ?? 1);
  }

  /** Ask for the votes of every D, if there is only one. */
  reach() {
    if (this.votes.size === this.counts.length || this.asked === this.data.version) return;
    this.asked = this.data.version;
    this.report("reached", "D");
    this.request();
  }

  // --- values of the sliders ----------------------------------------------------------------------------------------

  /** @param {string} name */
  spoken(name) {
    if (this.waits) return `${this.text(name)}: being computed`;
    const { certificate, test } = this.now;
    return `${this.text(name)}: certified ${percent(certificate.bound)}, test error ${percent(test)}`;
  }

  /** @param {Event} event */
  moved(event) {
    if (event.target === this.inputs.D) {
      this.seen.add(this.value("D"));
      this.reach();
    }
    super.moved(event);
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  /** Whether a D was chosen after looking at others. */
  get looked() {
    return this.seen.size > 1;
  }

  /** Whether the vote of this D is still to come. */
  get waits() {
    return !this.votes.has(this.value("D"));
  }

  /** The D of the vote on screen: the slider's, or the previous one until the slider's vote comes. */
  get onScreen() {
    return this.waits ? this.votes.keys().next().value : this.value("D");
  }

  /** Number of the step among the steps with certificates. @param {number} stretch */
  placeOf(stretch) {
    const [{ tests }] = this.votes.values();
    return Math.round((stretch / this.longest) * (tests.length - 1));
  }

  /** The bound of a test set at the D on screen, if points are set aside. */
  get heldOut() {
    return this.votes.get(this.onScreen).heldOut[Number(this.looked)];
  }

  /** @param {number} count @param {number} place of the step @returns {Certificate} */
  certified(count, place) {
    const { length } = this.data.terms;
    const risks = this.votes.get(count).risks[Number(this.looked)].subarray(length * place, length * (place + 1));
    return { bound: risks.reduce((sum, risk) => sum + risk, 0), risks };
  }

  compute() {
    const [count, stretch] = [this.onScreen, this.value("stretch")];
    const vote = this.votes.get(count);
    const place = this.placeOf(stretch);
    this.now = { certificate: this.certified(count, place), test: vote.tests[place] };
    const { prior, step } = vote.map;
    for (let i = 0; i < prior.length; i++) this.shares[i] = 2 * normalCdf(prior[i] + stretch * step[i]) - 1;
    this.raster.set(this.shares, -1, 1, "decision");
    const tests = Array.from(vote.tests);
    this.curves = { tests, bounds: tests.map((_, k) => this.certified(count, k).bound) };
  }

  write() {
    const { certificate, test } = this.now;
    const { tied: ties, pays } = this.votes.get(this.onScreen);
    const tied = ties && this.value("stretch") === 0;
    this.find(".test-value").textContent = this.waits ? "…" : tied ? "all tie" : percent(test);
    this.find(".bound-value").textContent = this.waits ? "…" : percent(certificate.bound);
    const broken = !this.waits && test > certificate.bound;
    this.find(".arrow").textContent = broken ? ">" : "≤";
    this.find(".bound-value").classList.toggle("broken", broken);
    const price = Math.log(this.counts.length).toFixed(2);
    this.root.classList.toggle("waits", this.waits);
    const free = tied
      ? "At s = 0 nothing is learned: every vote is tied, and a tie counts as an error."
      : !pays
        ? "Nothing that the other points teach pays for itself: the certificate is least at s = 0."
        : "The step is free: the bound holds for all weights at once.";
    this.find(".looked-words").textContent = this.waits
      ? `The vote at D = ${this.text("D")} is being computed.`
      : this.looked
        ? `You have looked at several D on these points: the certificate now holds for all ${this.counts.length} values at once, at ${price} nats.`
        : `${free} D counts as fixed beforehand.`;
    if (!this.waits && this.heldOut !== null) {
      this.find(".looked-words").textContent += ` Counting errors alone promises ${percent(this.heldOut)}.`;
    }
    this.find(".renew").hidden = !this.looked || !this.data.clickable;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** Pixels of the lines of the certificate, from left to right.
   * @type {number[]} */
  lines = [];

  /** @param {Context} c @param {number} w */
  paintVotes(c, w) {
    this.raster.paint(c, w, w);
    paintBoundary(c, w, this.shares, this.side);
    paintPoints(c, w, this.data.extent, this.points, this.labels, Math.max(1.6, w / 190), POINTS);
  }

  /** The axis of risks, in per cent. */
  get risks() {
    const step = this.top > 0.5 ? 0.2 : this.top > 0.2 ? 0.1 : 0.05;
    return { low: 0, high: this.top, ticks: evenTicks(this.top, step, (risk) => `${Math.round(100 * risk)}`) };
  }

  /** @param {number} w */
  textSize(w) {
    return (w < 420 ? 0.72 : 0.8) * this.rem;
  }

  /**
   * Bars of the terms, each begins where the one before ends, and their sum; lines at the test error and the test-set bound.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintLedger(c, w, h) {
    const { risks, bound } = this.now.certificate;
    /** @type {[string, string][]} */
    const labels = this.data.terms;
    const shown = labels.map(([label, colour], k) => ({ risk: risks[k], label, colour }));
    const heights = shown.map((row, k) => /** @type {[number, string]} */ ([k + 0.5, row.label]));
    heights.push([shown.length + 0.5, "certified risk"]);
    const size = this.textSize(w);
    this.chart(c, w, h, {
      x: this.risks,
      y: { low: shown.length + 1, high: -1, ticks: heights },
      xTitle: "risk, %",
      yTitle: "",
      size,
      inside: (px, py, frame) => {
        this.paintYardsticks(c, px, frame, size);
        let base = 0;
        for (const [k, { risk, colour }] of shown.entries()) {
          this.paintBar(c, px, py, frame, k, base, risk, colour, `+${(100 * risk).toFixed(1)}`);
          base += risk;
        }
        this.paintBar(c, px, py, frame, shown.length, 0, bound, this.data.total, `${(100 * bound).toFixed(1)}`);
      },
    });
  }

  /**
   * @param {Context} c @param {Scale} px @param {Scale} py @param {Frame} frame
   * @param {number} row @param {number} from @param {number} length @param {string} colour @param {string} text
   */
  paintBar(c, px, py, frame, row, from, length, colour, text) {
    const [left, right] = [px(from), px(from + length)];
    c.fillStyle = colour;
    c.fillRect(
      Math.min(left, right),
      py(row + 0.18),
      Math.max(Math.abs(right - left), 1.5),
      py(row + 0.82) - py(row + 0.18),
    );
    const words = text.replace("+-", "−");
    const wide = c.measureText(words).width;
    let start = Math.max(left, right) + 5;
    for (const line of this.lines) if (line > start - 3 && line < start + wide + 3) start = line + 5; // not through words
    const fits = start + wide < frame.right;
    c.fillStyle = this.ink;
    c.textAlign = fits ? "left" : "right";
    c.fillText(words, fits ? start : Math.min(left, right) - 5, py(row + 0.5) + 0.28 * this.rem);
  }

  /**
   * Lines at the test error and at the bound of a test set, named above the bars.
   *
   * @param {Context} c @param {Scale} px @param {Frame} frame @param {number} size
   */
  paintYardsticks(c, px, frame, size) {
    const { heldOut } = this;
    /** @type {[number, string, Dash][]} */
    const lines = [[this.now.test, "test error", "dot"]];
    if (heldOut !== null) lines.push([heldOut, "test-set bound", "dash"]);
    this.lines = lines.map(([risk]) => px(risk)).sort((a, b) => a - b);
    c.fillStyle = this.ink;
    c.font = fontOf(size);
    const leftFirst = heldOut === null || this.now.test <= heldOut;
    for (const [k, [risk, name, dash]] of lines.entries()) {
      const toLeft = (k === 0) === leftFirst && px(risk) - c.measureText(name).width > frame.left + 4;
      c.textAlign = toLeft ? "right" : "left";
      c.fillText(name, px(risk) + (toLeft ? -4 : 4), frame.top + (k + 1) * 1.1 * size - 0.2 * size);
      paintMarker(c, px(risk), frame, this.ink, dash);
    }
  }

  /**
   * Certified risk and test error along the step.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintSteps(c, w, h) {
    const { bounds, tests } = this.curves;
    const { certificate, test } = this.now;
    const size = this.textSize(w);
    this.frame = this.chart(c, w, h, {
      x: { low: 0, high: this.longest, ticks: [0, 1, 2, 3].map((v) => [v, String(v)]) },
      y: this.risks,
      xTitle: "step s: 0 is the prior's vote",
      yTitle: "risk, %",
      size,
      inside: (px, py, frame) => {
        const along = (/** @type {number[]} */ values) =>
          values.map((v, k) => [px((this.longest * k) / (values.length - 1)), py(v)]);
        const { heldOut } = this;
        const { tied } = this.votes.get(this.onScreen);
        c.font = fontOf(size);
        if (this.top > COIN) {
          paintLevel(c, frame, py(COIN), this.data.grey, "dot");
          c.fillStyle = this.ink;
          c.textAlign = "left";
          c.fillText("a coin", frame.left + 4, py(COIN) - 4);
        }
        if (heldOut !== null) {
          paintLevel(c, frame, py(heldOut), this.ink, "dash");
          c.fillStyle = this.ink;
          c.textAlign = "left";
          c.fillText("test-set bound", px(0.4 * this.longest), py(heldOut) - 4); // the certified risk begins close by
        }
        paintCurve(c, along(tests).slice(Number(tied)), this.data.grey, "solid"); // a tie is no error of a class
        paintCurve(c, along(bounds), this.data.total, "solid");
        const x = px(this.value("stretch"));
        paintMarker(c, x, frame, this.ink);
        for (const [value, colour, name, values] of /** @type {[number, string, string, number[]][]} */ ([
          [test, this.data.grey, "test error", tests],
          [certificate.bound, this.data.total, "certified", bounds],
        ])) {
          circle(c, x, py(value), 4.5);
          fillAndOutline(c, colour, "white", 1.2);
          c.fillStyle = this.ink;
          c.textAlign = "right";
          c.fillText(name, frame.right - 4, Math.max(py(values[values.length - 1]) - 6, frame.top + size));
        }
      },
    });
  }
}

/**
 * Whether a vote is one of these, with or without its certificate after a look.
 *
 * @param {any[]} votes as they are packed
 */
function isIn(votes) {
  const certified = (/** @type {any} */ { D, terms }) => JSON.stringify([D, terms[0]]);
  return (/** @type {any} */ one) => votes.some((other) => certified(other) === certified(one));
}

export default mounting(LiveCertificate);
