// @ts-check
// Drawn points: their code, and what a click, a drag and an eraser do to them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  countClasses,
  decodePoints,
  encodePoints,
  moved,
  nearestCell,
  without,
} from "../../pages/shared/live/point_code.js";

/** Codes that the tests of Python hold the server to as well. */
const shared = JSON.parse(readFileSync(new URL("../point_codes.json", import.meta.url), "utf-8"));
const POINTS = [
  { x: 0, y: 0, label: -1 },
  { x: 1000, y: 1000, label: 1 },
  { x: 300, y: 500, label: -1 },
  { x: 301, y: 499, label: 1 },
];

test("points have the codes that the server gives them, and codes these points", () => {
  const { cells, points: listed } = shared;
  const points = listed.map((/** @type {any} */ { x, y, label }) => ({ x, y, label }));
  const code = listed.map((/** @type {any} */ one) => one.code).join("");
  assert.equal(encodePoints(points, cells), code);
  assert.deepEqual(decodePoints(code, cells), points);
  assert.deepEqual(decodePoints("", cells), []);
});

test("the nearest point within a distance is found, of equal ones the last", () => {
  assert.equal(nearestCell(POINTS, 302, 499, 5), 3);
  assert.equal(nearestCell(POINTS, 298, 500, 5), 2);
  assert.equal(nearestCell(POINTS, 600, 600, 5), -1);
  assert.equal(nearestCell([POINTS[0], POINTS[0]], 0, 0, 0), 1);
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
