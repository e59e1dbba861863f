// @ts-check
// The data of a view of a learned kernel from draws, for any width, ellipse and noise.

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
import { cellCentres, largest, least } from "../../shared/live/maths.js";

/** @import { Ellipse } from "../../shared/live/alignment.js" */
/** @import { Draw } from "../../shared/live/landmark_data.js" */
/** @typedef {{ train: Draw, frequencies: Float64Array }} Draws `frequencies` has N standard normal draws, (N, 2) */
/** @typedef {{ widths: number, plane: number, map: number }} Shown standard deviations of the prior to either side, and cells along a side, of the plane of frequencies; cells of the map of a kernel */

/**
 * The data of a view of a learned kernel as arrays, without the weights of OKRFF.
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
    ...{ omega, loss, points: X, labels: y, n: y.length },
    ...{ prior: bump.map((value) => density * value), plane_loss },
    prior_kernel: new Uint8Array(map.map((value) => Math.round((value + 1) * 127.5))),
    ...{ frequency_extent, delta_extent, data_extent },
  };
}

/** Halvings of the interval in which ln(-tau) lies; it ends where weights are equal but for rounding. */
const HALVINGS = 60;
const FARTHEST = Math.log(1e13);

/**
 * Weights of the best-aligned kernel within a divergence of the prior, (N,), as `optimized_kernel_weights` of the engine:
 * in proportion to (a - tau)_+^(1 / (mu - 1)), where a are gains from -1 to 0 and tau comes from the radius (Letarte et
 * al. 2019, Eq. 17 and 18).
 *
 * @param {Float64Array} loss (N,) @param {number} radius rho / N, above 0 @param {number} mu order, above 1
 */
export function optimizedWeights(loss, radius, mu) {
  const N = loss.length;
  const lowest = least(loss);
  const span = largest(loss) - lowest || 1; // a common shift and scale of the losses change nothing
  const power = 1 / (mu - 1);
  const out = new Float64Array(N);
  let sum = 0;
  /** Set the weights of a threshold and their sum, and return ln(1 + D_mu), which falls as it goes down. @param {number} down */
  const growth = (down) => {
    let powers = 0;
    sum = 0;
    for (let m = 0; m < N; m++) {
      const above = 1 - (loss[m] - lowest) / span / down; // the largest is 1
      out[m] = above > 0 ? (mu === 2 ? above : above ** power) : 0;
      sum += out[m];
      powers += out[m] * above; // its power mu
    }
    return (mu - 1) * Math.log(N) + Math.log(powers) - mu * Math.log(sum);
  };
  const most = Math.log1p(radius * N);
  let [low, high] = [-FARTHEST, FARTHEST];
  for (let k = 0; k < HALVINGS; k++) {
    const middle = (low + high) / 2;
    if (growth(Math.exp(middle)) > most) low = middle;
    else high = middle;
  }
  growth(Math.exp(high));
  return out.map((weight) => weight / sum);
}
