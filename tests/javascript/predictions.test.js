// @ts-check
// Predictions in the fragment of the address: written, read, reported once, and no business of other fragments.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Predictions, fragmentWith, predictedIn } from "../../pages/shared/lessons/predictions.js";

const LESSON = "prior-to-cosine";

test("a fragment has what was written, for its lesson alone", () => {
  for (const predicted of ["2", "2-01", "---3"]) {
    const fragment = fragmentWith("", LESSON, predicted);
    assert.equal(fragment, `#predicted=${LESSON}.${predicted}`);
    assert.equal(predictedIn(fragment, LESSON), predicted);
    assert.equal(predictedIn(fragment, "power-spectrum"), null);
    assert.equal(fragmentWith(fragment, LESSON, predicted), fragment);
    assert.equal(fragmentWith(fragment, LESSON, ""), "");
    assert.equal(fragmentWith(fragment, "power-spectrum", "1"), "#predicted=power-spectrum.1");
  }
});

test("other fragments stay", () => {
  assert.equal(fragmentWith("#theorem-4", LESSON, ""), "#theorem-4");
  assert.equal(predictedIn("#theorem-4", LESSON), null);
  assert.equal(predictedIn("", LESSON), null);
  assert.equal(predictedIn("#predicted=prior-to-cosine", LESSON), "");
  assert.equal(predictedIn("#predicted=", LESSON), null);
});

/** @type {{ hash: string, pathname: string, search: string }} */
let location;

/** @type {string[]} */
let written;

beforeEach(() => {
  location = { hash: "", pathname: "/landmarks", search: "?lesson=prior-to-cosine" };
  written = [];
  const replaceState = (/** @type {any} */ state, /** @type {string} */ _unused, /** @type {string} */ url) => {
    assert.equal(state, "of Streamlit");
    written.push(url);
    location.hash = url.slice((location.pathname + location.search).length);
  };
  Object.assign(globalThis, { location, history: { state: "of Streamlit", replaceState } });
});

test("a session that knows nothing gets what the address has, once", () => {
  location.hash = `#predicted=${LESSON}.2-0`;
  /** @type {string[]} */
  const reports = [];
  const predictions = new Predictions();
  for (let run = 0; run < 3; run++) predictions.update(LESSON, null, (found) => reports.push(found));
  assert.deepEqual(reports, ["2-0"]);
  assert.deepEqual(written, []); // it is not overwritten before the session answers
  predictions.update(LESSON, "2-0", (found) => reports.push(found));
  assert.deepEqual([reports, written], [["2-0"], []]);
  // Another process has taken over.
  predictions.update(LESSON, null, (found) => reports.push(found));
  assert.deepEqual(reports, ["2-0", "2-0"]);
});

test("an address without predictions is not reported", () => {
  new Predictions().update(LESSON, null, () => assert.fail());
  assert.deepEqual(written, []);
});

test("predictions are written when they change and when Streamlit has dropped them", () => {
  const predictions = new Predictions();
  predictions.update(LESSON, "2", () => assert.fail());
  assert.deepEqual(written, ["/landmarks?lesson=prior-to-cosine#predicted=prior-to-cosine.2"]);
  predictions.write();
  assert.equal(written.length, 1);
  location.hash = "";
  location.search = "?lesson=prior-to-cosine&step=2";
  predictions.write();
  assert.equal(written[1], "/landmarks?lesson=prior-to-cosine&step=2#predicted=prior-to-cosine.2");
  predictions.update(LESSON, "", () => assert.fail());
  assert.equal(written[2], "/landmarks?lesson=prior-to-cosine&step=2");
});
