// @ts-check
// The reader's points on a grid of the plane: their code in the URL (as in own_points.py of the app's controls), and
// edits by the reader. Points are never changed, but replaced by others.

/** @typedef {{ x: number, y: number, label: number }} OwnPoint in cells of the grid, from 0; the class is -1 or 1 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const LETTERS = 4; // of a point

/**
 * The code of points on a grid of `cells` + 1 places a side.
 *
 * @param {OwnPoint[]} points @param {number} cells
 */
export function encodePoints(points, cells) {
  const side = cells + 1;
  return points
    .map(({ x, y, label }) => {
      const number = ((label > 0 ? side : 0) + y) * side + x;
      return [18, 12, 6, 0].map((shift) => ALPHABET[(number >> shift) & 63]).join("");
    })
    .join("");
}

/**
 * The points of a code, which the server has checked.
 *
 * @param {string} code @param {number} cells
 * @returns {OwnPoint[]}
 */
export function decodePoints(code, cells) {
  const side = cells + 1;
  return (code.match(/.{4}/g) ?? []).map((letters) => {
    let number = 0;
    for (let k = 0; k < LETTERS; k++) number = number * 64 + ALPHABET.indexOf(letters[k]);
    const row = Math.floor(number / side);
    return { x: number % side, y: row % side, label: row >= side ? 1 : -1 };
  });
}

/**
 * The number of the nearest point within a distance, or -1. If several are as near, the last one, painted on top.
 *
 * @param {OwnPoint[]} points @param {number} x @param {number} y @param {number} within
 */
export function nearestCell(points, x, y, within) {
  let best = -1;
  let least = within;
  for (const [k, point] of points.entries()) {
    const distance = Math.hypot(point.x - x, point.y - y);
    if (distance <= least) [best, least] = [k, distance];
  }
  return best;
}

/**
 * The points without one of them: the last takes its place, so the others keep their numbers.
 *
 * @param {OwnPoint[]} points @param {number} k
 */
export function without(points, k) {
  const rest = points.slice(0, -1);
  if (k < rest.length) rest[k] = points[points.length - 1];
  return rest;
}

/**
 * The points with one of them moved.
 *
 * @param {OwnPoint[]} points @param {number} k @param {number} x @param {number} y
 */
export function moved(points, k, x, y) {
  return points.map((point, j) => (j === k ? { ...point, x, y } : point));
}

/**
 * Numbers of points of class -1 and of class 1.
 *
 * @param {OwnPoint[]} points
 */
export function countClasses(points) {
  const positive = points.filter(({ label }) => label > 0).length;
  return { negative: points.length - positive, positive };
}
