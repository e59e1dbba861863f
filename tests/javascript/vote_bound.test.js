// @ts-check
// The certificate that the browser computes, held to the engine's.

import assert from "node:assert/strict";
import { test } from "node:test";

import { certificate, largestMean, marginErrors, normalCdf, voteError } from "../../pages/shared/live/vote_bound.js";
import { assertClose, engine } from "./engine.js";

const { n, epsilon, n_choices, log_ratio, step, thresholds, cases, cdf, means, ...margins } = engine.certificates;
const rows = { prior: margins.prior_margins, step: margins.step_margins };
const fresh = { prior: margins.prior_test_margins, step: margins.step_test_margins };
const prices = {
  confidence: -Math.log(epsilon),
  sample: Math.log(2 * Math.sqrt(n)),
  map: Math.log(n_choices),
  threshold: Math.log(thresholds.length),
  frequencies: log_ratio,
  looks: 0,
};

/** @param {number} stretch @param {number} looks */
function certified(stretch, looks = 0) {
  return certificate(marginErrors(rows, stretch, thresholds), thresholds, { ...prices, looks }, stretch * step, n);
}

test("the normal distribution function is the engine's", () => {
  for (const [x, value] of cdf) assertClose([normalCdf(x)], [value], { relative: 2e-7 });
});

test("the largest mean within a divergence is the engine's", () => {
  for (const [loss, budget, mean] of means)
    assertClose([largestMean(loss, budget)], [mean], { relative: 0, absolute: 1e-8 });
});

test("the certificate and its terms are the engine's at every step", () => {
  for (const { stretch, bound, threshold, risks, nats } of cases) {
    const found = certified(stretch);
    assertClose([found.bound], [bound], { absolute: 1e-6 });
    assert.equal(found.threshold, threshold);
    const withoutLooks = found.terms.filter((_, k) => k !== found.terms.length - 2);
    const RISKS = { relative: 0, absolute: 1e-6 };
    assertClose(
      withoutLooks.map(({ risk }) => risk),
      risks,
      RISKS,
    );
    assertClose(
      withoutLooks.map((term) => term.nats),
      nats,
      { relative: 1e-6, absolute: 1e-6 },
    );
  }
});

test("terms add up to the bound, and a look at several values of D costs its logarithm", () => {
  const [before, after] = [0, Math.log(5)].map((looks) => certified(1, looks));
  for (const { bound, terms } of [before, after]) {
    assertClose([terms.reduce((sum, { risk }) => sum + risk, 0)], [bound], { relative: 1e-12 });
  }
  assert.ok(after.bound > before.bound);
  assert.equal(after.terms.at(-2).nats, Math.log(5));
});

test("errors of the vote are the engine's", () => {
  for (const { stretch, test_error } of cases) assert.equal(voteError(fresh, stretch), test_error);
});
