// @ts-check
// The browser's arithmetic held to the engine's.

import assert from "node:assert/strict";
import { test } from "node:test";

import { labelSpectrum } from "../../pages/shared/live/alignment.js";
import * as maths from "../../pages/shared/live/maths.js";
import { assertClose, engine } from "./engine.js";

const { n, D, L } = engine;
const X = Float32Array.from(engine.X);
const y = Int8Array.from(engine.y);
const testX = Float32Array.from(engine.test_X);
const testY = Int8Array.from(engine.test_y);
const omega = Float32Array.from(engine.omega);
const loss = Float64Array.from(engine.loss);
const Q = Float64Array.from(engine.Q);
const grid = maths.cellCentres(engine.extent, engine.cells);
const landmarks = Array.from({ length: L }, (_, l) => [engine.landmarks[2 * l], engine.landmarks[2 * l + 1]]);

/** Cosines are kept in single precision, so that sums of them are exact to about 1e-7. */
const SINGLE = { relative: 0, absolute: 1e-6 };

/** @param {number} l @param {number[]} point */
function wavesAt(l, [a, b]) {
  const start = 2 * l * D;
  return [maths.waves(omega, start, D, a, 0, grid), maths.waves(omega, start, D, b, 1, grid)];
}

/** @param {number} l @param {Float32Array} points */
function similaritiesTo(l, points) {
  const m = points.length / 2;
  const [a, b] = landmarks[l];
  const table = maths.cosineTable(omega, 2 * l * D, D, a, b, points);
  const psi = new Float64Array(m * L);
  maths.similarities(Q, l * D, D, table, m, psi, l, L, new Float64Array(m));
  return psi;
}

test("cell centres are the engine's", () => assertClose(grid, engine.grid));

test("the normal distribution function is the engine's", () => {
  for (const [x, value] of engine.cdf) assertClose([maths.normalCdf(x)], [value], { relative: 2e-7 });
});

test("the bound on a landmark's loss is the engine's", () => {
  for (const [loss, kl, n, held, epsilon, bound] of engine.landmark_bounds)
    assertClose([maths.landmarkBound(loss, kl, n, held, epsilon)], [bound], { relative: 0, absolute: 1e-8 });
});

test("a pseudo-posterior on the first frequencies ignores the others", () => {
  const few = 5;
  const out = maths.pseudoPosterior(loss, L, D, few, 1, n, new Float64Array(L * D).fill(7));
  for (let l = 0; l < L; l++) {
    const first = loss.subarray(l * D, l * D + few);
    const alone = maths.pseudoPosterior(first, 1, few, few, 1, n, new Float64Array(few));
    assertClose(out.subarray(l * D, l * D + few), alone);
    assert.ok(out.subarray(l * D + few, (l + 1) * D).every((weight) => weight === 0));
  }
});

test("pseudo-posteriors, their divergences and their effective numbers are the engine's", () => {
  for (const { beta, Q: weights, kl, divergences, effective } of engine.posteriors) {
    assertClose(maths.pseudoPosterior(loss, L, D, D, beta, n, new Float64Array(L * D)), weights);
    const found = kl.map((/** @type {number} */ _, /** @type {number} */ l) => maths.klDivergence(weights, l * D, D));
    assertClose(found, kl, { absolute: 1e-12 });
    const first = Float64Array.from(weights.slice(0, D));
    for (const [k, mu] of engine.mu.entries()) {
      const { divergence, effective: number } = maths.concentration(first, mu);
      assertClose([divergence, number], [divergences[k], effective], { absolute: 1e-12 });
    }
  }
});

test("posteriors on the frequency plane are the engine's, up to their sum", () => {
  const { prior, loss: losses, posteriors } = engine.plane;
  for (const [k, { beta }] of engine.posteriors.entries()) {
    const out = new Float64Array(losses.length);
    maths.planePosterior(prior, losses, maths.least(losses), beta, n, out);
    const total = out.reduce((a, b) => a + b);
    const normalised = out.map((density) => density / total);
    assertClose(normalised, posteriors[k], { absolute: 1e-15 });
  }
});

test("alignment losses from the label spectrum are the engine's", () => {
  const found = engine.alignment_loss.map(
    (/** @type {number} */ _, /** @type {number} */ m) => labelSpectrum(X, y, omega[2 * m], omega[2 * m + 1]).loss,
  );
  assertClose(found, engine.alignment_loss, { absolute: 1e-12 });
  const { grid: frequencies, loss: losses } = engine.plane;
  const G = frequencies.length;
  for (let k = 0; k < losses.length; k++) {
    const a = frequencies[k % G];
    const b = frequencies[Math.floor(k / G)];
    assertClose([labelSpectrum(X, y, a, b).loss], [losses[k]], { absolute: 1e-12 });
  }
});

test("the phase of the label spectrum is where the wave agrees with the labels best", () => {
  const [a, b] = omega;
  const { phase } = labelSpectrum(X, y, a, b);
  const agreement = (/** @type {number} */ shift) =>
    y.reduce((sum, label, j) => sum + label * Math.cos(a * X[2 * j] + b * X[2 * j + 1] - shift), 0);
  for (const other of [-0.1, 0.1, 1, Math.PI]) assert.ok(agreement(phase) > agreement(phase + other));
});

test("similarity maps are the engine's", () => {
  const size = grid.length ** 2;
  for (let l = 0; l < L; l++) {
    const [u, v] = wavesAt(l, landmarks[l]);
    const map = maths.similarityMap(Q, l * D, D, u, v, grid.length, new Float32Array(size));
    assertClose(map, engine.maps.slice(l * size, (l + 1) * size), SINGLE);
  }
});

test("sums of the first cosines, and what they lack of the whole, are the engine's", () => {
  const G = grid.length;
  for (const [l, { order, shares, distances, maps }] of engine.build_up.entries()) {
    const [u, v] = wavesAt(l, landmarks[l]);
    const start = l * D;
    assert.deepEqual(maths.descendingOrder(Q.subarray(start, start + D)), order);
    const found = maths.partialSums(Q, start, order, u, v, G);
    assertClose(found.shares, shares, { absolute: 1e-12 });
    assertClose(found.distances, distances, SINGLE);
    for (let count = 0; count <= D; count++) {
      const weights = maths.firstWeights(Q, start, order, count, new Float64Array(D).fill(7));
      const map = maths.similarityMap(weights, 0, D, u, v, G, new Float32Array(G * G));
      assertClose(map, maps.slice(count * G * G, (count + 1) * G * G), SINGLE);
    }
  }
});

test("the map of a kernel is the engine's, on grids of even and of odd size", () => {
  const [u, v] = wavesAt(0, [0, 0]);
  const G = grid.length;
  assertClose(maths.kernelMap(Q, D, u, v, G, new Float32Array(G * G)), engine.kernel_map, SINGLE);
  const even = maths.cellCentres(engine.extent, 4);
  const waves = [maths.waves(omega, 0, D, 0, 0, even), maths.waves(omega, 0, D, 0, 1, even)];
  const whole = maths.similarityMap(Q, 0, D, waves[0], waves[1], 4, new Float32Array(16));
  assertClose(maths.kernelMap(Q, D, waves[0], waves[1], 4, new Float32Array(16)), whole, SINGLE);
});

test("similarities of points to landmarks are the engine's", () => {
  for (const [points, expected] of /** @type {[Float32Array, number[]][]} */ ([
    [X, engine.psi],
    [testX, engine.test_psi],
  ])) {
    for (let l = 0; l < L; l++) {
      const found = similaritiesTo(l, points).filter((_, k) => k % L === l);
      const column = expected.filter((_, k) => k % L === l);
      assertClose(found, column, SINGLE);
    }
  }
});

test("linear SVMs and their errors are the engine's, wherever they start", () => {
  const psi = Float64Array.from(engine.psi);
  const testPsi = Float64Array.from(engine.test_psi);
  for (const { C, w, train_error, test_error } of engine.machines) {
    for (const start of [0, 10]) {
      const found = maths.linearSvm(psi, y, n, L, C, new Float64Array(L + 1).fill(start));
      assertClose(found, w, { relative: 1e-6, absolute: 1e-8 });
      assert.equal(maths.errorRate(psi, y, n, L, found), train_error);
      assert.equal(maths.errorRate(testPsi, testY, testY.length, L, found), test_error);
    }
  }
});

test("the boundary is the line where a linear function is 0", () => {
  const G = grid.length;
  const values = Float64Array.from({ length: G * G }, (_, k) => 2 * (k % G) - 3 * Math.floor(k / G) + 4.5);
  const segments = maths.boundary(values, G);
  assert.ok(segments.length >= G - 1);
  for (const [i, j] of segments.flat()) assertClose([2 * i - 3 * j], [-4.5], { relative: 0, absolute: 1e-12 });
  assert.equal(maths.boundary(values.fill(1), G).length, 0);
});

test("the nearest value is the first of several", () => {
  assert.equal(maths.nearestIndex(Float64Array.of(1, 4, 6, 9), 5), 1);
  assert.equal(maths.nearestIndex(Float64Array.of(1, 4, 6, 9), 100), 3);
});

test("the nearest point is found only within the distance", () => {
  const points = Float32Array.of(0, 0, 1, 0, 3, 4);
  assert.equal(maths.nearestPoint(points, 0.9, 0.1, 1), 1);
  assert.equal(maths.nearestPoint(points, 3, 3.5, 0.6), 2);
  assert.equal(maths.nearestPoint(points, -2, 0, 2), undefined);
});

test("extremes and order of values are those of sorting", () => {
  const values = Float64Array.of(2, -1, 5, 0);
  assert.deepEqual([maths.least(values), maths.largest(values)], [-1, 5]);
  assert.deepEqual(maths.descendingOrder(values), [2, 0, 3, 1]);
});

test("rounded terms add up to their rounded sum, each off by less than a unit", () => {
  assert.deepEqual(maths.addingUp([0.3681, 0.0362, 0.0139, 0.1734], 3).terms, [0.368, 0.036, 0.014, 0.174]);
  for (let k = 1; k < 200; k++) {
    const values = [Math.sqrt(k), 1 / k, Math.exp(-k), k * Math.PI];
    const exact = values.reduce((a, b) => a + b, 0);
    const { sum, terms } = maths.addingUp(values, 3);
    assertClose([sum], [exact], { relative: 0, absolute: 0.000501 });
    assertClose([terms.reduce((a, b) => a + b, 0)], [sum], { relative: 1e-12, absolute: 0 });
    for (const [j, value] of values.entries()) assert.ok(terms[j] >= 0 && Math.abs(terms[j] - value) < 0.001001);
  }
});

test("a value near two figures has two", () => {
  assert.deepEqual([0.501187, 0.251189, 0.398107, 1.58489, 501.187, 301, 0.3].map(maths.inFigures), [
    "0.5",
    "0.25",
    "0.4",
    "1.58",
    "500",
    "301",
    "0.3",
  ]);
});
