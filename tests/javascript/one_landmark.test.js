// @ts-check
// A single landmark at places of the plane, held to the engine's numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bestThreshold, labelSums, withWaves, worthAt } from "../../pages/landmarks/one_landmark.js";
import { assertClose, engine } from "./engine.js";

const { X, y, test_X: testX, test_y: testY, omega, D, one_landmark: found } = engine;
const own = Float64Array.from(omega.slice(0, 2 * D));
const train = withWaves(X, Int8Array.from(y), own);
const fresh = withWaves(testX, Int8Array.from(testY), own);
const sums = labelSums(train);

for (const [b, beta] of found.betas.entries()) {
  test(`classes, divergences and errors at beta = ${beta} are the engine's`, () => {
    for (let k = 0; 2 * k < found.places.length; k++) {
      const [x, z] = found.places.slice(2 * k, 2 * k + 2);
      const { label, kl, trainError, testError } = worthAt(x, z, own, beta, train, sums, fresh);
      assert.equal(label, found.labels[b][k]);
      assertClose([kl], [found.kl[b][k]], { relative: 1e-4, absolute: 1e-6 });
      assertClose([trainError, testError], [found.train_error[b][k], found.test_error[b][k]], { absolute: 1e-12 });
    }
  });
}

test("the lowest of the best thresholds is taken, and none lies between equal similarities", () => {
  assert.deepEqual(bestThreshold(Float64Array.of(0, 1, 1, 2), Int8Array.of(-1, -1, 1, 1), 1), {
    threshold: 0.5,
    error: 0.25,
  });
  assert.deepEqual(bestThreshold(Float64Array.of(0, 1), Int8Array.of(1, 1), 1), { threshold: -Infinity, error: 0 });
  assert.deepEqual(bestThreshold(Float64Array.of(0, 1), Int8Array.of(-1, -1), 1), { threshold: 1, error: 0 });
});
