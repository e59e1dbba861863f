// @ts-check
// The data of a landmark view from draws: what `pack_landmarks` of the engine packs, for any width and noise.

import { gaussianFrequencies, gaussianKernel, gaussianMap, landmarkLosses, mapExtent, pointsAt } from "./alignment.js";
import { errorRate, linearSvm } from "./maths.js";

/** @import { Floats, Numbers } from "./maths.js" */
/** @typedef {{ positions: Floats, normals: Floats, labels: Int8Array }} Sample positions without noise, and its draws, (n, 2) each */
/**
 * @typedef {object} Draws what a problem of landmarks consists of, apart from width, noise and C
 * @property {Sample} train
 * @property {Sample} test
 * @property {Float64Array} frequencies standard normal draws of each landmark, (L or more, D, 2)
 * @property {number} count number D of each landmark
 * @property {number[]} rows of the training points that are landmarks
 * @property {{ points: Floats, labels: Numbers } | null} centroids the landmarks, where they are no training points
 */

/**
 * The data of a landmark view, arrays as such.
 *
 * @param {Draws} draws @param {number} sigma @param {number} noise @param {number} C of the linear SVM
 * @param {number} cells along a side of the prior's maps
 */
export function landmarkData({ train, test, frequencies, count, rows, centroids }, sigma, noise, C, cells) {
  const [X, testX] = [train, test].map(({ positions, normals }) => pointsAt(positions, normals, noise));
  const y = train.labels;
  const landmarks = Float64Array.from(centroids?.points ?? rows.flatMap((row) => [X[2 * row], X[2 * row + 1]]));
  const labels = Array.from(centroids?.labels ?? rows, (of) => (centroids ? of : y[of]));
  const L = labels.length;
  const omega = gaussianFrequencies(frequencies.subarray(0, 2 * L * count), sigma);
  const loss = new Float64Array(L * count);
  for (const [l, label] of labels.entries()) {
    const [x, z] = landmarks.subarray(2 * l, 2 * l + 2);
    landmarkLosses(X, y, x, z, label, !centroids, omega, 2 * l * count, count, loss, l * count);
  }
  const extent = mapExtent(X);
  return {
    ...{ omega, loss, landmarks, landmark_labels: labels, points: X, labels: y, test_points: testX },
    ...{ test_labels: test.labels, rows: centroids ? labels.map(() => -1) : rows, max_D: count, extent, C },
    ...priorView(landmarks, sigma, C, { extent, cells }, { X, y, testX, testY: test.labels }),
  };
}

/**
 * Maps, decision and errors of the prior.
 *
 * @param {Float64Array} landmarks (L, 2) @param {number} sigma @param {number} C @param {{ extent: number, cells: number }} grid
 * @param {{ X: Floats, y: Numbers, testX: Floats, testY: Numbers }} sample
 */
function priorView(landmarks, sigma, C, { extent, cells }, { X, y, testX, testY }) {
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
