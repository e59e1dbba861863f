// @ts-check
// One landmark at any place of the plane: the weights that it learns, and the error of the best threshold on its
// similarity. Tests compare the numbers with the engine's.

import { klDivergence, nearestPoint, pseudoPosterior } from "../shared/live/maths.js";

/** @import { Floats } from "../shared/live/maths.js" */
/** @typedef {{ X: Floats, y: Int8Array, cos: Float32Array, sin: Float32Array }} Points with the waves of D frequencies, (n, D) */
/** @typedef {{ Q: Float64Array, kl: number, label: number, trainError: number, testError: number }} Worth */

/**
 * Points, with every wave evaluated at them.
 *
 * @param {Floats} X (n, 2) @param {Int8Array} y labels -1 and 1 @param {Floats} omega (D, 2)
 * @returns {Points}
 */
export function withWaves(X, y, omega) {
  const D = omega.length / 2;
  const [cos, sin] = [new Float32Array(y.length * D), new Float32Array(y.length * D)];
  for (let k = 0; k < cos.length; k++) {
    const [i, m] = [Math.floor(k / D), k % D];
    const phase = omega[2 * m] * X[2 * i] + omega[2 * m + 1] * X[2 * i + 1];
    cos[k] = Math.cos(phase);
    sin[k] = Math.sin(phase);
  }
  return { X, y, cos, sin };
}

/** Sums over the points of y times each wave, with which a place's losses take O(D). @param {Points} points */
export function labelSums({ y, cos, sin }) {
  const D = cos.length / y.length;
  const [a, b] = [new Float64Array(D), new Float64Array(D)];
  for (let k = 0; k < cos.length; k++) {
    a[k % D] += y[Math.floor(k / D)] * cos[k];
    b[k % D] += y[Math.floor(k / D)] * sin[k];
  }
  return { a, b };
}

/**
 * Weights that a landmark at a place learns (Letarte et al. 2019, Eqs. 10 and 12), and the errors of the threshold on
 * its similarity that is best on the training points. It has the class of the nearest training point.
 *
 * @param {number} x @param {number} z the place @param {Floats} omega (D, 2) @param {number} beta
 * @param {Points} train @param {{ a: Float64Array, b: Float64Array }} sums of the training points @param {Points} test
 * @returns {Worth}
 */
export function worthAt(x, z, omega, beta, train, sums, test) {
  const D = omega.length / 2;
  const n = train.y.length;
  const label = train.y[nearestPoint(train.X, x, z, Infinity)];
  const [cos, sin] = [new Float64Array(D), new Float64Array(D)];
  const loss = new Float64Array(D);
  for (let m = 0; m < D; m++) {
    const phase = omega[2 * m] * x + omega[2 * m + 1] * z;
    cos[m] = Math.cos(phase);
    sin[m] = Math.sin(phase);
    loss[m] = 0.5 - (label * (cos[m] * sums.a[m] + sin[m] * sums.b[m])) / (2 * n);
  }
  const Q = pseudoPosterior(loss, 1, D, D, beta, n, new Float64Array(D));
  const kl = klDivergence(Q, 0, D);
  for (let m = 0; m < D; m++) {
    cos[m] *= Q[m];
    sin[m] *= Q[m];
  }
  const { threshold, error } = bestThreshold(similaritiesOf(train, cos, sin), train.y, label);
  const similar = similaritiesOf(test, cos, sin);
  let wrong = 0;
  for (let i = 0; i < similar.length; i++) wrong += Number(similar[i] > threshold !== (test.y[i] === label));
  return { Q, kl, label, trainError: error, testError: wrong / similar.length };
}

/** @param {Points} points @param {Float64Array} cos weight times cosine of the landmark's phases @param {Float64Array} sin */
function similaritiesOf(points, cos, sin) {
  const D = cos.length;
  const similar = new Float64Array(points.y.length);
  for (let i = 0, k = 0; i < similar.length; i++) {
    let sum = 0;
    for (let m = 0; m < D; m++, k++) sum += cos[m] * points.cos[k] + sin[m] * points.sin[k];
    similar[i] = sum;
  }
  return similar;
}

/**
 * The lowest threshold with the fewest errors: a point above it is of the landmark's class.
 *
 * @param {Float64Array} similar @param {Int8Array} y @param {number} label of the landmark
 */
export function bestThreshold(similar, y, label) {
  const order = Uint32Array.from(similar.keys()).sort((i, j) => similar[i] - similar[j]);
  let wrong = y.reduce((sum, one) => sum + Number(one !== label), 0); // errors with all points above the threshold
  let fewest = wrong;
  let threshold = -Infinity;
  for (const [k, i] of order.entries()) {
    wrong += y[i] === label ? 1 : -1;
    const next = k + 1 < order.length ? similar[order[k + 1]] : Infinity;
    if (wrong >= fewest || next === similar[i]) continue;
    fewest = wrong;
    threshold = next === Infinity ? similar[i] : (similar[i] + next) / 2;
  }
  return { threshold, error: fewest / y.length };
}
