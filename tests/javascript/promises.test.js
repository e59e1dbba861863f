// @ts-check
// Theorem 4 on samples, held to the engine's numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { failureRates, lossOf, logGamma, sampleLosses, sizeAt, widthsOf } from "../../pages/bounds/promises_kept.js";
import { assertClose, engine } from "./engine.js";

test("the logarithm of the gamma function is the engine's", () => {
  for (const [x, value] of engine.gammas) assertClose([logGamma(x)], [value], { relative: 1e-11, absolute: 1e-11 });
});

for (const { n, mu, epsilon, draws, losses, widths, true: trueLosses, rates } of engine.promises) {
  test(`losses, widths and rates of failure at n = ${n}, mu = ${mu} are the engine's`, () => {
    assertClose(sampleLosses(draws, losses.length, n), losses, { relative: 1e-12, absolute: 1e-12 });
    assert.deepEqual(sampleLosses(draws, 40, n, sampleLosses(draws, 7, n)), sampleLosses(draws, 40, n));
    const found = widthsOf(n, mu, epsilon);
    assertClose([found.printed, found.corrected], [widths.printed, widths.corrected], { relative: 1e-9 });
    for (const [k, trueLoss] of trueLosses.entries()) {
      const rate = failureRates(trueLoss, n, found);
      const expected = [rates.printed[k], rates.corrected[k]];
      assertClose([rate.printed, rate.corrected], expected, { relative: 1e-8, absolute: 1e-11 });
    }
  });
}

test("sizes at the ends of their range", () => {
  assert.deepEqual([sizeAt(0, 10, 0), sizeAt(0.999, 10, 0), sizeAt(0, 10, 0.5)], [0, 0, 0]);
  assert.equal(sizeAt(0.5, 11, 0.5), 5);
  assert.deepEqual([lossOf(0, 10), lossOf(10, 10), lossOf(1, 2)], [0, 0, 1]);
});
