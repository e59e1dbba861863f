// @ts-check
// Frequencies of the Gaussian kernel from standard normal draws, and alignment losses of their cosines in the plane, in
// time linear in the number of points. Tests compare them with the engine.

import { cellCentres, labelSpectrum, largest, least } from "./maths.js";

/** @import { Floats, Numbers } from "./maths.js" */

/**
 * Draws times a factor, added to positions if there are any: points at a noise.
 *
 * @param {Floats} positions @param {Floats} normals standard normal draws @param {number} noise
 */
export function pointsAt(positions, normals, noise) {
  return Float64Array.from(positions, (position, k) => position + noise * normals[k]);
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
 * Alignment losses of the frequencies of one landmark (Letarte et al. 2019, Eq. 10), D of them.
 *
 * @param {Floats} X (n, 2) @param {Numbers} y labels -1 and 1
 * @param {number} x @param {number} z the landmark's coordinates @param {number} label
 * @param {boolean} isRow whether the landmark is one of the points: its pair with itself does not count
 * @param {Floats} omega frequencies of the plane, one after the other @param {number} offset where its own start
 * @param {number} D @param {Float64Array} out @param {number} to where they go
 */
export function landmarkLosses(X, y, x, z, label, isRow, omega, offset, D, out, to) {
  const n = y.length;
  const itself = isRow ? 1 : 0;
  for (let m = 0; m < D; m++) {
    const a = omega[offset + 2 * m];
    const b = omega[offset + 2 * m + 1];
    const phase = a * x + b * z;
    let aligned = 0;
    for (let j = 0; j < n; j++) aligned += y[j] * Math.cos(a * X[2 * j] + b * X[2 * j + 1] - phase);
    const loss = 0.5 - (label * aligned - itself) / (2 * (n - itself));
    out[to + m] = Math.min(Math.max(loss, 0), 1);
  }
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
 * @param {Floats} X (n, 2) @param {Numbers} y labels -1 and 1 @param {Floats} grid (G,), either coordinate
 */
export function planeLosses(X, y, grid) {
  const G = grid.length;
  const n = y.length;
  const real = new Float64Array(G * G);
  const imaginary = new Float64Array(G * G);
  const cos = new Float64Array(G);
  const sin = new Float64Array(G);
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < G; i++) {
      cos[i] = Math.cos(grid[i] * X[2 * j]);
      sin[i] = Math.sin(grid[i] * X[2 * j]);
    }
    for (let k = 0; k < G; k++) {
      const c = y[j] * Math.cos(grid[k] * X[2 * j + 1]);
      const s = y[j] * Math.sin(grid[k] * X[2 * j + 1]);
      for (let i = 0, at = k * G; i < G; i++, at++) {
        real[at] += c * cos[i] - s * sin[i];
        imaginary[at] += s * cos[i] + c * sin[i];
      }
    }
  }
  return real.map((value, k) => 0.5 - (value ** 2 + imaginary[k] ** 2 - n) / (2 * n * (n - 1)));
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
  return Float64Array.from({ length: cells ** 2 }, (_, k) => across[Math.floor(k / cells)] * along[k % cells]);
}

/**
 * Half the side of the square that maps of a sample show, a little larger than the sample.
 *
 * @param {Floats} X
 */
export function mapExtent(X) {
  return Math.ceil(4.2 * Math.max(largest(X), -least(X))) / 4;
}
