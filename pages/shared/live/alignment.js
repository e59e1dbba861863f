// @ts-check
// Frequencies of the Gaussian kernel from standard normal draws, and alignment losses of their cosines in the plane, in
// time linear in the number of points. Tests compare them with the engine.

import { cellCentres, cosineOfTurns, fillWave, largest, least } from "./maths.js";

/** @import { Floats, Numbers } from "./maths.js" */
const READ = 8; // cells along a side of the squares of a plane that losses are read from
const WIDEST = 1.5; // largest turn, in radians, of a pair's cosine from one such cell to the next
/** Of Lagrange polynomials: 1 / prod_(j != k) (k - j). */
const FACTORS = Float64Array.from({ length: READ }, (_, k) => {
  let product = 1;
  for (let j = 0; j < READ; j++) if (j !== k) product *= k - j;
  return 1 / product;
});

/** @typedef {{ along: number, across: number, angle: number }} Ellipse factors along an axis and across it, and its angle in degrees */

/**
 * Points at a noise, or unchanged if their noise is not known separately.
 *
 * @param {{ positions: Floats, normals?: Floats }} draw standard normal draws @param {number} noise
 */
export function pointsAt({ positions, normals }, noise) {
  return Float64Array.from(positions, (position, k) => (normals ? position + noise * normals[k] : position));
}

/**
 * Frequencies of the Gaussian kernel of width sigma, from standard normal draws.
 *
 * @param {Floats} normals (D, 2) @param {number} sigma
 */
export function gaussianFrequencies(normals, sigma) {
  return Float64Array.from(normals, (draw) => draw / sigma);
}

/**
 * The mean loss over pairs whose cosines, times 1 for equal labels and -1 for others, add up to `aligned`.
 *
 * @param {number} aligned @param {number} pairs
 */
const meanLoss = (aligned, pairs) => 0.5 - aligned / (2 * pairs);

/**
 * Alignment losses of the frequencies of one landmark (Letarte et al. 2019, Eq. 10), D of them.
 *
 * @param {Floats} X (n, 2) @param {Numbers} y labels -1 and 1
 * @param {number} x @param {number} z the landmark's coordinates @param {number} label
 * @param {boolean} isRow whether the landmark is one of the points: its pair with itself does not count
 * @param {Floats} omega frequencies of the plane, one after the other @param {number} offset start of the landmark's
 * @param {number} D @param {Float64Array} out @param {number} to start in `out`
 */
export function landmarkLosses(X, y, x, z, label, isRow, omega, offset, D, out, to) {
  const n = y.length;
  const itself = isRow ? 1 : 0;
  for (let m = 0; m < D; m++) {
    const a = omega[offset + 2 * m] / (2 * Math.PI);
    const b = omega[offset + 2 * m + 1] / (2 * Math.PI);
    const phase = a * x + b * z;
    let aligned = 0;
    for (let j = 0; j < n; j++) aligned += y[j] * cosineOfTurns(a * X[2 * j] + b * X[2 * j + 1] - phase);
    out[to + m] = Math.min(Math.max(meanLoss(label * aligned - itself, n - itself), 0), 1);
  }
}

/**
 * Alignment loss of the frequency (a, b), and the phase of sum_j y_j exp(i omega . x_j) for labels of -1 and 1.
 *
 * @param {Floats} X (n, 2)
 * @param {Numbers} y @param {number} a @param {number} b
 */
export function labelSpectrum(X, y, a, b) {
  let real = 0;
  let imaginary = 0;
  const [p, q] = [a / (2 * Math.PI), b / (2 * Math.PI)];
  for (let j = 0; j < y.length; j++) {
    const t = p * X[2 * j] + q * X[2 * j + 1];
    real += y[j] * cosineOfTurns(t);
    imaginary += y[j] * cosineOfTurns(t - 0.25);
  }
  const n = y.length;
  const power = real * real + imaginary * imaginary;
  return { loss: meanLoss(power - n, n * (n - 1)), phase: Math.atan2(imaginary, real) };
}

/**
 * Alignment losses over all pairs of points (Letarte et al. 2019, Prop. 8), for N frequencies.
 *
 * @param {Floats} X (n, 2) @param {Numbers} y labels -1 and 1 @param {Floats} omega (N, 2)
 */
export function pairLosses(X, y, omega) {
  return Float64Array.from(
    { length: omega.length / 2 },
    (_, m) => labelSpectrum(X, y, omega[2 * m], omega[2 * m + 1]).loss,
  );
}

/**
 * The same for the frequencies of a product grid, row by row: waves of a sum of phases are products of waves.
 *
 * @param {Floats} X (n, 2) @param {Numbers} y labels -1 and 1
 * @param {Floats} grid (G,), either coordinate; symmetric, so that half of the losses equal the other half
 */
export function planeLosses(X, y, grid) {
  const G = grid.length;
  const n = y.length;
  const rows = Math.ceil(G / 2);
  const real = new Float64Array(G * rows);
  const imaginary = new Float64Array(G * rows);
  const [waves, nextWaves] = [0, 1].map(() => ({ cos: new Float64Array(G), sin: new Float64Array(G) }));
  const [{ cos, sin }, { cos: nextCos, sin: nextSin }] = [waves, nextWaves];
  for (let j = 0; j < n; j += 2) {
    const next = Math.min(j + 1, n - 1); // two points at a time; the last one alone if their number is odd
    const [v, w] = [y[j], next > j ? y[next] : 0];
    fillWave(waves, 0, -X[2 * j], 0, grid); // of the grid less 0
    fillWave(nextWaves, 0, -X[2 * next], 0, grid);
    for (let k = 0; k < rows; k++) {
      const [t, u] = [(grid[k] * X[2 * j + 1]) / (2 * Math.PI), (grid[k] * X[2 * next + 1]) / (2 * Math.PI)];
      const [a, b] = [v * cosineOfTurns(t), v * cosineOfTurns(t - 0.25)];
      const [c, d] = [w * cosineOfTurns(u), w * cosineOfTurns(u - 0.25)];
      for (let i = 0, at = k * G; i < G; i++, at++) {
        real[at] += a * cos[i] - b * sin[i] + c * nextCos[i] - d * nextSin[i];
        imaginary[at] += b * cos[i] + a * sin[i] + d * nextCos[i] + c * nextSin[i];
      }
    }
  }
  const loss = new Float64Array(G * G);
  for (let at = 0; at < real.length; at++) {
    const power = real[at] ** 2 + imaginary[at] ** 2;
    loss[at] = loss[G * G - 1 - at] = meanLoss(power - n, n * (n - 1));
  }
  return loss;
}

/**
 * Losses of frequencies, read from a plane's losses by polynomials through 8 x 8 of its cells, a hundred times as fast
 * as from the points. Losses are exact outside the plane, and where its cells are too wide for the points.
 *
 * @param {Floats} X (n, 2) @param {Numbers} y labels -1 and 1 @param {Floats} omega (N, 2)
 * @param {Floats} plane losses from `planeLosses`, (G, G) @param {Floats} grid either coordinate, (G,)
 */
export function lossesReadFrom(plane, grid, X, y, omega) {
  const G = grid.length;
  const step = grid[1] - grid[0];
  if (step * (largest(X) - least(X)) > WIDEST) return pairLosses(X, y, omega);
  const [along, across] = [new Float64Array(READ), new Float64Array(READ)];
  return Float64Array.from({ length: omega.length / 2 }, (_, m) => {
    const [a, b] = [omega[2 * m], omega[2 * m + 1]];
    const i = fillPolynomials((a - grid[0]) / step, along);
    const k = fillPolynomials((b - grid[0]) / step, across);
    if (Math.min(i, k) < 0 || Math.max(i, k) + READ > G) return labelSpectrum(X, y, a, b).loss;
    let loss = 0;
    for (let row = 0; row < READ; row++) {
      let sum = 0;
      for (let cell = 0, at = (k + row) * G + i; cell < READ; cell++, at++) sum += along[cell] * plane[at];
      loss += across[row] * sum;
    }
    return loss;
  });
}

/**
 * Values at a place, in cells, of the Lagrange polynomials of the cells around it, and the first of these.
 *
 * @param {number} place @param {Float64Array} out
 */
function fillPolynomials(place, out) {
  const first = Math.floor(place) - READ / 2 + 1;
  const u = place - first;
  for (let k = 0; k < READ; k++) {
    let product = FACTORS[k];
    for (let j = 0; j < READ; j++) if (j !== k) product *= u - j;
    out[k] = product;
  }
  return first;
}

/**
 * The Gaussian kernel between points and one point.
 *
 * @param {Floats} X (n, 2) @param {number} x @param {number} z @param {number} sigma
 * @param {Float64Array} out @param {number} from @param {number} step places from one value to the next
 */
export function gaussianKernel(X, x, z, sigma, out, from, step) {
  for (let j = 0, to = from; 2 * j < X.length; j++, to += step) {
    out[to] = Math.exp(-((X[2 * j] - x) ** 2 + (X[2 * j + 1] - z) ** 2) / (2 * sigma ** 2));
  }
}

/**
 * The Gaussian kernel to one point over the cells of [-extent, extent]^2, (cells, cells): a product of two coordinates.
 *
 * @param {number} x @param {number} z @param {number} sigma @param {number} extent @param {number} cells
 */
export function gaussianMap(x, z, sigma, extent, cells) {
  const centres = cellCentres(extent, cells);
  const [along, across] = [x, z].map((at) => centres.map((u) => Math.exp(-((u - at) ** 2) / (2 * sigma ** 2))));
  const map = new Float64Array(cells ** 2);
  for (let k = 0, to = 0; k < cells; k++) for (let i = 0; i < cells; i++, to++) map[to] = across[k] * along[i];
  return map;
}

/**
 * The symmetric matrix that stretches the plane along an axis and across it, as its entries xx, xy and yy.
 *
 * @param {Ellipse} ellipse
 * @returns {[number, number, number]}
 */
export function stretching({ along, across, angle }) {
  const [c, s] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
  return [along * c * c + across * s * s, (along - across) * c * s, along * s * s + across * c * c];
}

/**
 * Points of the plane, stretched.
 *
 * @param {Float64Array} points (n, 2) @param {[number, number, number]} matrix from `stretching`
 */
export function stretched(points, [xx, xy, yy]) {
  return points.map((value, k) => (k % 2 ? xy * points[k - 1] + yy * value : xx * value + xy * points[k + 1]));
}

/**
 * A Gaussian bump around 0 over the cells of [-extent, extent]^2, (cells, cells), of points that are stretched first.
 *
 * @param {[number, number, number]} matrix from `stretching` @param {number} width
 * @param {number} extent @param {number} cells
 */
export function stretchedMap([xx, xy, yy], width, extent, cells) {
  const centres = cellCentres(extent, cells);
  const map = new Float64Array(cells ** 2);
  for (let k = 0, to = 0; k < cells; k++) {
    const y = centres[k];
    for (let i = 0; i < cells; i++, to++) {
      const x = centres[i];
      map[to] = Math.exp(-((xx * x + xy * y) ** 2 + (xy * x + yy * y) ** 2) / (2 * width ** 2));
    }
  }
  return map;
}

/**
 * Half the side of the square that maps of a sample show, a little larger than the sample.
 *
 * @param {Floats} X
 */
export function mapExtent(X) {
  return Math.ceil(4.2 * Math.max(largest(X), -least(X))) / 4;
}
