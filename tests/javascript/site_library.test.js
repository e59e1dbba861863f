// @ts-check
// Plotly's part for figures of a plane, which the static edition has a copy of, is what npm has.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

const root = new URL("../../", import.meta.url);
const installed = new URL("node_modules/plotly.js-cartesian-dist-min/plotly-cartesian.min.js", root);
const skip = existsSync(installed) ? false : "npm ci has not been run";

test("the copy of Plotly's part is npm's", { skip }, () => {
  const copy = gunzipSync(readFileSync(new URL("deploy/site/plotly-cartesian.min.js.gz", root)));
  assert.ok(copy.equals(readFileSync(installed)));
});
