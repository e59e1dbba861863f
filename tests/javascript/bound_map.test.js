// @ts-check
// Bounds at any beta and n, held to those of the engine.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LOG_COUNTS, boundAt, boundMap, posteriorAt, posteriorsOf } from "../../pages/bounds/bound_map.js";
import { assertClose, engine } from "./engine.js";

for (const { n, guarantee, betas, losses, sides, values } of engine.bounds_at) {
  for (const [name, expected] of Object.entries(values)) {
    test(`${name} along beta at n = ${n} is the engine's`, () => {
      const loss = Float64Array.from(losses[sides[name]]);
      const Q = new Float64Array(loss.length);
      const found = betas.map((/** @type {number} */ beta) => {
        const t = beta * Math.sqrt(n);
        return boundAt(name, posteriorAt(loss, t, guarantee.mu, Q), n, t, guarantee);
      });
      assertClose(found, expected, { relative: 1e-9, absolute: 1e-12 });
    });
  }

  test(`a map of Theorem 3 has the bound at each n and beta, and its valley; epsilon ${guarantee.epsilon}`, () => {
    const loss = Float64Array.from(losses.kernel);
    const logBetas = Float64Array.from(betas, (/** @type {number} */ beta) => Math.round(10 * Math.log10(beta)) / 10);
    const { values: map, valley } = boundMap(
      "second_order_kl",
      posteriorsOf(loss, logBetas, guarantee.mu),
      logBetas,
      guarantee,
    );
    const Q = new Float64Array(loss.length);
    for (const row of [0, 17, 34]) {
      const own = Array.from(logBetas, (logBeta) => {
        const t = 10 ** (logBeta + LOG_COUNTS[row] / 2);
        const count = Math.round(10 ** LOG_COUNTS[row]);
        return boundAt("second_order_kl", posteriorAt(loss, t, guarantee.mu, Q), count, t, guarantee);
      });
      assertClose(map.subarray(61 * row, 61 * (row + 1)), own);
      assert.equal(valley[row], own.indexOf(Math.min(...own)));
    }
  });
}
