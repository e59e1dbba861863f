// @ts-check
// Problems that the browser makes from draws, held to those of the engine.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as alignment from "../../pages/shared/live/alignment.js";
import { kernelData, optimizedWeights } from "../../pages/kernel/learn/kernel_data.js";
import { fillLosses, landmarkSample, ofWidth } from "../../pages/shared/live/landmark_data.js";
import { cosineOfTurns, roundedPower } from "../../pages/shared/live/maths.js";
import { assertClose, engine } from "./engine.js";

const { cells } = engine;
/** Rounding: a sum of cosines of two signs may be near 0. */
const ROUNDING = { relative: 1e-9, absolute: 1e-12 };

/** @param {any} draw */
function sampleOf({ positions, normals, y }) {
  return {
    positions: Float64Array.from(positions),
    normals: Float64Array.from(normals),
    labels: Int8Array.from(y),
  };
}

/** @param {any} problem */
function landmarksOf({ train, test: fresh, draws, sigma, noise, C, rows, landmarks, labels }) {
  const of = {
    train: sampleOf(train),
    test: sampleOf(fresh),
    count: engine.D,
    rows: rows ?? [],
    centroids: rows ? null : { points: landmarks, labels },
  };
  const sample = landmarkSample(of, noise);
  const data = { ...sample, ...ofWidth(sample, Float64Array.from(draws), sigma, C, cells) };
  const loss = new Float64Array(data.omega.length / 2);
  // In two parts, as for a growing D.
  return { ...data, loss: fillLosses(sample, data.omega, fillLosses(sample, data.omega, loss, 0, 5), 5, engine.D) };
}

/** @param {any} problem */
function kernelOf({ train, draws, sigma, along, across, angle, noise }, plane = 7, rough = false) {
  const of = { train: sampleOf(train), frequencies: Float64Array.from(draws) };
  const ellipse = { along, across, angle };
  const shown = { widths: engine.widths.shown, plane, map: cells };
  return kernelData(of, sigma, ellipse, noise, shown, undefined, undefined, rough);
}

for (const [k, problem] of engine.landmark_problems.entries()) {
  const name = `landmark problem ${k}`;
  const data = landmarksOf(problem);

  test(`points, frequencies and losses of ${name} are the engine's`, () => {
    assertClose(data.points, problem.X, ROUNDING);
    assertClose(data.test_points, problem.test_X, ROUNDING);
    assertClose(data.omega, problem.omega, ROUNDING);
    assertClose(data.landmarks, problem.landmarks, ROUNDING);
    assertClose(data.landmark_labels, problem.labels);
    assertClose(data.loss, problem.loss, ROUNDING);
    assert.equal(data.extent, problem.extent);
    assert.deepEqual(data.rows, problem.rows ?? data.landmark_labels.map(() => -1));
  });

  test(`the prior of ${name} is the engine's`, () => {
    const maps = Float64Array.from(data.prior_maps, (level) => level / 127.5 - 1);
    assertClose(maps, problem.maps.flat(), { relative: 0, absolute: 1 / 255 + 1e-9 });
    assertClose(data.prior_decision, problem.decision, { relative: 1e-6, absolute: 1e-6 });
    assertClose([data.prior_train, data.prior_test], [problem.train_error, problem.test_error]);
  });
}

for (const [k, problem] of engine.kernel_problems.entries()) {
  const data = kernelOf(problem);

  test(`candidates and planes of kernel problem ${k} are the engine's`, () => {
    assertClose(data.omega, problem.omega, ROUNDING);
    assertClose(data.loss, problem.loss, ROUNDING);
    assertClose(data.plane_loss, problem.plane_loss, ROUNDING);
    assertClose(data.prior, problem.prior, ROUNDING);
    assert.deepEqual([data.data_extent, data.delta_extent], [problem.extent, 2 * problem.extent]);
    const map = Float64Array.from(data.prior_kernel, (level) => level / 127.5 - 1);
    assertClose(map, problem.kernel, { relative: 0, absolute: 1 / 255 + 1e-9 });
  });

  test(`losses of kernel problem ${k} are read from the plane, and from the points where it is too coarse`, () => {
    assertClose(kernelOf(problem, 121, true).loss, problem.loss, { relative: 0, absolute: 1e-4 });
    assertClose(kernelOf(problem, 7, true).loss, problem.loss, ROUNDING);
  });

  test(`weights of OKRFF of kernel problem ${k} are the engine's`, () => {
    for (const [i, mu] of problem.orders.entries()) {
      for (const [r, radius] of problem.radii.entries()) {
        const found = optimizedWeights(data.loss, radius, mu);
        assertClose(found, problem.optimized[i][r], { relative: 1e-9, absolute: 1e-9 });
      }
    }
  });
}

test("OKRFF weighs equal losses equally, and all but the lowest by 0 where the radius allows", () => {
  assertClose(optimizedWeights(Float64Array.of(0.4, 0.4, 0.4), 0.01, 2), [1 / 3, 1 / 3, 1 / 3]);
  assertClose(optimizedWeights(Float64Array.of(0.4, 0.2, 0.2, 0.9), 1, 2), [0, 0.5, 0.5, 0]);
  const two = optimizedWeights(Float64Array.of(0.1, 0.2, 0.3, 0.4), 0.05, 2);
  assertClose(two, [0.4, 0.3, 0.2, 0.1]); // as in the engine's docstring
});

test("the square of a map holds all points, and grows in quarters", () => {
  assert.equal(alignment.mapExtent(Float64Array.of(0.1, -1, 0.5, 0.2)), 1.25);
});

test("every place of the slider of the width is a value of the app's control, and the other way round", () => {
  assert.deepEqual(engine.widths.places.map(roundedPower), engine.widths.values);
});

test("cosines by the series are those of the library, at any angle that a view has", () => {
  for (let k = -20000; k <= 20000; k++) {
    const t = k * 0.00317;
    assert.ok(Math.abs(cosineOfTurns(t) - Math.cos(2 * Math.PI * (t - Math.round(t)))) < 1e-14, `${t}`);
  }
  assertClose([0, 0.25, 0.5, 0.75, 1, -0.5].map(cosineOfTurns), [1, 0, -1, 0, 1, -1], { relative: 0, absolute: 1e-15 });
});
