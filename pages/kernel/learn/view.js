// @ts-check
// The live view of a learned kernel: frequency planes, candidates, their weights and kernels, all under one beta and rho.

import { labelSpectrum } from "../../shared/live/alignment.js";
import { paintCross, paintCurve } from "../../shared/live/charts.js";
import { INK } from "../../shared/live/colours.js";
import { CELLS, PALETTE, PLANE_CELLS, WIDTHS } from "../../shared/live/constants.js";
import { kernelData, optimizedWeights } from "./kernel_data.js";
import { circle, diamond, fillAndOutline, paintPoints, paintRing, place, pointerIn } from "../../shared/live/marks.js";
import {
  concentration,
  descendingOrder,
  fillWave,
  firstWeights,
  kernelMap,
  klDivergence,
  largest,
  least,
  nearestPoint,
  planePosterior,
  pseudoPosterior,
  roundedPower,
} from "../../shared/live/maths.js";
import { Nodes } from "../../shared/live/nodes.js";
import { Raster, paintWave } from "../../shared/live/rasters.js";
import { unpackedArray, unpackedDraw } from "../../shared/live/unpacking.js";
import { LiveView, REST, mounting } from "../../shared/live/view.js";

/** @import { Draws } from "./kernel_data.js" */
/** @import { Ticks } from "../../shared/live/charts.js" */
/** @import { Waves } from "../../shared/live/maths.js" */
/** @import { Context } from "../../shared/live/svg.js" */
/** @import { Data, Panel, Root } from "../../shared/live/view.js" */

/** @typedef {"rff" | "pbrff" | "okrff"} Method */
/** @typedef {"pbrff" | "okrff"} Learned */
/** @typedef {{ kl: number, divergence: number, effective: number }} Summary */

const LOWEST_WEIGHT = -4; // power of ten at which the ranked weights end
const CURVE_POINTS = 200; // of the ranked weights
const ELLIPSE_POINTS = 73;
const NEGLECTED = 1e-3; // weight of the candidates that a map leaves out
const HANDLE_REACH = 22; // pixels within which the pointer takes hold of an end of the ellipse

/** @type {Learned[]} */
const LEARNED = ["pbrff", "okrff"];

/** @type {Method[]} */
const METHODS = ["rff", ...LEARNED];

/** Sliders of the prior's ellipse, which stand for its handles. */
const ELLIPSE = ["along", "across", "angle"];

/** @type {("prior" | "loss" | "posterior")[]} */
const PLANES = ["prior", "loss", "posterior"];

class LiveKernel extends LiveView {
  /** A frequency, or the number of a candidate.
   * @type {{ omega?: number[], candidate?: number }} */
  focus = {};

  /** @type {Record<"prior" | "loss" | "posterior", Raster>} */
  planes;

  /** Draws behind the data, with unpacked arrays.
   * @type {Draws & { version: string } | undefined} */
  drawn;

  /** Waves of the candidates along either coordinate; rows as `addWaves` needs them.
   * @type {Waves} */
  u;

  /** @type {Waves} */
  v;

  /** Whether losses come from the points even while a hand moves; once it rests, they always do. */
  exact = false;

  /** @type {ReturnType<typeof setTimeout>} */
  refining;

  /** Settings of the weights.
   * @type {{ beta?: number, rho?: number }} */
  computed = {};

  /** @type {Record<Learned, Summary>} */
  summary;

  /** Candidates of a method, the heaviest first.
   * @type {Record<Method, number[]>} */
  order;

  /** The end of the prior's ellipse that is dragged.
   * @type {"axis" | "side" | undefined} */
  held;

  /** @param {Root} root */
  constructor(root) {
    super(root);
    for (const name of ELLIPSE) {
      this.inputs[name].onfocus = this.inputs[name].onblur = () => this.request(); // it stands for a handle
    }
    this.find(".put-back").onclick = () => {
      for (const name of ELLIPSE) this.inputs[name].value = "0";
      this.settle();
      this.request();
    };
    for (const name of PLANES) this.addPlane(name);
    const data = this.panel("canvas.data", (c, w, h) => this.paintData(data, c, w, h), { fixed: true });
    for (const method of LEARNED) {
      const { canvas } = this.panel(`canvas.dots-${method}`, (c, w) => this.paintDots(c, w, method));
      this.takeHold(canvas, (event) => ({ candidate: this.candidateAt(event, canvas) }));
      canvas.onpointerleave = () => this.setFocus({});
    }
    const ranks = this.panel("canvas.ranks", (c, w, h) => this.paintRanks(c, w, h)).canvas;
    ranks.onpointermove = (event) => this.setFocus({ candidate: this.rankAt(event, ranks) });
    ranks.onpointerleave = () => this.setFocus({});
    this.kernels = { rff: new Raster(CELLS), pbrff: new Raster(CELLS), okrff: new Raster(CELLS) };
    for (const method of METHODS) {
      this.panel(`canvas.kernel-${method}`, (c, w) => {
        this.kernels[method].paint(c, w, w);
        paintCross(c, w / 2, 5, INK);
      });
    }
    this.wave = new Raster(CELLS);
    this.addSwatches((method) => [PALETTE.methods[method], PALETTE.dashes[method]]);
  }

  /** @param {"prior" | "loss" | "posterior"} name */
  addPlane(name) {
    const { canvas } = this.panel(`canvas.plane-${name}`, (c, w) => {
      this.planes[name].paint(c, w, w);
      this.paintEllipse(c, w);
      this.paintFocus(c, w, this.data.frequency_extent);
    });
    this.takeHold(canvas, (event) => {
      const { x, y } = pointerIn(event, canvas, this.data.frequency_extent);
      return { omega: [x, y] };
    });
    canvas.onpointerleave = canvas.onblur = () => this.setFocus({});
    canvas.onkeydown = (event) => this.moveFocus(event);
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data @returns {Data} */
  completed(data) {
    const { version, draws, extent } = data;
    if (this.drawn?.version !== version) {
      const [train, frequencies] = [unpackedDraw(draws.train, Float64Array), draws.frequencies];
      this.drawn = { version, train, frequencies: unpackedArray(frequencies, Float64Array) };
    }
    const shown = { widths: WIDTHS, plane: PLANE_CELLS, map: CELLS };
    const { sigma, noise, ellipse } = this;
    const same = this.data?.sigma === sigma && this.data.sample === `${version} ${noise}`;
    const known = same ? this.data.plane_loss : undefined;
    const rough = this.dragging && !this.exact;
    clearTimeout(this.refining);
    if (rough) this.refining = setTimeout(() => this.refine(), REST);
    return { ...data, rough, ...kernelData(this.drawn, sigma, ellipse, noise, shown, extent, known, rough) };
  }

  /** Replace losses that were read from the plane by exact ones. */
  refine() {
    this.exact = true;
    this.data.version = "";
    this.paint();
    this.exact = false;
  }

  settle() {
    if (this.data.rough) this.refine();
    super.settle();
  }

  get version() {
    return `${super.version} ${Object.values(this.ellipse)} ${this.given.mu}`;
  }

  /** Factors of the prior's frequencies along its axis and across it, and the angle of the axis. */
  get ellipse() {
    const [along, across] = ELLIPSE.map((name) => roundedPower(Number(this.inputs[name].value)));
    return { along, across, angle: this.value("angle") };
  }

  /** @param {Data} data */
  receive(data) {
    this.prior = this.array("prior", Float32Array);
    this.loss = this.array("plane_loss", Float32Array);
    this.omega = this.array("omega", Float32Array);
    this.candidateLoss = this.array("loss", Float64Array);
    this.X = this.array("points", Float32Array);
    this.y = this.array("labels", Int8Array);
    const N = (this.N = this.candidateLoss.length);
    this.nodes = new Nodes(data.delta_extent, CELLS, this.omega);
    this.clearWaves();
    this.posterior = new Float64Array(this.loss.length);
    this.Q = { rff: new Float64Array(N).fill(1 / N), pbrff: new Float64Array(N), okrff: new Float64Array(N) };
    this.maps = { pbrff: new Float32Array(CELLS * CELLS), okrff: new Float32Array(CELLS * CELLS) };
    this.order = { rff: Array.from({ length: N }, (_, m) => m), pbrff: [], okrff: [] };
    this.summary = { pbrff: undefined, okrff: undefined };
    this.computed = {};
    this.showPlanes();
    this.kernels.rff.set(this.array("prior_kernel", Uint8Array), 0, 255, "similarity");
  }

  /** Forget the candidates' waves; `addWaves` makes the waves that a kernel needs. */
  clearWaves() {
    const size = this.N * this.nodes.count;
    if (this.u?.cos.length !== size) {
      [this.u, this.v] = [0, 1].map(() => ({ cos: new Float32Array(size), sin: new Float32Array(size) }));
    }
    this.waving = new Uint8Array(this.N);
  }

  /** @param {number[]} candidates */
  addWaves(candidates) {
    const { nodes, omega, u, v, waving } = this;
    for (const m of candidates) {
      if (waving[m]) continue;
      fillWave(u, m, omega[2 * m], 0, nodes.at);
      fillWave(v, m, omega[2 * m + 1], 0, nodes.at);
      waving[m] = 1;
    }
  }

  /** Paint the planes that no slider changes. */
  showPlanes() {
    const G = Math.sqrt(this.loss.length);
    if (this.planes?.loss.columns !== G) {
      this.planes = { prior: new Raster(G), loss: new Raster(G), posterior: new Raster(G) };
      this.lossShown = null;
    }
    const densest = largest(this.prior);
    this.planes.prior.set(this.prior, 0, densest, "sequential");
    this.find(".prior-words").textContent = `prior density p(ω), 0 to ${densest.toPrecision(2)}`;
    if (this.lossShown === this.data.plane_loss) return;
    this.lossShown = this.data.plane_loss;
    const highest = largest(this.loss);
    this.lowest = least(this.loss);
    this.planes.loss.set(this.loss, highest, this.lowest, "sequential"); // bright is low
    this.find(".loss-words").textContent =
      `alignment loss, bright ${this.lowest.toFixed(2)} to dark ${highest.toFixed(2)}`;
  }

  // --- input --------------------------------------------------------------------------------------------------------

  /** Whether the prior's ellipse can be turned: only if the view makes the candidates. */
  get turnable() {
    return "angle" in this.given.settings && !this.inputs.angle.closest("label").hidden;
  }

  /** Ends of the prior's ellipse of one standard deviation: of its axis, and across it. */
  get ends() {
    const { along, across, angle } = this.ellipse;
    const [c, s] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
    return {
      axis: [(along * c) / this.sigma, (along * s) / this.sigma],
      side: [(-across * s) / this.sigma, (across * c) / this.sigma],
    };
  }

  /**
   * Let the ends of the prior's ellipse be dragged; elsewhere the pointer chooses what is in focus.
   *
   * @param {HTMLCanvasElement} canvas @param {(event: PointerEvent) => LiveKernel["focus"]} focusAt
   */
  takeHold(canvas, focusAt) {
    canvas.onpointerdown = (event) => {
      this.held = this.endAt(event, canvas);
      if (this.held) canvas.setPointerCapture(event.pointerId);
    };
    canvas.onpointermove = (event) => {
      const end = this.held ?? this.endAt(event, canvas);
      canvas.classList.toggle("at-handle", Boolean(end));
      this.setFocus(end ? {} : focusAt(event));
      if (this.held) this.pull(event, canvas);
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (this.held) this.settle();
      this.held = undefined;
    };
    // A finger on an end drags it, elsewhere it scrolls the page.
    const keepPage = (/** @type {TouchEvent} */ event) =>
      this.endAt(event.touches[0], canvas) && event.preventDefault();
    canvas.addEventListener("touchstart", keepPage, { passive: false });
  }

  /** The end of the ellipse under the pointer. @param {{ clientX: number, clientY: number }} event @param {HTMLCanvasElement} canvas */
  endAt(event, canvas) {
    if (!this.turnable) return undefined;
    const { x, y, scale } = pointerIn(event, canvas, this.data.frequency_extent);
    const { axis, side } = this.ends;
    const ends = Float64Array.of(...axis, ...axis.map((v) => -v), ...side, ...side.map((v) => -v));
    const end = nearestPoint(ends, x, y, HANDLE_REACH * scale);
    return end === undefined ? undefined : end < 2 ? "axis" : "side";
  }

  /** Put the end that is held under the pointer. @param {PointerEvent} event @param {HTMLCanvasElement} canvas */
  pull(event, canvas) {
    const { x, y } = pointerIn(event, canvas, this.data.frequency_extent);
    const [c, s] = this.ends.side;
    const across = Math.abs(x * c + y * s) / Math.hypot(c, s);
    const length = this.held === "axis" ? Math.hypot(x, y) : across;
    this.inputs[this.held === "axis" ? "along" : "across"].value = String(Math.log10(length * this.sigma || 1e-9));
    const angle = Math.round((Math.atan2(y, x) * 180) / Math.PI);
    if (this.held === "axis") this.inputs.angle.value = String((angle + 360) % 180);
    this.moved(event);
  }

  /** The frequency in focus: the pointer's, or a candidate's. */
  get omegaInFocus() {
    const { omega, candidate } = this.focus;
    return candidate === undefined ? omega : [this.omega[2 * candidate], this.omega[2 * candidate + 1]];
  }

  /** @param {KeyboardEvent} event */
  moveFocus(event) {
    const move = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!move) return;
    const extent = this.data.frequency_extent;
    const from = this.omegaInFocus ?? [0, 0];
    const omega = from.map((v, k) => Math.max(-extent, Math.min(v + (move[k] * extent) / 40, extent)));
    this.setFocus({ omega });
    event.preventDefault();
  }

  /** @param {MouseEvent} event @param {HTMLCanvasElement} canvas */
  candidateAt(event, canvas) {
    const { x, y, scale } = pointerIn(event, canvas, this.data.frequency_extent);
    return nearestPoint(this.omega, x, y, 10 * scale);
  }

  /**
   * The candidate of PBRFF whose rank is under the pointer.
   *
   * @param {MouseEvent} event @param {HTMLCanvasElement} canvas
   */
  rankAt(event, canvas) {
    const { left, right } = this.frame;
    const fraction = (event.clientX - canvas.getBoundingClientRect().left - left) / (right - left);
    if (fraction < 0 || fraction > 1) return undefined;
    return this.order.pbrff[Math.min(Math.round(this.N ** fraction), this.N) - 1];
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    const { N, data } = this;
    const beta = this.value("beta");
    if (beta !== this.computed.beta) {
      pseudoPosterior(this.candidateLoss, 1, N, N, beta, data.n, this.Q.pbrff);
      planePosterior(this.prior, this.loss, this.lowest, beta, data.n, this.posterior);
      this.planes.posterior.set(this.posterior, 0, largest(this.posterior), "sequential");
      this.summarise("pbrff");
    }
    const rho = roundedPower(Number(this.inputs.rho.value));
    if (rho !== this.computed.rho) {
      this.Q.okrff = optimizedWeights(this.candidateLoss, rho, data.mu);
      this.summarise("okrff");
    }
    this.computed = { beta, rho };
  }

  /** @param {Learned} method */
  summarise(method) {
    const { N, nodes, maps } = this;
    const Q = this.Q[method];
    const order = (this.order[method] = descendingOrder(Q));
    const kept = heaviest(Q, order);
    this.addWaves(kept);
    const weights = firstWeights(Q, 0, kept, kept.length, new Float64Array(N));
    nodes.map((count, values) => kernelMap(weights, N, this.u, this.v, count, values), maps[method]);
    this.kernels[method].set(maps[method], -1, 1, "similarity");
    this.summary[method] = { kl: klDivergence(Q, 0, this.N), ...concentration(Q, this.data.mu) };
  }

  write() {
    const { N, omegaInFocus } = this;
    for (const method of LEARNED) {
      const { kl, effective } = this.summary[method];
      const count = effective < 100 ? effective.toFixed(1) : Math.round(effective);
      const words = this.find(`.${method}-words`);
      words.textContent = `${method.toUpperCase()}: KL ${kl.toFixed(2)} nats, ${count} of ${N} effective`;
      words.classList.toggle("stale", Boolean(this.data.rough));
    }
    const [reached, allowed] = [this.summary.okrff.divergence, this.value("rho") * this.N];
    this.find(".okrff-words").textContent += `, divergence ${reached.toPrecision(3)} of ρ = ${allowed.toPrecision(3)}`;
    this.find(".posterior-words").textContent = `posterior density at β = ${this.value("beta").toPrecision(3)}`;
    this.find(".data-words").textContent = omegaInFocus ? "data, and the wave of this frequency" : "data";
    this.find(".reading").textContent = this.reading();
    this.find(".advice").hidden = Boolean(omegaInFocus);
    const { along, across } = this.ellipse;
    const turned = this.turnable && (along !== 1 || across !== 1);
    this.find(".put-back").hidden = this.find(".turned").hidden = !turned;
    this.find(".handle-advice").hidden = !this.turnable || turned || Boolean(omegaInFocus);
  }

  /** Words on the frequency in focus. */
  reading() {
    const { candidate } = this.focus;
    const omega = this.omegaInFocus;
    if (!omega) return "";
    const { loss } = labelSpectrum(this.X, this.y, omega[0], omega[1]);
    const extent = this.data.frequency_extent;
    const decimals = extent < 1 ? Math.min(2 - Math.floor(Math.log10(extent)), 20) : 1;
    const text = `ω = (${omega.map((v) => v.toFixed(decimals)).join(", ")}): alignment loss ${loss.toFixed(3)}.`;
    if (candidate === undefined) return text;
    const [pbrff, okrff] = LEARNED.map((method) => (this.Q[method][candidate] * this.N).toPrecision(3));
    return `${text} Its weight is ${pbrff} × the prior's under PBRFF, ${okrff} × under OKRFF.`;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /**
   * The prior's ellipse of one standard deviation: discs at the ends of its axis, diamonds at the ends across it.
   *
   * @param {Context} c @param {number} w
   */
  paintEllipse(c, w) {
    if (!this.turnable) return;
    const extent = this.data.frequency_extent;
    const { axis, side } = this.ends;
    const points = Array.from({ length: ELLIPSE_POINTS }, (_, k) => {
      const turn = (2 * Math.PI * k) / (ELLIPSE_POINTS - 1);
      const [x, y] = axis.map((v, i) => v * Math.cos(turn) + side[i] * Math.sin(turn));
      return place(x, y, extent, w);
    });
    paintCurve(c, points, "white", "solid", 3);
    paintCurve(c, points, INK, "solid", 1.2);
    for (const sign of [1, -1]) {
      const [[x, y], [u, v]] = [axis, side].map((end) => place(sign * end[0], sign * end[1], extent, w));
      circle(c, x, y, 5);
      fillAndOutline(c, "white", INK, 1.5);
      diamond(c, u, v, 6);
      fillAndOutline(c, "white", INK, 1.5);
      for (const name of ELLIPSE) {
        if (!this.inputs[name].matches(":focus-visible")) continue;
        if (name === "across") paintRing(c, u, v, 10);
        else paintRing(c, x, y, 10);
      }
    }
  }

  /**
   * Rings at the frequency in focus and at its mirror image, which is the same cosine.
   *
   * @param {Context} c @param {number} w @param {number} extent
   */
  paintFocus(c, w, extent) {
    if (!this.omegaInFocus) return;
    const [a, b] = this.omegaInFocus;
    for (const sign of [1, -1]) paintRing(c, ...place(sign * a, sign * b, extent, w), 6);
  }

  /**
   * The points over the wave in focus, which is shifted to agree with the labels best.
   *
   * @param {Panel} panel @param {Context} c @param {number} w @param {number} h
   */
  paintData(panel, c, w, h) {
    const extent = this.data.data_extent;
    if (this.omegaInFocus) {
      const [a, b] = this.omegaInFocus;
      const { phase } = labelSpectrum(this.X, this.y, a, b);
      paintWave(c, w, this.wave, this.omegaInFocus, phase, extent, "decision");
    }
    panel.still(c, w, h, (still) => paintPoints(still, w, extent, this.X, this.y, 2.8));
  }

  /**
   * The candidates; the area of a dot is its weight.
   *
   * @param {Context} c @param {number} w @param {Learned} method
   */
  paintDots(c, w, method) {
    const { N, omega } = this;
    const Q = this.Q[method];
    const order = this.order[method];
    const extent = this.data.frequency_extent;
    const unit = Math.min(1.5, 13 / Math.sqrt(Q[order[0]] * N));
    // Paint heavy candidates on top.
    for (const m of order.slice().reverse()) {
      const radius = unit * Math.sqrt(Q[m] * N);
      const tiny = radius < 0.4;
      const [x, y] = place(omega[2 * m], omega[2 * m + 1], extent, w);
      if (x < 0 || y < 0 || x > w || y > w) continue;
      c.globalAlpha = tiny ? 0.35 : 0.7;
      c.fillStyle = tiny ? "#8C8C8C" : PALETTE.methods[method];
      if (tiny) c.fillRect(x - 0.7, y - 0.7, 1.4, 1.4);
      else {
        circle(c, x, y, Math.max(radius, 0.8));
        c.fill();
      }
    }
    c.globalAlpha = 1;
    this.paintEllipse(c, w);
    this.paintFocus(c, w, extent);
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paintRanks(c, w, h) {
    const { N, Q, order } = this;
    const top = Math.log10(N);
    /** @type {(method: Method, rank: number) => number} */
    const weight = (method, rank) => Math.log10(Q[method][order[method][rank - 1]] * N);
    this.frame = this.chart(c, w, h, {
      x: { low: 0, high: top, ticks: powersOfTen(0, top) },
      y: { low: LOWEST_WEIGHT, high: top + 0.1, ticks: powersOfTen(LOWEST_WEIGHT, top).filter((_, k) => k % 2 === 0) },
      xTitle: "candidates",
      yTitle: "",
      size: 0.75 * this.rem,
      inside: (px, py) => {
        for (const method of METHODS) {
          const points = Array.from({ length: CURVE_POINTS }, (_, k) => {
            const rank = Math.round(N ** (k / (CURVE_POINTS - 1)));
            return [px(Math.log10(rank)), py(Math.max(weight(method, rank), LOWEST_WEIGHT - 1))];
          });
          paintCurve(c, points, PALETTE.methods[method], PALETTE.dashes[method]);
        }
        const { candidate } = this.focus;
        if (candidate === undefined) return;
        const rank = order.pbrff.indexOf(candidate) + 1;
        paintRing(c, px(Math.log10(rank)), py(Math.max(weight("pbrff", rank), LOWEST_WEIGHT)), 5);
      },
    });
  }
}

/**
 * The heaviest candidates, without those that together move a map by less than an eighth of a step of its colours.
 *
 * @param {Float64Array} Q @param {number[]} order the heaviest first
 */
function heaviest(Q, order) {
  let rest = 1;
  const count = order.findIndex((m) => (rest -= Q[m]) < NEGLECTED);
  return order.slice(0, count < 0 ? order.length : count + 1);
}

/** @param {number} low @param {number} high @returns {Ticks} */
function powersOfTen(low, high) {
  return Array.from({ length: Math.floor(high) - low + 1 }, (_, k) => [low + k, `${10 ** (low + k)}`]);
}

export default mounting(LiveKernel);
