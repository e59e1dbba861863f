// @ts-check
// A kernel of one variable at any width: its tables stretched, and sums of its frequencies' cosines and sines.

/** @import { Floats } from "../shared/live/maths.js" */
/**
 * @typedef {object} UnitPrior of width 1
 * @property {Float64Array} omega (2 D,), of which the cosines and sines use the first half
 * @property {Floats} offsets (2 D,), phases of the map with random phases
 * @property {Floats} weights (S, 2, D), of cosines and sines in functions of the prior
 * @property {Float64Array} density from frequency 0 to reach[0]
 * @property {Float64Array} kernel from difference 0 to reach[1]
 * @property {[number, number]} reach
 * @property {[number, number]} ranges half the axes of frequencies and differences
 */
/** @typedef {{ cosines: Floats, sines: Floats }} Sum weights of cosines and sines */
/** @typedef {ReturnType<typeof priorLine>} PriorLine */

/** Places along half an axis, as in the engine; functions of the prior have half as many. */
const HALF = 300;

/**
 * Frequencies that the reader has moved, by their numbers, from a code such as 3_1.25~7_-0.5; as in the app.
 *
 * @param {string} code
 */
export function movedPlaces(code) {
  const parts = code.split("~").map((part) => /^(\d{1,2})_(-?[\d.]+)$/.exec(part));
  return new Map(parts.filter(Boolean).map(([, number, place]) => [Number(number), Number(place)]));
}

/** @param {Map<number, number>} places at width 1 */
export function codeOfPlaces(places) {
  const sorted = [...places].sort(([a], [b]) => a - b);
  return sorted.map(([number, place]) => `${number}_${Number(place.toFixed(4))}`).join("~");
}

/**
 * A value between the entries of a table from 0 to `reach`, by the cubic polynomial through the nearest four.
 *
 * @param {Floats} table @param {number} reach @param {number} x from 0 to `reach`
 */
export function tableValue(table, reach, x) {
  const place = (x / reach) * (table.length - 1);
  const first = Math.max(0, Math.min(Math.floor(place) - 1, table.length - 4));
  let sum = 0;
  for (let k = 0; k < 4; k++) {
    let weight = 1;
    for (let l = 0; l < 4; l++) if (l !== k) weight *= (place - first - l) / (k - l);
    sum += weight * table[first + k];
  }
  return sum;
}

/**
 * Places from -end to end, as many as a curve has values.
 *
 * @param {number} end @param {number} count odd
 */
export function places(end, count) {
  const half = (count - 1) / 2;
  return Array.from({ length: count }, (_, k) => ((k - half) / half) * end);
}

/**
 * An even function at the 2 HALF + 1 places of an axis.
 *
 * @param {(k: number) => number} value at the k-th place to the right of the middle
 */
function even(value) {
  const out = new Float64Array(2 * HALF + 1);
  for (let k = 0; k <= HALF; k++) out[HALF + k] = out[HALF - k] = value(k);
  return out;
}

/**
 * Sums of weighted cosines and sines of frequencies at places of an axis from -end to end.
 *
 * Each place turns the waves of the previous one, without a new cosine.
 *
 * @param {Float64Array} omega @param {number} end
 * @param {(Sum & { count: number, scale: number, every: number })[]} sums of the first `count` frequencies times
 *   `scale`, at all places or every second one
 */
function sumsOfWaves(omega, end, sums) {
  const turnX = omega.map((w) => Math.cos((w * end) / HALF));
  const turnY = omega.map((w) => Math.sin((w * end) / HALF));
  const cosine = new Float64Array(omega.length).fill(1);
  const sine = new Float64Array(omega.length);
  const out = sums.map(({ every }) => new Float64Array((2 * HALF) / every + 1));
  for (let k = 0; k <= HALF; k++) {
    for (const [s, { cosines, sines, count, scale, every }] of sums.entries()) {
      if (k % every) continue;
      const [middle, place] = [HALF / every, k / every];
      let across = 0;
      let along = 0;
      for (let j = 0; j < count; j++) {
        across += cosines[j] * cosine[j];
        along += sines[j] * sine[j];
      }
      out[s][middle + place] = scale * (across + along);
      out[s][middle - place] = scale * (across - along);
    }
    for (let j = 0; j < omega.length; j++) {
      const turned = cosine[j] * turnX[j] - sine[j] * turnY[j];
      sine[j] = cosine[j] * turnY[j] + sine[j] * turnX[j];
      cosine[j] = turned;
    }
  }
  return out;
}

/**
 * The weights of cosines and sines in the two estimates and in functions of the prior, which no slider changes.
 *
 * @param {UnitPrior} prior
 */
export function sumsOf({ omega, offsets, weights }) {
  const D = omega.length / 2;
  const rows = Array.from({ length: weights.length / D }, (_, k) => weights.slice(k * D, (k + 1) * D));
  return {
    cosSin: { cosines: new Float64Array(D).fill(1), sines: new Float64Array(D) },
    randomPhase: {
      cosines: offsets.map((b) => Math.cos(b) ** 2),
      sines: offsets.map((b) => -Math.sin(b) * Math.cos(b)),
    },
    functions: rows.flatMap((cosines, k) => (k % 2 ? [] : [{ cosines, sines: rows[k + 1] }])),
  };
}

/**
 * The curves of a kernel on screen: the engine's `KernelLine` and the functions of its prior.
 *
 * @param {UnitPrior} prior @param {ReturnType<typeof sumsOf>} sums of its waves
 * @param {number} width @param {number} D
 */
export function priorLine({ omega: unit, density, kernel, reach, ranges }, sums, width, D) {
  const [frequencyStep, step] = ranges.map((range) => range / HALF);
  const end = ranges[1];
  const all = unit.subarray(0, 2 * D).map((w) => w / width);
  const omega = all.subarray(0, D);
  const of = { count: D, scale: 1 / D, every: 1 };
  const [cosSin, randomPhase, ...functions] = sumsOfWaves(all, end, [
    { ...sums.cosSin, ...of },
    { ...sums.randomPhase, ...of, count: 2 * D },
    ...sums.functions.map((sum) => ({ ...sum, count: D, scale: 1 / Math.sqrt(D), every: 2 })),
  ]);
  return {
    omega,
    density: even((k) => width * tableValue(density, reach[0], k * frequencyStep * width)),
    kernel: even((k) => tableValue(kernel, reach[1], (k * step) / width)),
    ...{ cosSin, randomPhase, functions },
  };
}
