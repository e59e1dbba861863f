// @ts-check
// The data of a landmark view from draws: those of `pack_landmarks`, for any width and noise.

import { gaussianFrequencies, gaussianKernel, gaussianMap, landmarkLosses, mapExtent, pointsAt } from "./alignment.js";
import { errorRate, linearSvm } from "./maths.js";

/** @import { Floats } from "./maths.js" */
/** @typedef {{ positions: Floats, normals?: Floats, labels: Int8Array }} Draw positions and, if these are without noise, its draws, (n, 2) each */
/**
 * @typedef {object} Draws a problem of landmarks without its frequencies, width, noise and C
 * @property {Draw} train
 * @property {Draw} test
 * @property {number} count number D of frequencies of each landmark
 * @property {number[]} rows of the training points that are landmarks
 * @property {{ points: ArrayLike<number>, labels: ArrayLike<number> } | null} centroids landmarks that are no training points
 */
/** @typedef {ReturnType<typeof landmarkSample>} Sample */

/**
 * Points and landmarks as unpacked arrays.
 *
 * @param {Draws} draws @param {number} noise @param {number} [extent] half the side of the maps, else derived from points
 */
export function landmarkSample({ train, test, count, rows, centroids }, noise, extent) {
  const [X, testX] = [train, test].map((draw) => pointsAt(draw, noise));
  const y = train.labels;
  return {
    landmarks: Float64Array.from(centroids?.points ?? rows.flatMap((row) => [X[2 * row], X[2 * row + 1]])),
    landmark_labels: centroids ? Array.from(centroids.labels) : rows.map((row) => y[row]),
    rows: centroids ? Array.from(centroids.labels, () => -1) : rows,
    ...{ points: X, labels: y, test_points: testX, test_labels: test.labels },
    ...{ max_D: count, extent: extent ?? mapExtent(X) },
  };
}

/**
 * Data that depend on the width, except for the losses: frequencies, and maps, decision and errors of the prior.
 *
 * @param {Sample} sample @param {Float64Array} draws of frequencies, (L or more, D, 2) @param {number} sigma
 * @param {number} C of the linear SVM @param {number} cells along a side of the prior's maps
 */
export function ofWidth(sample, draws, sigma, C, cells) {
  const omega = gaussianFrequencies(draws.subarray(0, 2 * sample.rows.length * sample.max_D), sigma);
  return { omega, C, ...priorView(sample, sigma, C, cells) };
}

/**
 * Fill in the losses of some frequencies of every landmark.
 *
 * @param {Sample} sample @param {Floats} omega (L, D, 2) @param {Float64Array} loss (L, D)
 * @param {number} from the first of a landmark @param {number} to behind the last
 */
export function fillLosses({ points, labels, landmarks, landmark_labels, rows, max_D }, omega, loss, from, to) {
  for (const [l, label] of landmark_labels.entries()) {
    const [x, z] = landmarks.subarray(2 * l, 2 * l + 2);
    const at = l * max_D + from;
    landmarkLosses(points, labels, x, z, label, rows[l] >= 0, omega, 2 * at, to - from, loss, at);
  }
  return loss;
}

/**
 * Maps, decision and errors of the prior.
 *
 * @param {Sample} sample @param {number} sigma @param {number} C @param {number} cells
 */
function priorView(sample, sigma, C, cells) {
  const { landmarks, extent, points: X, labels: y, test_points: testX, test_labels: testY } = sample;
  const L = landmarks.length / 2;
  const [psi, testPsi] = [X, testX].map((points) => similaritiesOf(points, landmarks, sigma));
  const svm = linearSvm(psi, y, y.length, L, C, new Float64Array(L + 1));
  const maps = new Uint8Array(L * cells ** 2);
  const decision = new Float64Array(cells ** 2).fill(svm[L]);
  for (let l = 0; l < L; l++) {
    const map = gaussianMap(landmarks[2 * l], landmarks[2 * l + 1], sigma, extent, cells);
    for (let i = 0; i < map.length; i++) {
      maps[l * map.length + i] = Math.round((map[i] + 1) * 127.5);
      decision[i] += svm[l] * map[i];
    }
  }
  return {
    prior_maps: maps,
    prior_decision: decision,
    prior_train: errorRate(psi, y, y.length, L, svm),
    prior_test: errorRate(testPsi, testY, testY.length, L, svm),
  };
}

/** @param {Floats} X @param {Float64Array} landmarks @param {number} sigma @returns {Float64Array} (n, L) */
function similaritiesOf(X, landmarks, sigma) {
  const L = landmarks.length / 2;
  const psi = new Float64Array((X.length / 2) * L);
  for (let l = 0; l < L; l++) gaussianKernel(X, landmarks[2 * l], landmarks[2 * l + 1], sigma, psi, l, L);
  return psi;
}
