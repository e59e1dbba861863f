// @ts-check
// Maps from a few nodes held to the sums of cosines at every cell.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellCentres, kernelMap, similarityMap, waves } from "../../pages/shared/live/maths.js";
import { Nodes } from "../../pages/shared/live/nodes.js";
import { assertClose } from "./engine.js";

const EXTENT = 1.75;
const ROUNDING = { relative: 0, absolute: 1e-5 };

/**
 * Frequencies spread evenly over the square [-fastest, fastest]^2, with unequal weights that sum to 1.
 *
 * @param {number} D @param {number} fastest
 */
function waveset(D, fastest) {
  const spread = (/** @type {number} */ k, /** @type {number} */ step) => fastest * (2 * ((k * step) % 1) - 1);
  const omega = Float32Array.from({ length: 2 * D }, (_, k) =>
    k < 2 ? fastest : spread(k >> 1, k % 2 ? Math.SQRT2 : 0.6180339887),
  );
  const total = (D * (D + 1)) / 2;
  return { omega, Q: Float64Array.from({ length: D }, (_, m) => (m + 1) / total) };
}

/**
 * The sum of cosines around a point, at every cell.
 *
 * @param {Float32Array} omega @param {Float64Array} Q @param {number[]} point @param {number} cells
 */
function naive(omega, Q, [x, y], cells) {
  const centres = cellCentres(EXTENT, cells);
  return Float64Array.from({ length: cells * cells }, (_, k) => {
    const [dx, dy] = [x - centres[k % cells], y - centres[Math.floor(k / cells)]];
    return Q.reduce((sum, q, m) => sum + q * Math.cos(omega[2 * m] * dx + omega[2 * m + 1] * dy), 0);
  });
}

/**
 * @param {Nodes} nodes @param {Float32Array} omega @param {number} D @param {number[]} point
 */
function wavesAt({ at }, omega, D, [x, y]) {
  return [waves(omega, 0, D, x, 0, at), waves(omega, 0, D, y, 1, at)];
}

for (const [name, fastest, fewer] of /** @type {[string, number, boolean][]} */ ([
  ["slow", 3, true],
  ["medium", 15, true],
  ["fast", 60, false],
])) {
  test(`maps of ${name} waves are the naive sums, for any number of weights and any landmark`, () => {
    for (const [D, cells, point] of /** @type {[number, number, number[]][]} */ ([
      [1, 60, [0, 0]],
      [18, 61, [-0.9, 1.6]],
      [31, 60, [2.5, -0.3]],
    ])) {
      const { omega, Q } = waveset(D, fastest);
      const nodes = new Nodes(EXTENT, cells, omega);
      assert.equal(nodes.count < cells, fewer);
      const [u, v] = wavesAt(nodes, omega, D, point);
      const map = nodes.map(
        (count, values) => similarityMap(Q, 0, D, u, v, count, values),
        new Float32Array(cells * cells),
      );
      assertClose(map, naive(omega, Q, point, cells), ROUNDING);
      const [s, t] = wavesAt(nodes, omega, D, [0, 0]);
      nodes.map((count, values) => kernelMap(Q, D, s, t, count, values), map);
      assertClose(map, naive(omega, Q, [0, 0], cells), ROUNDING);
    }
  });
}

test("frequencies of 0 give a constant map", () => {
  const nodes = new Nodes(EXTENT, 30, new Float32Array(2));
  const [u, v] = wavesAt(nodes, new Float32Array(2), 1, [0.3, 0.4]);
  const map = nodes.map(
    (count, values) => similarityMap(Float64Array.of(1), 0, 1, u, v, count, values),
    new Float32Array(900),
  );
  assertClose(map, new Float32Array(900).fill(1), ROUNDING);
});
