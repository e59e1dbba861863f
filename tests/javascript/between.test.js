// @ts-check
// Values between the cells of a map: within the stated error of the sums of cosines themselves.

import assert from "node:assert/strict";
import { test } from "node:test";

import { errorBetween, valueBetween } from "../../pages/shared/live/between.js";
import { cellCentres, similarityAt } from "../../pages/shared/live/maths.js";

const CELLS = 40;
const EXTENT = 1.5;
const STEP = (2 * EXTENT) / CELLS;
const D = 6;
const START = 3; // of the weights, before which others stand
const OFFSET = 4;

/** Reproducible numbers between -1 and 1. @param {number} k */
const spread = (k) => 2 * ((k * 0.6180339887498949) % 1) - 1;

/** Frequencies up to a largest one, with others before them. @param {number} fastest */
function frequencies(fastest) {
  return Float64Array.from({ length: OFFSET + 2 * D }, (_, k) => fastest * spread(k + 1));
}

const Q = Float64Array.from([9, 9, 9, 0.05, 0.3, 0.15, 0.25, 0.2, 0.05]);

/** @param {Float64Array} omega @param {number} x @param {number} y */
function similarity(omega, x, y) {
  return similarityAt(Q, START, D, omega, OFFSET, 0.2 - x, -0.7 - y);
}

/** @param {Float64Array} omega @param {number} [off] the error of a cell, by turns above and below */
function mapOf(omega, off = 0) {
  const at = cellCentres(EXTENT, CELLS);
  return Float64Array.from({ length: CELLS ** 2 }, (_, k) => {
    const [i, j] = [k % CELLS, Math.floor(k / CELLS)];
    return similarity(omega, at[i], at[j]) + ((i + j) % 2 ? off : -off);
  });
}

/** The largest difference over many points inside. @param {Float64Array} omega @param {Float64Array} map */
function largestDifference(omega, map) {
  let most = 0;
  for (let k = 1; k < 4000; k++) {
    const [x, y] = [1.3 * spread(k), 1.3 * spread(k * 1.3247179572447458)];
    most = Math.max(most, Math.abs(valueBetween(map, CELLS, EXTENT, x, y) - similarity(omega, x, y)));
  }
  return most;
}

for (const fastest of [0.5, 5, 20, 80]) {
  for (const off of [0, 0.01]) {
    test(`the stated error holds for frequencies up to ${fastest} and cells that err by ${off}`, () => {
      const omega = frequencies(fastest);
      const bound = errorBetween(Q, START, D, omega, OFFSET, STEP, off);
      const found = largestDifference(omega, mapOf(omega, off));
      assert.ok(found <= bound + 1e-12, `${found} > ${bound}`);
      assert.ok(bound <= 60 * found + 1e-12, `${bound} is far above ${found}`); // and it is of use
    });
  }
}

test("a plane of the third degree is met exactly, and a value at a cell is the cell's", () => {
  const at = cellCentres(EXTENT, CELLS);
  const cubic = (/** @type {number} */ x, /** @type {number} */ y) => 1 + x ** 3 - 2 * x * y ** 2 + y ** 3;
  const map = Float64Array.from({ length: CELLS ** 2 }, (_, k) => cubic(at[k % CELLS], at[Math.floor(k / CELLS)]));
  assert.ok(Math.abs(valueBetween(map, CELLS, EXTENT, 0.123, -0.71) - cubic(0.123, -0.71)) < 1e-12);
  assert.ok(Math.abs(valueBetween(map, CELLS, EXTENT, at[7], at[20]) - map[20 * CELLS + 7]) < 1e-12);
});

test("there is no value where a cell is missing", () => {
  const map = new Float64Array(CELLS ** 2);
  for (const [x, y] of [
    [-1.6, 0],
    [0, 1.5],
    [-EXTENT + 1.4 * STEP, 0],
    [0, EXTENT - 1.4 * STEP],
  ]) {
    assert.ok(Number.isNaN(valueBetween(map, CELLS, EXTENT, x, y)));
  }
  assert.equal(valueBetween(map, CELLS, EXTENT, -EXTENT + 1.6 * STEP, EXTENT - 1.6 * STEP), 0);
});
