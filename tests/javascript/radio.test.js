// @ts-check
// The radio, held to the engine's numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pseudoPosterior, similarityAt } from "../../pages/shared/live/maths.js";
import { Station, codeOf, settingOf } from "../../pages/start/radio.js";
import { assertClose, engine } from "./engine.js";

const CELLS = 21;
const DEFAULT = "checkerboard~~1~2000~0.251";
const draws = Float32Array.from(engine.radio.draws);

/** @param {any} points @param {ReturnType<typeof settingOf>} setting */
function stationOf({ X, y, testX, testY, ...rest }, { star, sliders }) {
  const arrays = { X: Float64Array.from(X), y: Int8Array.from(y), testX: Float32Array.from(testX) };
  const points = { ...rest, ...arrays, testY: Int8Array.from(testY) };
  return new Station(points, star ?? rest.star, sliders.sigma, draws, CELLS);
}

for (const { code, points, loss, rows } of engine.radio.cases) {
  test(`losses, errors, divergences and bounds of the radio at ${code || "the default"} are the engine's`, () => {
    const setting = settingOf(code || DEFAULT);
    const station = stationOf(points, setting);
    const { D, beta } = setting.sliders;
    assertClose(station.loss, loss, { absolute: 1e-9 });
    const kept = new Float64Array(station.N);
    const own = setting.kept.filter((m) => m < D);
    for (const m of own) kept[m] = 1 / own.length;
    const posterior = new Float64Array(station.N);
    pseudoPosterior(station.loss, 1, station.N, D, beta, points.y.length, posterior);
    const found = { kernel: station.kernel, posterior: station.worthOf(posterior, D) };
    if (own.length) Object.assign(found, { yours: station.worthOf(kept, D) });
    assert.deepEqual(Object.keys(found).sort(), Object.keys(rows).sort());
    for (const [name, { error, loss, kl, bound }] of Object.entries(found)) {
      const row = rows[name];
      // A test point on the boundary may fall to either side.
      assertClose([error], [row.test_error], { absolute: 1.5 / points.testY.length });
      assertClose([loss, kl], [row.loss, row.kl], { relative: 1e-6, absolute: 1e-7 });
      if (row.bound === null) assert.ok(Number.isNaN(bound));
      else assertClose([bound], [row.bound], { relative: 1e-6 });
    }
  });
}

test("maps and agreements are sums of the waves that they stand for", () => {
  const setting = settingOf(DEFAULT);
  const station = stationOf(engine.radio.cases[0].points, setting);
  const Q = new Float64Array(station.N);
  Q[5] = Q[9] = 0.5;
  const map = station.map(Q, 2000, new Float32Array(CELLS ** 2));
  const { extent } = station.points;
  const at = (/** @type {number} */ k) => extent * ((2 * (k + 0.5)) / CELLS - 1);
  const wanted = Array.from(map, (_, k) => {
    const [a, b] = [at(k % CELLS), at(Math.floor(k / CELLS))];
    return similarityAt(Q, 0, 2000, station.omega, 0, station.star[0] - a, station.star[1] - b);
  });
  assertClose(map, wanted, { absolute: 1e-5 });
  const [a, b] = [station.omega[10], station.omega[11]];
  const agreements = station.agreements(Float64Array.of(a, b));
  assertClose([agreements[2]], [station.agreement(5)], { absolute: 1e-5 });
});

test("codes come back from the settings that they name", () => {
  for (const { code } of engine.radio.cases) if (code) assert.equal(codeOf(settingOf(code)), code);
  assert.equal(codeOf(settingOf(DEFAULT)), DEFAULT);
});
