// @ts-check
// Settings of the static edition: which scene answers a wish, and what a link holds.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fragmentOf, nearestScene, nearestValue, settingsOf } from "../../deploy/site/settings.js";

const SCENES = [
  { data: "moons", sigma: "0.501", n: "300" },
  { data: "moons", sigma: "1", n: "300" },
  { data: "moons", sigma: "0.501", n: "30" },
  { data: "circles", sigma: "0.398", n: "300" },
].map((settings, k) => ({ settings, file: String(k) }));

/** @param {Record<string, string>} wanted @param {string} [moved] */
const found = (wanted, moved) => nearestScene(SCENES, wanted, moved).file;

test("a scene that exists is found", () => {
  for (const { settings, file } of SCENES) assert.equal(found(settings), file);
});

test("the nearest scene keeps what the reader has moved, and names before numbers", () => {
  for (const [wanted, moved, file] of /** @type {[Record<string, string>, string | undefined, string][]} */ ([
    [{}, undefined, "0"], // settings that a link does not name cost nothing
    [{ data: "circles" }, undefined, "3"],
    [{ data: "moons", sigma: "0.398", n: "300" }, "sigma", "3"],
    [{ data: "moons", sigma: "0.398", n: "300" }, undefined, "0"],
    [{ data: "circles", sigma: "1", n: "30" }, "n", "2"],
    [{ data: "circles", sigma: "1", n: "30" }, undefined, "3"],
    [{ data: "own", sigma: "1", n: "300" }, undefined, "1"], // a name that no scene has is as far from all
  ])) {
    assert.equal(found(wanted, moved), file);
  }
});

test("only settings that count matter, if these are named", () => {
  const wanted = { data: "circles", sigma: "1", n: "30" };
  assert.equal(nearestScene(SCENES, wanted, undefined, ["sigma"]).file, "1");
  assert.equal(nearestScene(SCENES, wanted, undefined, ["n", "unknown"]).file, "2");
  assert.equal(nearestScene(SCENES, wanted, undefined, []).file, "0");
});

test("a setting that only some scenes have costs nothing in the others", () => {
  const scenes = [{ settings: { kernel: "Gaussian" } }, { settings: { kernel: "Matérn", nu: "0.5" } }];
  assert.equal(nearestScene(scenes, { kernel: "Gaussian", nu: "1.5" }), scenes[0]);
});

test("a slider takes the nearest of its values, by ratio", () => {
  assert.equal(nearestValue(["0.1", "1", "10"], 2), "1");
  assert.equal(nearestValue(["0.1", "1", "10"], 4), "10");
  assert.equal(nearestValue(["0", "5", "10"], 0), "0");
});

test("a fragment names what differs from the defaults, and is read back", () => {
  const defaults = { data: "moons", beta: "1" };
  assert.equal(fragmentOf(defaults, defaults), "");
  const fragment = fragmentOf({ data: "moons", beta: "10", bound: "Theorem 4", hide: "beta,D", view: "" }, defaults);
  assert.equal(fragment, "beta=10&bound=Theorem+4&hide=beta,D");
  const read = { beta: "10", bound: "Theorem 4", hide: "beta,D" };
  assert.deepEqual(settingsOf({ hash: `#${fragment}`, search: "" }), read);
  assert.deepEqual(settingsOf({ hash: "", search: `?${fragment}` }), read);
  assert.deepEqual(settingsOf({ hash: "#", search: "" }), {});
});
