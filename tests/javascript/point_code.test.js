// @ts-check
// Drawn points: their code, and what a click, a drag and an eraser do to them.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  countClasses,
  decodePoints,
  encodePoints,
  moved,
  nearestDrawn,
  without,
} from "../../rff_engine/figures/live/point_code.js";

const CELLS = 1000;
const POINTS = [
  { x: 0, y: 0, label: -1 },
  { x: 1000, y: 1000, label: 1 },
  { x: 300, y: 500, label: -1 },
  { x: 301, y: 499, label: 1 },
];

test("a code has four letters a point, and gives the points back", () => {
  const code = encodePoints(POINTS, CELLS);
  assert.match(code, /^[\w-]{16}$/);
  assert.deepEqual(decodePoints(code, CELLS), POINTS);
  assert.deepEqual(decodePoints("", CELLS), []);
});

test("the code is the three bytes of ((class, row), column) in base64url", () => {
  for (const { x, y, label } of POINTS) {
    const number = ((label > 0 ? 1001 : 0) + y) * 1001 + x;
    const bytes = Buffer.from([number >> 16, (number >> 8) & 255, number & 255]);
    assert.equal(encodePoints([{ x, y, label }], CELLS), bytes.toString("base64url"));
  }
});

test("the nearest point within a distance is found, of equal ones the last", () => {
  assert.equal(nearestDrawn(POINTS, 302, 499, 5), 3);
  assert.equal(nearestDrawn(POINTS, 298, 500, 5), 2);
  assert.equal(nearestDrawn(POINTS, 600, 600, 5), -1);
  assert.equal(nearestDrawn([POINTS[0], POINTS[0]], 0, 0, 0), 1);
});

test("a point that is erased changes the place of one other at most", () => {
  for (const k of POINTS.keys()) {
    const rest = without(POINTS, k);
    assert.equal(rest.length, POINTS.length - 1);
    assert.ok(!rest.includes(POINTS[k]));
    assert.ok(rest.filter((point, j) => point !== POINTS[j]).length <= 1);
  }
  assert.equal(POINTS.length, 4);
});

test("a point that is moved keeps its class and its place", () => {
  const after = moved(POINTS, 1, 7, 8);
  assert.deepEqual(after[1], { x: 7, y: 8, label: 1 });
  const others = (/** @type {unknown} */ _point, /** @type {number} */ j) => j !== 1;
  assert.deepEqual(after.filter(others), POINTS.filter(others));
  assert.deepEqual(countClasses(after), { negative: 2, positive: 2 });
});
