// @ts-check
// Data of the static edition: files that Python wrote are read back, and figures are those of the engine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { dataOf } from "../../deploy/site/packing.js";
import { figureFor, patched, unpacked } from "../../deploy/site/variants.js";
import { assertClose, engine } from "./engine.js";

const { file, data, variants, maps } = engine.exported;

test("a file gives back the data that were written", () => {
  const [, text] = file.match(/^takeExported\("case","([^"]+)"\)\n$/);
  assert.deepEqual(dataOf(gunzipSync(Buffer.from(text, "base64"))), data);
});

test("a figure is the engine's for every screen and theme", () => {
  for (const [name, expected] of Object.entries(variants)) {
    const figure = figureFor(data.figure, { dark: name.endsWith("dark"), narrow: name.startsWith("narrow") });
    const traces = figure.data.map((/** @type {any} */ { z: _z, ...trace }) => trace);
    assert.deepEqual({ ...figure, data: traces }, expected, name);
  }
});

test("the colours of a map are the engine's, up to half a step of 255", () => {
  const { data: traces } = figureFor(data.figure, { dark: false, narrow: false });
  const drawn = traces
    .filter((/** @type {any} */ { z }) => z)
    .map((/** @type {any} */ { z }) => z.flatMap((/** @type {Float32Array} */ row) => [...row]));
  assert.equal(drawn.length, maps.length);
  for (const [k, map] of maps.entries()) {
    const span = Math.max(...map) - Math.min(...map);
    assertClose(drawn[k], map, { relative: 2 ** -12, absolute: span / 254 / 2 }); // colours have 12 bits
  }
});

test("a missing value stays one", () => {
  const levels = Buffer.from([0, 255, 254, 1]).toString("base64");
  assert.deepEqual(unpacked({ levels, low: 1, step: 0.5, shape: "2, 2" }), [
    Float32Array.of(1, NaN),
    Float32Array.of(128, 1.5),
  ]);
});

test("changes name parts of objects and of lists, and remove what is null", () => {
  const before = { a: 1, b: { c: [{ d: 1 }, { d: 2 }] }, e: [1, 2] };
  const after = patched(before, { a: null, b: { c: { 1: { d: 3 } } }, e: [4], f: { g: 5 } });
  assert.deepEqual(after, { b: { c: [{ d: 1 }, { d: 3 }] }, e: [4], f: { g: 5 } });
  assert.deepEqual(before, { a: 1, b: { c: [{ d: 1 }, { d: 2 }] }, e: [1, 2] });
});
