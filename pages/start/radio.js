// @ts-check
// Numbers of the radio: what a star's candidates agree on, and what a choice among them is worth. Tests compare them
// with the engine's.

import { gaussianKernel, gaussianMap, landmarkLosses } from "../shared/live/alignment.js";
import {
  cosineTable,
  klDivergence,
  landmarkBound,
  nearestPoint,
  similarities,
  similarityMap,
  waves,
} from "../shared/live/maths.js";
import { Nodes } from "../shared/live/nodes.js";

/** @import { Floats } from "../shared/live/maths.js" */
/** @typedef {{ name: string, X: Float64Array, y: Int8Array, testX: Floats, testY: Int8Array, extent: number, star: number[], sigma: number, byHand?: boolean }} Points of a data set, with the star's place and the kernel's width to begin with */
/** @typedef {{ error: number, loss: number, kl: number, bound: number }} Worth */

const EPSILON = 0.05;

/** A star among points, and the candidates that the prior draws for it. */
export class Station {
  /**
   * @param {Points} points @param {number[]} star @param {number} sigma
   * @param {Float32Array} draws standard normal ones, (N, 2) @param {number} cells along a side of its maps
   * @param {Station} [before] whose memory is no longer needed
   */
  constructor(points, star, sigma, draws, cells, before) {
    const { X, y, testX, testY, extent } = points;
    const [x, z] = star;
    this.points = points;
    this.star = star;
    /** Whether a bound does: for a star placed before a look at the labels, and for a random sample. */
    this.holds = star === points.star && !points.byHand;
    this.omega = Float64Array.from(draws, (draw) => draw / sigma);
    this.N = draws.length / 2;
    this.label = y[nearestPoint(X, x, z, Infinity)];
    this.loss = new Float64Array(this.N);
    landmarkLosses(X, y, x, z, this.label, false, this.omega, 0, this.N, this.loss, 0);
    this.testTable = cosineTable(this.omega, 0, this.N, x, z, testX, before?.testTable);
    this.nodes = new Nodes(extent, cells, this.omega);
    this.u = waves(this.omega, 0, this.N, x, 0, this.nodes.at);
    this.v = waves(this.omega, 0, this.N, z, 1, this.nodes.at);
    this.kernelMap = Float32Array.from(gaussianMap(x, z, sigma, extent, cells));
    this.kernel = this.worthOfKernel(sigma);
    this.similar = new Float64Array(testY.length);
    this.scratch = new Float64Array(testY.length);
  }

  /** @param {number} sigma @returns {Worth} */
  worthOfKernel(sigma) {
    const { X, y, testY } = this.points;
    const n = y.length;
    const values = new Float64Array(n);
    gaussianKernel(X, this.star[0], this.star[1], sigma, values, 0, 1);
    const aligned = values.reduce((sum, value, j) => sum + y[j] * value, 0);
    const wrong = testY.reduce((sum, label) => sum + Number(label !== this.label), 0);
    return this.worth(0.5 - (this.label * aligned) / (2 * n), 0, wrong);
  }

  /** @param {number} loss @param {number} kl @param {number} wrong @returns {Worth} */
  worth(loss, kl, wrong) {
    const { y, testY } = this.points;
    // The star is no training point, so its pairs are as many as the points.
    const bound = this.holds ? landmarkBound(loss, kl, y.length + 1, 1, EPSILON) : NaN;
    return { error: wrong / testY.length, loss, kl, bound };
  }

  /**
   * Error of the sign of the similarity, mean loss, divergence and bound of weights on the first D candidates.
   *
   * @param {Float64Array} Q (N,) @param {number} D
   */
  worthOf(Q, D) {
    const { loss, similar, label, testTable } = this;
    const { testY } = this.points;
    similarities(Q, 0, D, testTable, testY.length, similar, 0, 1, this.scratch);
    let wrong = 0;
    for (let j = 0; j < similar.length; j++) if (similar[j] > 0 !== (testY[j] === label)) wrong++;
    let mean = 0;
    for (let m = 0; m < D; m++) mean += Q[m] * loss[m];
    return this.worth(mean, klDivergence(Q, 0, D), wrong);
  }

  /** The map of weights on the first D candidates. @param {Float64Array} Q @param {number} D @param {Float32Array} out */
  map(Q, D, out) {
    const { nodes, u, v } = this;
    return nodes.map((count, values) => similarityMap(Q, 0, D, u, v, count, values), out);
  }

  /** How well the wave of a candidate agrees with the labels, from -1 to 1. @param {number} m */
  agreement(m) {
    return 1 - 2 * this.loss[m];
  }

  /**
   * The agreement of every frequency on a product grid, (G, G).
   *
   * @param {Float64Array} grid either coordinate
   */
  agreements(grid) {
    const { star, label } = this;
    const { X, y } = this.points;
    const n = y.length;
    // The wave is even: differences take the part of frequencies.
    const differences = X.map((value, k) => star[k % 2] - value);
    const [along, across] = [0, 1].map((axis) => waves(differences, 0, n, 0, /** @type {0 | 1} */ (axis), grid));
    const [own, other] = [label, -label].map((one) => {
      const share = Float64Array.from(y, (of) => Number(of === one) / n);
      return similarityMap(share, 0, n, along, across, grid.length, new Float32Array(grid.length ** 2));
    });
    return own.map((value, k) => value - other[k]);
  }
}

/**
 * The setting of a code of the radio, see `decode` in compute.py.
 *
 * @param {string} code
 */
export function settingOf(code) {
  const [name, kept, beta, D, sigma, ...rest] = code.split("~");
  const posterior = rest[0] === "posterior";
  const star = rest.slice(Number(posterior)).map(Number);
  return {
    ...{ name, kept: kept ? kept.split("-").map(Number) : [], posterior, star: star.length ? star : null },
    sliders: { beta: Number(beta), D: Number(D), sigma: Number(sigma) },
  };
}

/** @param {ReturnType<typeof settingOf>} setting */
export function codeOf({ name, kept, posterior, star, sliders: { beta, D, sigma } }) {
  return [name, kept.join("-"), beta, D, sigma, ...(posterior ? ["posterior"] : []), ...(star ?? [])].join("~");
}
