// @ts-check
// The bound of a certified vote and its terms, at every step between the prior's weights and three times the learned ones.

/** @import { Floats } from "./maths.js" */
/** @typedef {{ prior: Floats, step: Floats }} Margins on rows, of the prior's weights and of the step away from them */
/**
 * @typedef {object} Prices in nats, apart from the weights'
 * @property {number} confidence
 * @property {number} sample
 * @property {number} map
 * @property {number} threshold
 * @property {number} frequencies
 * @property {number} looks
 */
/** @typedef {{ risk: number, nats: number }} Term */
/** @typedef {{ bound: number, threshold: number, terms: Term[] }} Certificate terms add up to the bound */

// Rational approximation of exp(x^2) erfc(x) for x >= 0, by Chebyshev's polynomials; relative error below 1.2e-7.
const ERFC = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
  0.17087277,
];
const NEWTON_STEPS = 12;

/**
 * The standard normal distribution function.
 *
 * @param {number} x
 */
export function normalCdf(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + z / 2);
  let sum = 0;
  for (let k = ERFC.length - 1; k >= 0; k--) sum = sum * t + ERFC[k];
  const tail = 0.5 * t * Math.exp(-z * z + sum);
  return x > 0 ? 1 - tail : tail;
}

/**
 * The largest mean L with kl(loss || L) <= budget, by Newton's method from above.
 *
 * @param {number} loss @param {number} budget
 */
export function largestMean(loss, budget) {
  const rest = 1 - loss;
  if (rest <= 0) return 1;
  const entropy = loss > 0 ? loss * Math.log(loss) : 0;
  let root = Math.min(loss + Math.sqrt(budget / 2), 1 - rest * Math.exp((entropy - budget) / rest));
  for (let k = 0; k < NEWTON_STEPS; k++) {
    const kl = (loss > 0 ? loss * Math.log(loss / root) : 0) + rest * Math.log(rest / (1 - root));
    const step = ((kl - budget) * root * (1 - root)) / (root - loss);
    if (!(step > 0)) break;
    root -= step;
  }
  return Math.max(root, loss);
}

/**
 * The mean over rows of Phi(threshold - margin), for each threshold.
 *
 * @param {Margins} margins @param {number} stretch @param {number[]} thresholds
 */
export function marginErrors({ prior, step }, stretch, thresholds) {
  const sums = thresholds.map(() => 0);
  for (let i = 0; i < prior.length; i++) {
    const margin = prior[i] + stretch * step[i];
    for (let k = 0; k < sums.length; k++) sums[k] += normalCdf(thresholds[k] - margin);
  }
  return sums.map((sum) => sum / prior.length);
}

/**
 * The share of rows on which the vote errs.
 *
 * @param {Margins} margins @param {number} stretch
 */
export function voteError({ prior, step }, stretch) {
  let errors = 0;
  for (let i = 0; i < prior.length; i++) errors += Number(prior[i] + stretch * step[i] <= 0);
  return errors / prior.length;
}

/**
 * The smallest bound over the thresholds, with its terms: the margin error, each price, and the step to the vote.
 *
 * @param {number[]} errors margin errors, one for each threshold
 * @param {number[]} thresholds @param {Prices} prices @param {number} length of the step away from the prior's weights
 * @param {number} n rows
 * @returns {Certificate}
 */
export function certificate(errors, thresholds, prices, length, n) {
  const { confidence, sample, map, threshold: choice, frequencies, looks } = prices;
  const spent = [confidence, sample, map, choice, frequencies, length ** 2 / 2, looks];
  const budget = Math.max(spent.reduce((a, b) => a + b) / n, 0);
  const bounds = errors.map((error, k) => Math.min(largestMean(error, budget) / normalCdf(thresholds[k]), 1));
  const best = bounds.indexOf(Math.min(...bounds));
  const terms = [{ risk: errors[best], nats: 0 }];
  let reached = errors[best];
  let nats = 0;
  for (const price of spent) {
    nats += price;
    const after = largestMean(errors[best], Math.max(nats, 0) / n);
    terms.push({ risk: after - reached, nats: price });
    reached = after;
  }
  terms.push({ risk: bounds[best] - reached, nats: 0 });
  return { bound: bounds[best], threshold: thresholds[best], terms };
}
