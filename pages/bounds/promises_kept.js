// @ts-check
// Theorem 4 (Letarte et al. 2019) on samples of two classes for the one hypothesis h = 1: losses, bounds and failures.

/** @import { Floats } from "../shared/live/maths.js" */
/** @typedef {{ printed: number, corrected: number }} Widths bound less empirical loss; the same for rates of failure */

const MORE_ORDERS = [0, 1, 2, 4, 6, 8, 16]; // of moments, as in rff_engine.bounds
const DEVIATIONS = 9; // sizes count within so many (standard deviations + 1) of their mean

/**
 * The logarithm of the gamma function, by Stirling's series.
 *
 * @param {number} x above 0
 */
export function logGamma(x) {
  let shift = 0;
  let z = x;
  for (; z < 12; z++) shift += Math.log(z);
  const w = 1 / (z * z);
  const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / z;
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

/**
 * Width of Theorem 4, its bound less the empirical loss, as printed and corrected.
 *
 * @param {number} n @param {number} mu @param {number} epsilon
 * @returns {Widths}
 */
export function widthsOf(n, mu, epsilon) {
  const tail = epsilon ** -(1 - 1 / mu);
  const printed = (4 * n) ** (mu <= 2 ? -(mu - 1) / 2 : -(1 - 1 / mu));
  return { printed: printed * tail, corrected: (mu >= 2 ? (2 * n) ** -0.5 : conjugateMoment(mu, n)) * tail };
}

/** @param {number} mu below 2 @param {number} n */
function conjugateMoment(mu, n) {
  const q = mu / (mu - 1);
  const logVariance = -Math.log(2 * n);
  const bounds = MORE_ORDERS.map((more) => {
    const r = q + more;
    const logMoment = Math.log(r) + logGamma(r / 2) - (r / 2) * Math.log(2 * Math.floor(n / 2));
    return (more * logVariance + (q - 2) * logMoment) / (r - 2);
  });
  return Math.exp(Math.min(logVariance, ...bounds) / q);
}

/** The probability of the rarer class. @param {number} trueLoss at most 1/2 */
export function rarer(trueLoss) {
  return trueLoss / (1 + Math.sqrt(1 - 2 * trueLoss));
}

/** The share of pairs that differ in label. @param {number} size of one class @param {number} n */
export function lossOf(size, n) {
  return (2 * size * (n - size)) / (n * (n - 1));
}

/**
 * Call `take` with the sizes that a class of probability q may have in a sample, and their probabilities, until it
 * returns true.
 *
 * @param {number} n @param {number} q at most 1/2 @param {(size: number, probability: number) => boolean | void} take
 */
function overSizes(n, q, take) {
  const spread = DEVIATIONS * (Math.sqrt(n * q * (1 - q)) + 1);
  const last = Math.min(n, Math.ceil(n * q + spread));
  let size = Math.max(0, Math.floor(n * q - spread));
  const choices = logGamma(n + 1) - logGamma(size + 1) - logGamma(n - size + 1);
  let probability = q ? Math.exp(choices + size * Math.log(q) + (n - size) * Math.log1p(-q)) : Number(!size);
  for (; size <= last; size++) {
    if (take(size, probability)) return;
    probability *= ((n - size) / (size + 1)) * (q / (1 - q));
  }
}

/**
 * The least size whose distribution function reaches u.
 *
 * @param {number} u @param {number} n @param {number} q
 */
export function sizeAt(u, n, q) {
  let sum = 0;
  let found = n;
  overSizes(n, q, (size, probability) => {
    sum += probability;
    found = size;
    return sum >= u;
  });
  return found;
}

/**
 * Probabilities that the bounds of a sample are below its true loss.
 *
 * @param {number} trueLoss @param {number} n @param {Widths} widths
 * @returns {Widths}
 */
export function failureRates(trueLoss, n, widths) {
  const rates = { printed: 0, corrected: 0 };
  overSizes(n, rarer(trueLoss), (size, probability) => {
    const gap = trueLoss - lossOf(size, n) - 1e-12;
    if (gap > widths.printed) rates.printed += probability;
    if (gap > widths.corrected) rates.corrected += probability;
  });
  return rates;
}

/**
 * Losses of the first `count` samples, each made from two uniform numbers.
 *
 * @param {Floats} draws (m, 2) @param {number} count @param {number} n
 * @param {Float64Array} [known] losses of some first samples
 */
export function sampleLosses(draws, count, n, known = new Float64Array()) {
  const losses = new Float64Array(count);
  losses.set(known);
  for (let k = known.length; k < count; k++) {
    losses[k] = lossOf(sizeAt(draws[2 * k + 1], n, rarer(draws[2 * k] / 2)), n);
  }
  return losses;
}
