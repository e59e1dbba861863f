// @ts-check
// Learned cosines are told in random ones, by means over splits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { saving } from "../../pages/data/saving.js";

/** @param {string} method @param {number[]} errors at D = 1, 2 and 5 */
const curve = (method, errors) => ({
  method,
  random: false,
  x: [1, 2, 5],
  test_error: errors,
  train_error: errors,
  half_width: [0, 0, 0],
});
/** @param {number[]} rff @param {number[]} pbrff */
const known = (rff, pbrff) => ({ name: "", runs: 10, curves: [curve("rff", rff), curve("pbrff", pbrff)], svm: 5 });

test("the least number of random cosines that err no more is named, or that there is none", () => {
  const errors = known([30, 20, 10], [20, 15, 11]);
  assert.equal(
    saving(errors, 1).long,
    "1 learned cosine errs 20.0 %; random ones need 2 for that, and 1 of them errs 30.0 %.",
  );
  assert.equal(saving(errors, 2).short, "5 random");
  assert.match(saving(errors, 5).long, /as many random ones err no more, 10.0 %: here learning saves none/);
  assert.match(saving(known([50, 50, 50], [20, 15, 11]), 2).long, /no number of random ones up to 5 reaches that/);
  assert.match(saving(known([30, 11.04, 12], [20, 15, 11]), 5).long, /; 2 random ones err no more, 11.0 %/); // as shown
  assert.equal(saving(errors, 3).long, "");
});
