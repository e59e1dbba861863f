// @ts-check
// The data of a view of a learned kernel from draws: those of `pack_kernel`, for any width, ellipse and noise.

import {
  gaussianFrequencies,
  lossesReadFrom,
  mapExtent,
  pairLosses,
  planeLosses,
  pointsAt,
  stretched,
  stretchedMap,
  stretching,
} from "../../shared/live/alignment.js";
import { cellCentres, descendingOrder, largest } from "../../shared/live/maths.js";

/** @import { Floats } from "../../shared/live/maths.js" */
/** @import { Ellipse } from "../../shared/live/alignment.js" */
/** @import { Draw } from "../../shared/live/landmark_data.js" */
/** @typedef {{ train: Draw, frequencies: Float64Array }} Draws `frequencies` has N standard normal draws, (N, 2) */
/** @typedef {{ widths: number, plane: number, map: number }} Shown standard deviations of the prior to either side, and cells along a side, of the plane of frequencies; cells of the map of a kernel */

/**
 * The data of a view of a learned kernel as arrays, without the weights of OKRFF, whose divergence is of order 2.
 *
 * @param {Draws} draws @param {number} sigma @param {Ellipse} ellipse @param {number} noise @param {Shown} shown
 * @param {number} [extent] half the side of the square of data, if not derived from the points
 * @param {Float64Array} [knownLoss] of the plane, where only the ellipse has changed
 * @param {boolean} [rough] whether to read the candidates' losses from the plane's losses
 */
export function kernelData({ train, frequencies }, sigma, ellipse, noise, shown, extent, knownLoss, rough = false) {
  const X = pointsAt(train, noise);
  const y = train.labels;
  const { along, across, angle } = ellipse;
  const omega = stretched(gaussianFrequencies(frequencies, sigma), stretching(ellipse));
  const data_extent = extent ?? mapExtent(X);
  const [frequency_extent, delta_extent] = [shown.widths / sigma, 2 * data_extent];
  const grid = cellCentres(frequency_extent, shown.plane);
  const density = sigma ** 2 / (2 * Math.PI * along * across);
  const shrinking = stretching({ along: 1 / along, across: 1 / across, angle });
  const bump = stretchedMap(shrinking, 1 / sigma, frequency_extent, shown.plane);
  const map = stretchedMap(stretching(ellipse), sigma, delta_extent, shown.map);
  const plane_loss = knownLoss ?? planeLosses(X, y, grid);
  const loss = rough ? lossesReadFrom(plane_loss, grid, X, y, omega) : pairLosses(X, y, omega);
  return {
    ...{ omega, loss, points: X, labels: y, n: y.length, mu: 2 },
    ...{ prior: bump.map((value) => density * value), plane_loss },
    prior_kernel: new Uint8Array(map.map((value) => Math.round((value + 1) * 127.5))),
    ...{ frequency_extent, delta_extent, data_extent },
  };
}

/**
 * Weights of the best-aligned kernel within a divergence of order 2 from the prior, for several radii, (R, N) (Letarte
 * et al. 2019, Eq. 17 and 18). On a support of the k largest gains, Q_i = 1/k + (a_i - mean) s, with s from the radius.
 *
 * @param {Float64Array} loss (N,) @param {Floats} radii rho / N, above 0
 */
export function optimizedWeights(loss, radii) {
  const N = loss.length;
  const gain = loss.map((value) => -value);
  const order = descendingOrder(gain);
  const top = largest(gain);
  const span = top - gain[order[N - 1]] || 1; // a common shift and scale of the losses change nothing
  const a = Float64Array.from(order, (m) => (gain[m] - top) / span);
  const best = a.findIndex((value) => value < 0);
  const out = new Float64Array(radii.length * N);
  for (const [r, radius] of radii.entries()) {
    const growth = 1 + radius * N;
    const weights = best < 0 || N / best <= growth ? null : heights(a, best, growth);
    const size = weights?.length ?? (best < 0 ? N : best);
    const total = weights?.reduce((sum, weight) => sum + weight, 0) ?? size;
    for (let k = 0; k < size; k++) out[r * N + order[k]] = (weights ? weights[k] : 1) / total;
  }
  return out;
}

/**
 * Weights on the first candidates alone.
 *
 * @param {Float64Array} a gains, the largest first, which is 0 @param {number} best how many of them are 0
 * @param {number} growth the bound of N sum Q^2
 */
function heights(a, best, growth) {
  const N = a.length;
  const fits = (/** @type {number} */ k) => {
    let [sum, squares] = [0, 0];
    for (let i = 0; i < k; i++) {
      const height = (a[i] - a[k]) / -a[k];
      sum += height;
      squares += height ** 2;
    }
    return (N * squares) / sum ** 2 <= growth;
  };
  let [low, size] = [best, N]; // the least k that fits, or N
  while (low < size) {
    const middle = (low + size) >> 1;
    if (fits(middle)) size = middle;
    else low = middle + 1;
  }
  const some = a.subarray(0, size);
  const mean = some.reduce((sum, value) => sum + value, 0) / size;
  const spread = some.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const slope = spread > 0 ? Math.sqrt(Math.max(growth / N - 1 / size, 0) / spread) : 0;
  return some.map((value) => Math.max(1 / size + (value - mean) * slope, 0));
}
