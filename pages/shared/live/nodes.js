// @ts-check
// Slow waves at a few points instead of at every cell of a map, and polynomials through them for the cells.

import { cellCentres, largest, least } from "./maths.js";

/** @import { Floats } from "./maths.js" */

const ACCURATE = 1e-6; // largest error of a wave's polynomial, far below a step of the colours

/**
 * Chebyshev points of [-extent, extent], symmetric around 0.
 *
 * @param {number} extent @param {number} count
 */
function chebyshevPoints(extent, count) {
  return Float64Array.from({ length: count }, (_, k) => extent * Math.cos((Math.PI * (k + 0.5)) / count));
}

/**
 * Values of the polynomials that are 1 at one Chebyshev point and 0 at all others, at given places, (places, points).
 * Barycentric formula: Berrut and Trefethen 2004, "Barycentric Lagrange interpolation", equations 4.2 and 5.3.
 *
 * @param {Float64Array} points @param {Float64Array} places
 */
function lagrangePolynomials(points, places) {
  const count = points.length;
  const table = new Float32Array(places.length * count);
  for (const [i, place] of places.entries()) {
    const row = table.subarray(i * count, (i + 1) * count);
    const same = points.indexOf(place);
    if (same >= 0) {
      row[same] = 1;
      continue;
    }
    const terms = Float64Array.from(
      points,
      (point, k) => ((k % 2 ? -1 : 1) * Math.sin((Math.PI * (k + 0.5)) / count)) / (place - point),
    );
    const sum = terms.reduce((a, b) => a + b, 0);
    for (let k = 0; k < count; k++) row[k] = terms[k] / sum;
  }
  return table;
}

/**
 * Largest error of the polynomial through a wave's values at the points.
 *
 * @param {Float64Array} points @param {Float64Array} places @param {Float32Array} table their polynomials
 * @param {number} frequency
 */
function errorOf(points, places, table, frequency) {
  const count = points.length;
  let worst = 0;
  for (const wave of [Math.cos, Math.sin]) {
    const values = points.map((point) => wave(frequency * point));
    for (const [i, place] of places.entries()) {
      let sum = 0;
      for (let k = 0; k < count; k++) sum += table[i * count + k] * values[k];
      worst = Math.max(worst, Math.abs(sum - wave(frequency * place)));
    }
  }
  return worst;
}

/**
 * Points at which to evaluate sums of waves on a square, and polynomials from there to the cells of its map. Slow waves
 * need few points, since a polynomial of degree r follows waves of up to about r / extent; others need the cells.
 */
export class Nodes {
  /**
   * @param {number} extent the square is [-extent, extent]^2
   * @param {number} cells along a side
   * @param {Floats} omega frequencies
   */
  constructor(extent, cells, omega) {
    const centres = cellCentres(extent, cells);
    const fastest = Math.max(largest(omega), -least(omega));
    this.cells = cells;
    /** Coordinates at which to evaluate. */
    this.at = centres;
    /** Polynomials at the cells, (cells, nodes); none if the nodes are the cells.
     * @type {Float32Array | null} */
    this.table = null;
    // With more nodes, sums at the cells would be as fast.
    for (let count = Math.ceil(fastest * extent) + 8; count < 0.8 * cells; count += 2) {
      const points = chebyshevPoints(extent, count);
      const table = lagrangePolynomials(points, centres);
      if (errorOf(points, centres, table, fastest) > ACCURATE) continue;
      Object.assign(this, { at: points, table });
      break;
    }
    this.values = new Float32Array(this.count ** 2);
    this.rows = new Float32Array(this.count * cells);
  }

  get count() {
    return this.at.length;
  }

  /**
   * A map whose values at the nodes `evaluate` writes.
   *
   * @param {(count: number, values: Float32Array) => void} evaluate fills (count, count) numbers
   * @param {Float32Array} out (cells, cells)
   */
  map(evaluate, out) {
    if (!this.table) evaluate(this.count, out);
    else {
      evaluate(this.count, this.values);
      this.spread(out);
    }
    return out;
  }

  /**
   * From the nodes to the cells, first along the rows of the nodes, then between them.
   *
   * @param {Float32Array} out (cells, cells)
   */
  spread(out) {
    const { count, table, values, rows } = this;
    innerProducts(table, values, count, rows);
    innerProducts(table, rows, count, out);
  }
}

/**
 * Inner products of the rows of two matrices, four at a time: single sums would wait for each other.
 *
 * @param {Float32Array} A (a, count)
 * @param {Float32Array} B (b, count), b at least 4
 * @param {number} count
 * @param {Float32Array} out (a, b)
 */
function innerProducts(A, B, count, out) {
  const b = B.length / count;
  for (let from = 0, to = 0; from < A.length; from += count, to += b) {
    for (let next = 0; next < b; next += 4) {
      const first = Math.min(next, b - 4); // the last four may overlap the previous ones
      const start = first * count;
      let [p, q, r, s] = [0, 0, 0, 0];
      for (let k = 0; k < count; k++) {
        const factor = A[from + k];
        const at = start + k;
        p += factor * B[at];
        q += factor * B[at + count];
        r += factor * B[at + 2 * count];
        s += factor * B[at + 3 * count];
      }
      out[to + first] = p;
      out[to + first + 1] = q;
      out[to + first + 2] = r;
      out[to + first + 3] = s;
    }
  }
}
