// @ts-check
// Values between the cells of a map, by cubic polynomials, and a bound on their distance from the sum of cosines.

/** @import { Floats } from "./maths.js" */

const OF_STEPS = 3 / 128; // |(t + 1) t (t - 1) (t - 2)| / 4! at its largest for t from 0 to 1
const LEBESGUE = 1.25; // sum of the magnitudes of the four polynomials at its largest

/**
 * The value at a point from the 4 x 4 cells around it, or NaN if there are fewer.
 *
 * @param {Floats} map (cells, cells), over [-extent, extent]^2 @param {number} cells @param {number} extent
 * @param {number} x @param {number} y
 */
export function valueBetween(map, cells, extent, x, y) {
  const perUnit = cells / (2 * extent);
  const [a, b] = [(x + extent) * perUnit - 0.5, (y + extent) * perUnit - 0.5];
  const [i, j] = [Math.floor(a), Math.floor(b)];
  if (i < 1 || j < 1 || i > cells - 3 || j > cells - 3) return NaN;
  const [first, second, third, fourth] = cubics(a - i);
  let sum = 0;
  for (const [k, across] of cubics(b - j).entries()) {
    const at = (j + k - 1) * cells + i;
    sum += across * (first * map[at - 1] + second * map[at] + third * map[at + 1] + fourth * map[at + 2]);
  }
  return sum;
}

/** The polynomials that are 1 at one of -1, 0, 1 and 2, and 0 at the others. @param {number} t from 0 to 1 */
function cubics(t) {
  const p = (t + 1) * (t - 2);
  return [(t * (1 - t) * (t - 2)) / 6, (p * (t - 1)) / 2, (-p * t) / 2, (t * t * t - t) / 6];
}

/**
 * The largest difference of such a value from sum_m Q_m cos(omega_m . (z - x)), whose cells have errors themselves.
 *
 * For one wave along one coordinate it is OF_STEPS times the fourth power of the phase from cell to cell.
 *
 * @param {Floats} Q at least 0, sum 1 @param {number} start @param {number} D
 * @param {Floats} omega frequencies of the plane, one after the other, D of them from `offset` on @param {number} offset
 * @param {number} step from cell to cell @param {number} ofCells the largest error of a cell
 */
export function errorBetween(Q, start, D, omega, offset, step, ofCells) {
  let sum = ofCells * LEBESGUE ** 2;
  for (let m = 0; m < D; m++) {
    const along = (omega[offset + 2 * m] * step) ** 4;
    const across = (omega[offset + 2 * m + 1] * step) ** 4;
    sum += Q[start + m] * Math.min(OF_STEPS * (along + LEBESGUE * across), 1 + LEBESGUE ** 2);
  }
  return sum;
}
