// @ts-check
// Kernels on the line that the browser makes from tables and draws of width 1, held to those of the engine.

import assert from "node:assert/strict";
import { test } from "node:test";

import { roundedPower } from "../../pages/shared/live/maths.js";
import { codeOfPlaces, movedPlaces, places, priorLine, sumsOf } from "../../pages/kernel/prior_line.js";
import { unpackedArray } from "../../pages/shared/live/unpacking.js";
import { assertClose, engine } from "./engine.js";

/** Phases and weights come in single precision; a table is a cubic polynomial between its entries. */
const SINGLE = { relative: 1e-6, absolute: 2e-6 };
const TABLE = { relative: 1e-6, absolute: 1e-6 };
/** Near 0, where the Matérn kernel of nu = 1 has no third derivative. */
const ROUGH = { relative: 0, absolute: 1e-4 };

/** @type {any} */
let packed;
for (const one of engine.prior_lines) {
  packed = one.packed ?? packed;
  const prior = {
    ...packed,
    omega: unpackedArray(packed.omega, Float64Array),
    offsets: unpackedArray(packed.offsets, Float32Array),
    weights: unpackedArray(packed.weights, Float32Array),
    density: unpackedArray(packed.density, Float64Array),
    kernel: unpackedArray(packed.kernel, Float64Array),
  };

  test(`${one.name} of width ${one.width} with ${one.D} frequencies is the engine's`, () => {
    const line = priorLine(prior, sumsOf(prior), one.width, one.D);
    assertClose(line.omega, one.omega);
    assertClose(line.density, one.density, TABLE);
    assertClose(line.kernel, one.exact, one.name === "Matérn 1.0" ? ROUGH : TABLE);
    assertClose(line.cosSin, one.cos_sin, { relative: 0, absolute: 1e-9 });
    assertClose(line.randomPhase, one.random_phase, SINGLE);
    assert.equal(line.functions.length, 5);
    assertClose(
      line.functions.flatMap((values) => [...values]),
      one.functions.flat(),
      SINGLE,
    );
  });
}

test("every place of the slider of the width is a value of the app's control", () => {
  const found = Array.from({ length: engine.widths_on_the_line.length }, (_, k) => roundedPower(-0.7 + k / 50));
  assert.deepEqual(found, engine.widths_on_the_line);
});

test("moved frequencies are read from a code and written in order; what is none is left out", () => {
  const places = movedPlaces("7_-0.5~3_1.25~nothing~1_");
  assert.deepEqual(
    [...places],
    [
      [7, -0.5],
      [3, 1.25],
    ],
  );
  assert.equal(codeOfPlaces(places.set(12, 1 / 3)), "3_1.25~7_-0.5~12_0.3333");
  assert.equal(codeOfPlaces(movedPlaces("")), "");
});

test("places go from one end of an axis to the other, through 0", () => {
  assert.deepEqual(places(4, 5), [-4, -2, 0, 2, 4]);
});
