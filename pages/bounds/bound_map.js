// @ts-check
// Every bound on the alignment loss at any t and n, as `rff_engine.bounds` has them, and its map over beta and n.

import { concentration, klDivergence, pseudoPosterior } from "../shared/live/maths.js";
import { widthsOf } from "./promises_kept.js";
import { largestMean } from "../shared/live/vote_bound.js";

/** @import { Floats } from "../shared/live/maths.js" */
/** @typedef {{ loss: number, kl: number, chi2: number, divergence: number }} Posterior its loss, and divergences from the prior */
/** @typedef {{ epsilon: number, share: number, mu: number, form: "paper" | "corrected", held: number }} Guarantee `share` of epsilon for a t, and number of landmarks `held` at once */

/** Logarithms of n at the rows of a map; from row to row that of t = beta sqrt(n) grows by half as much. */
const ROW_STEP = 0.05;
export const LOG_COUNTS = Float64Array.from({ length: 35 }, (_, k) => 1.3 + k * ROW_STEP);

/**
 * The loss of the pseudo-posterior at t, and its divergences from the prior.
 *
 * @param {Floats} loss of the candidates @param {number} t @param {number} mu @param {Float64Array} Q where its weights go
 * @returns {Posterior}
 */
export function posteriorAt(loss, t, mu, Q) {
  pseudoPosterior(loss, 1, loss.length, loss.length, t, 1, Q);
  return {
    loss: Q.reduce((sum, weight, m) => sum + weight * loss[m], 0),
    kl: klDivergence(Q, 0, Q.length),
    chi2: concentration(Q, 2).divergence,
    divergence: concentration(Q, mu).divergence,
  };
}

/**
 * A bound of `rff_engine.bounds`, by its name there.
 *
 * @param {string} name @param {Posterior} posterior @param {number} n @param {number} t @param {Guarantee} guarantee
 */
export function boundAt(name, { loss, kl, chi2, divergence }, n, t, { epsilon, share, mu, form, held }) {
  const paper = form === "paper";
  const pairs = Math.floor(n / 2);
  const withT = (/** @type {number} */ width, /** @type {number} */ factor, /** @type {number} */ events) =>
    loss + (factor * (kl + (t * t) / width + Math.log(events / share))) / t;
  const inverse = (/** @type {number} */ terms, /** @type {number} */ events) =>
    largestMean(loss, (kl + Math.log((2 * Math.sqrt(terms) * events) / epsilon)) / terms);
  const ofOrder = (/** @type {number} */ order, /** @type {number} */ distance) =>
    loss + widthsOf(n, order, epsilon)[paper ? "printed" : "corrected"] * (distance + 1) ** (1 / order);
  switch (name) {
    case "landmark_kl":
      return withT((paper ? 2 : 8) * (n - 1), 1, held);
    case "first_order_kl":
      return withT((paper ? 2 : 8) * (n - 1), 2, n + 1);
    case "second_order_kl":
      return withT(paper ? 2 * n : 8 * pairs, 1, 1);
    case "landmark_kl_inverse":
      return inverse(n - 1, held);
    case "second_order_kl_inverse":
      return inverse(pairs, 1);
    case "second_order_two_class":
      return twoClasses(loss, kl - Math.log(epsilon), n);
    case "chi_square":
      return ofOrder(2, chi2);
    default:
      return ofOrder(mu, divergence); // f_divergence
  }
}

/**
 * The smallest of the Bernstein bounds for two classes, one for each rate r.
 *
 * @param {number} loss @param {number} nats @param {number} n
 */
function twoClasses(loss, nats, n) {
  const count = Math.max(1, Math.ceil(Math.log2(Math.max(Math.sqrt(n) / 7, 1))) + 1);
  let least = 0.5;
  for (let k = 1; k <= count; k++) {
    const r = 0.5 ** k;
    const rest = Math.min(((n - 1) / n) * loss + (nats + Math.log(count) - Math.log1p(-r)) / (n * r), 1);
    least = Math.min(least, (Math.sqrt((1 - 2 * r) ** 2 + 8 * r * (1 - r) * rest) - (1 - 2 * r)) / (4 * r));
  }
  return least;
}

/** Steps of t from one beta to the next. @param {Floats} logBetas evenly spaced */
const stepsAcross = (logBetas) => Math.round((logBetas[1] - logBetas[0]) / (ROW_STEP / 2));

/**
 * The pseudo-posteriors at every t of a map.
 *
 * @param {Floats} loss of the candidates @param {Floats} logBetas evenly spaced, a whole number of steps of t apart
 * @param {number} mu
 */
export function posteriorsOf(loss, logBetas, mu) {
  const Q = new Float64Array(loss.length);
  const start = logBetas[0] + LOG_COUNTS[0] / 2;
  const length = stepsAcross(logBetas) * (logBetas.length - 1) + LOG_COUNTS.length;
  return Array.from({ length }, (_, k) => posteriorAt(loss, 10 ** (start + (k * ROW_STEP) / 2), mu, Q));
}

/**
 * A bound at every n of LOG_COUNTS (rows) and every beta (columns), and the column of the smallest in each row.
 *
 * @param {string} name @param {Posterior[]} posteriors from `posteriorsOf` @param {Floats} logBetas
 * @param {Guarantee} guarantee
 */
export function boundMap(name, posteriors, logBetas, guarantee) {
  const columns = logBetas.length;
  const across = stepsAcross(logBetas);
  const values = Float64Array.from({ length: columns * LOG_COUNTS.length }, (_, at) => {
    const [k, row] = [at % columns, Math.floor(at / columns)];
    const t = 10 ** (logBetas[k] + LOG_COUNTS[row] / 2);
    return boundAt(name, posteriors[across * k + row], Math.round(10 ** LOG_COUNTS[row]), t, guarantee);
  });
  const valley = Array.from(LOG_COUNTS, (_, row) => {
    const own = values.subarray(row * columns, (row + 1) * columns);
    return own.indexOf(own.reduce((a, b) => Math.min(a, b)));
  });
  return { values, valley };
}
