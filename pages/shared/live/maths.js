// @ts-check
// Functions of the live views: softmax of losses, sums of cosines, a small linear SVM. All data come from the engine,
// and tests compare these functions with it.

/** @typedef {Float32Array | Float64Array} Floats */
/** @typedef {Floats | Int8Array} Numbers */
/** @typedef {{ cos: Float32Array, sin: Float32Array }} Waves */

const TURN = 2 * Math.PI;
// Rational approximation of exp(x^2) erfc(x) for x >= 0, by Chebyshev's polynomials; relative error below 1.2e-7.
const ERFC = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
  0.17087277,
];
const NEWTON_STEPS = 12;
const NEGLIGIBLE = 1e-7; // weights below it move a map by less than 1e-4 together

/**
 * Pseudo-posterior exp(-beta sqrt(n) loss), normalised over the first D entries of each row; zeros beyond.
 *
 * @param {Floats} loss (rows, stride)
 * @param {number} rows @param {number} stride @param {number} D @param {number} beta @param {number} n
 * @param {Float64Array} out (rows, stride)
 */
export function pseudoPosterior(loss, rows, stride, D, beta, n, out) {
  const t = beta * Math.sqrt(n);
  for (let l = 0; l < rows; l++) {
    const start = l * stride;
    let lowest = Infinity;
    for (let m = 0; m < D; m++) lowest = Math.min(lowest, loss[start + m]);
    let total = 0;
    for (let m = 0; m < D; m++) total += out[start + m] = Math.exp(-t * (loss[start + m] - lowest));
    for (let m = 0; m < D; m++) out[start + m] /= total;
    out.fill(0, start + D, start + stride);
  }
  return out;
}

/**
 * Centres of the cells that divide [-extent, extent].
 *
 * @param {number} extent @param {number} cells
 */
export function cellCentres(extent, cells) {
  return Float64Array.from({ length: cells }, (_, i) => extent * ((2 * (i + 0.5)) / cells - 1));
}

/**
 * KL(Q || uniform on D) in nats, for the D weights from `start` on.
 *
 * @param {Floats} Q @param {number} start @param {number} D
 */
export function klDivergence(Q, start, D) {
  let sum = Math.log(D);
  for (let m = 0; m < D; m++) if (Q[start + m] > 0) sum += Q[start + m] * Math.log(Q[start + m]);
  return Math.max(sum, 0);
}

/**
 * D_mu(Q || uniform) and the effective number of frequencies, 1 / sum Q^2.
 *
 * @param {Floats} Q @param {number} mu
 */
export function concentration(Q, mu) {
  let power = 0;
  let square = 0;
  for (const q of Q) {
    power += (Q.length * q) ** mu;
    square += q * q;
  }
  return { divergence: power / Q.length - 1, effective: 1 / square };
}

/**
 * The pseudo-posterior's density on a grid of frequencies, up to a factor: prior exp(-beta sqrt(n) loss).
 *
 * @param {Floats} prior @param {Floats} loss
 * @param {number} lowest the least loss
 * @param {number} beta @param {number} n @param {Float64Array} out
 */
export function planePosterior(prior, loss, lowest, beta, n, out) {
  const t = beta * Math.sqrt(n);
  for (let i = 0; i < loss.length; i++) out[i] = prior[i] * Math.exp(-t * (loss[i] - lowest));
  return out;
}

/**
 * The standard normal distribution function.
 *
 * @param {number} x
 */
export function normalCdf(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + z / 2);
  let sum = 0;
  for (let k = ERFC.length - 1; k >= 0; k--) sum = sum * t + ERFC[k];
  const tail = 0.5 * t * Math.exp(-z * z + sum);
  return x > 0 ? 1 - tail : tail;
}

/**
 * The largest mean L with kl(loss || L) <= budget, by Newton's method from above.
 *
 * @param {number} loss @param {number} budget
 */
function largestMean(loss, budget) {
  const rest = 1 - loss;
  if (rest <= 0) return 1;
  const entropy = loss > 0 ? loss * Math.log(loss) : 0;
  let root = Math.min(loss + Math.sqrt(budget / 2), 1 - rest * Math.exp((entropy - budget) / rest));
  for (let k = 0; k < NEWTON_STEPS; k++) {
    const kl = (loss > 0 ? loss * Math.log(loss / root) : 0) + rest * Math.log(rest / (1 - root));
    const step = ((kl - budget) * root * (1 - root)) / (root - loss);
    if (!(step > 0)) break;
    root -= step;
  }
  return Math.max(root, loss);
}

/**
 * The PAC-Bayes-kl bound on the losses of `held` landmarks at once, each with n - 1 pairs; it has no t.
 *
 * @param {number} loss @param {number} kl divergence from the prior @param {number} n @param {number} held
 * @param {number} epsilon
 */
export function landmarkBound(loss, kl, n, held, epsilon) {
  return largestMean(loss, (kl + Math.log((2 * Math.sqrt(n - 1) * held) / epsilon)) / (n - 1));
}

/**
 * cos(2 pi t) to about 1e-13 where |t| < 1000, by the series of the sine; in a fifth of the time of `Math.cos`.
 *
 * @param {number} t
 */
export function cosineOfTurns(t) {
  const u = 0.25 - Math.abs(t - Math.floor(t + 0.5));
  const s = u * u;
  let sum = 0.1042291622081397 - s * 0.012031585942120619;
  sum = s * (s * (3.8199525848482803 + s * (s * sum - 0.7181223017785001)) - 15.094642576822984) + 42.058693944897634;
  return u * (TURN + s * (s * (81.60524927607504 + s * (s * sum - 76.70585975306136)) - 41.341702240399755));
}

/**
 * The same to 1e-7, for tables in single precision.
 *
 * @param {number} t
 */
function roughCosineOfTurns(t) {
  const u = 0.25 - Math.abs(t - Math.floor(t + 0.5));
  const s = u * u;
  const sum = s * (81.60524927607504 + s * (s * (42.058693944897634 - s * 15.094642576822984) - 76.70585975306136));
  return u * (TURN + s * (sum - 41.341702240399755));
}

/**
 * cos and sin of omega_m (point - grid_i), each (D, G), for one coordinate.
 *
 * @param {Floats} omega frequencies of the plane, one after the other
 * @param {number} offset start of the first of them
 * @param {number} D @param {number} point @param {0 | 1} coordinate @param {Floats} grid
 * @returns {Waves}
 */
export function waves(omega, offset, D, point, coordinate, grid) {
  const G = grid.length;
  const tables = { cos: new Float32Array(D * G), sin: new Float32Array(D * G) };
  for (let m = 0; m < D; m++) fillWave(tables, m, omega[offset + 2 * m + coordinate], point, grid);
  return tables;
}

/**
 * Row m of such tables.
 *
 * @param {{ cos: Floats, sin: Floats }} tables @param {number} m @param {number} frequency
 * @param {number} point @param {Floats} grid
 */
export function fillWave({ cos, sin }, m, frequency, point, grid) {
  const turns = frequency / TURN;
  for (let i = 0, to = m * grid.length; i < grid.length; i++, to++) {
    const t = turns * (point - grid[i]);
    cos[to] = cosineOfTurns(t);
    sin[to] = cosineOfTurns(t - 0.25);
  }
}

/**
 * The weights that are not negligible, and their rows of a table, filled up to a multiple of four by weights of 0:
 * sums over four rows at a time load and store their result a quarter as often.
 *
 * @param {Floats} Q @param {number} start @param {number} D
 */
function inFours(Q, start, D) {
  const rows = [];
  const weights = [];
  for (let m = 0; m < D; m++) {
    if (Q[start + m] < NEGLIGIBLE) continue;
    rows.push(m);
    weights.push(Q[start + m]);
  }
  while (rows.length % 4) {
    rows.push(rows[0]);
    weights.push(0);
  }
  return { rows, weights };
}

/**
 * sum_m Q_m cos(omega_m . (x - grid point)) over the first `rows` rows of a square grid, from the waves of both
 * coordinates.
 *
 * @param {Floats} Q @param {number} start @param {number} D @param {Waves} u @param {Waves} v @param {number} G
 * @param {Float32Array} out (G, G)
 */
export function similarityMap(Q, start, D, u, v, G, out, rows = G) {
  out.fill(0);
  const { cos, sin } = u;
  const kept = inFours(Q, start, D);
  for (let k = 0; k < kept.rows.length; k += 4) {
    const [a, b, c, d] = kept.rows.slice(k, k + 4).map((m) => m * G);
    const [p, q, r, s] = kept.weights.slice(k, k + 4);
    for (let j = 0; j < rows; j++) {
      const to = j * G;
      const [pc, ps, qc, qs] = [p * v.cos[a + j], p * v.sin[a + j], q * v.cos[b + j], q * v.sin[b + j]];
      const [rc, rs, sc, ss] = [r * v.cos[c + j], r * v.sin[c + j], s * v.cos[d + j], s * v.sin[d + j]];
      for (let i = 0; i < G; i++) {
        const first = pc * cos[a + i] - ps * sin[a + i] + qc * cos[b + i] - qs * sin[b + i];
        const second = rc * cos[c + i] - rs * sin[c + i] + sc * cos[d + i] - ss * sin[d + i];
        out[to + i] += first + second;
      }
    }
  }
  return out;
}

/**
 * The weights of the first `count` frequencies of an order, zeros elsewhere.
 *
 * @param {Floats} Q @param {number} start of the row in Q @param {number[]} order positions in the row
 * @param {number} count @param {Float64Array} out
 */
export function firstWeights(Q, start, order, count, out) {
  out.fill(0);
  for (const m of order.slice(0, count)) out[m] = Q[start + m];
  return out;
}

/**
 * Sums of the first 0, 1, ..., D cosines of an order: their share of the weight, and the root mean square of their
 * difference from the whole sum over a square grid.
 *
 * @param {Floats} Q @param {number} start @param {number[]} order all D positions in the row
 * @param {Waves} u @param {Waves} v @param {number} G
 */
export function partialSums(Q, start, order, u, v, G) {
  const D = order.length;
  const shares = new Float64Array(D + 1);
  const distances = new Float64Array(D + 1);
  const lacking = new Float64Array(G * G);
  for (const [k, m] of order.entries()) shares[k + 1] = shares[k] + Q[start + m];
  for (let k = D - 1; k >= 0; k--) {
    addCosine(Q[start + order[k]], order[k] * G, u, v, G, lacking);
    let squares = 0;
    for (const value of lacking) squares += value * value;
    distances[k] = Math.sqrt(squares) / G;
  }
  return { shares, distances };
}

/**
 * Add a weighted cosine to values on a square grid.
 *
 * @param {number} weight @param {number} row where the cosine starts in its waves
 * @param {Waves} u @param {Waves} v @param {number} G @param {Float64Array} out (G, G)
 */
function addCosine(weight, row, u, v, G, out) {
  for (let j = 0; j < G; j++) {
    const [c, s] = [weight * v.cos[row + j], weight * v.sin[row + j]];
    for (let i = 0; i < G; i++) out[j * G + i] += c * u.cos[row + i] - s * u.sin[row + i];
  }
}

/**
 * The kernel sum_m Q_m cos(omega_m . delta) over a square of differences around 0: half is summed, half mirrored.
 *
 * @param {Floats} Q @param {number} D @param {Waves} u @param {Waves} v @param {number} G
 * @param {Float32Array} out (G, G)
 */
export function kernelMap(Q, D, u, v, G, out) {
  similarityMap(Q, 0, D, u, v, G, out, Math.ceil(G / 2));
  for (let i = 0, last = G * G - 1; i < last - i; i++) out[last - i] = out[i];
  return out;
}

/**
 * cos(omega_m . (x_l - x_j)) for every frequency of one landmark and every point, (D, n).
 *
 * @param {Floats} omega @param {number} offset @param {number} D @param {number} x @param {number} y
 * @param {Floats} points (n, 2) @param {Float32Array} [spare] a table that is no longer needed, used if it has the size
 */
export function cosineTable(omega, offset, D, x, y, points, spare) {
  const n = points.length / 2;
  const table = spare?.length === D * n ? spare : new Float32Array(D * n);
  // Reading numbers in double precision, one coordinate after the other, takes half the time.
  const [along, across] = [new Float64Array(n), new Float64Array(n)];
  for (let j = 0; j < n; j++) {
    along[j] = (x - points[2 * j]) / TURN;
    across[j] = (y - points[2 * j + 1]) / TURN;
  }
  for (let m = 0, row = 0; m < D; m++, row += n) {
    const a = omega[offset + 2 * m];
    const b = omega[offset + 2 * m + 1];
    for (let j = 0; j < n; j++) table[row + j] = roughCosineOfTurns(a * along[j] + b * across[j]);
  }
  return table;
}

/**
 * Similarities of points to one landmark, sum_m Q_m table[m], into column l of psi (n, L).
 *
 * @param {Floats} Q
 * @param {number} start
 * @param {number} D
 * @param {Float32Array} table
 * @param {number} n
 * @param {Float64Array} psi
 * @param {number} l
 * @param {number} L
 * @param {Float64Array} scratch at least n numbers
 */
export function similarities(Q, start, D, table, n, psi, l, L, scratch) {
  scratch.fill(0, 0, n);
  const kept = inFours(Q, start, D);
  for (let k = 0; k < kept.rows.length; k += 4) {
    const [a, b, c, d] = kept.rows.slice(k, k + 4).map((m) => m * n);
    const [p, q, r, s] = kept.weights.slice(k, k + 4);
    for (let j = 0; j < n; j++) {
      scratch[j] += p * table[a + j] + q * table[b + j] + r * table[c + j] + s * table[d + j];
    }
  }
  for (let j = 0; j < n; j++) psi[j * L + l] = scratch[j];
}

/**
 * Similarity of one point to one landmark, sum_m Q_m cos(omega_m . (z - x)).
 *
 * @param {Floats} Q @param {number} start @param {number} D
 * @param {Floats} omega @param {number} offset where the landmark's frequencies start
 * @param {number} a @param {number} b difference of the landmark's and the point's coordinates
 */
export function similarityAt(Q, start, D, omega, offset, a, b) {
  const [x, y] = [a / TURN, b / TURN];
  let sum = 0;
  for (let m = 0; m < D; m++) {
    sum += Q[start + m] * cosineOfTurns(omega[offset + 2 * m] * x + omega[offset + 2 * m + 1] * y);
  }
  return sum;
}

/**
 * Decision value of row j of psi (n, L); w holds the L coefficients and the intercept.
 *
 * @param {Floats} psi @param {number} j @param {number} L @param {Float64Array} w
 */
function decisionValue(psi, j, L, w) {
  let f = w[L];
  for (let k = 0; k < L; k++) f += w[k] * psi[j * L + k];
  return f;
}

/**
 * Squared-hinge linear SVM with a regularised intercept, by Newton steps on its active set.
 *
 * @param {Float64Array} psi (n, L)
 * @param {Numbers} y labels -1 and 1
 * @param {number} n @param {number} L @param {number} C
 * @param {Float64Array} w where to start; holds the solution, L coefficients and the intercept, afterwards
 */
export function linearSvm(psi, y, n, L, C, w) {
  const F = L + 1;
  const H = new Float64Array(F * F);
  const g = new Float64Array(F);
  const step = new Float64Array(F);
  let value = svmObjective(psi, y, n, L, C, w);
  for (let iteration = 0; iteration < 60; iteration++) {
    svmDerivatives(psi, y, n, L, C, w, g, H);
    let norm = 0;
    for (let k = 0; k < F; k++) norm += g[k] * g[k];
    if (norm <= 1e-16 * (1 + value)) break;
    solve(H, g, F, step);
    const next = new Float64Array(F);
    let trial = Infinity;
    for (let size = 1; trial > value && size > 1e-10; size /= 2) {
      for (let k = 0; k < F; k++) next[k] = w[k] - size * step[k];
      trial = svmObjective(psi, y, n, L, C, next);
    }
    if (trial >= value) break;
    w.set(next);
    value = trial;
  }
  return w;
}

/**
 * @param {Float64Array} psi
 * @param {Numbers} y
 * @param {number} n
 * @param {number} L
 * @param {number} C
 * @param {Float64Array} w
 */
function svmObjective(psi, y, n, L, C, w) {
  let value = 0;
  for (let k = 0; k <= L; k++) value += 0.5 * w[k] * w[k];
  for (let j = 0; j < n; j++) {
    const slack = 1 - y[j] * decisionValue(psi, j, L, w);
    if (slack > 0) value += C * slack * slack;
  }
  return value;
}

/**
 * Gradient g and lower triangle of the Hessian H of the objective at w.
 *
 * @param {Float64Array} psi
 * @param {Numbers} y
 * @param {number} n
 * @param {number} L
 * @param {number} C
 * @param {Float64Array} w
 * @param {Float64Array} g
 * @param {Float64Array} H
 */
function svmDerivatives(psi, y, n, L, C, w, g, H) {
  const F = L + 1;
  /** @type {(j: number, k: number) => number} */
  const z = (j, k) => (k < L ? psi[j * L + k] : 1);
  H.fill(0);
  for (let k = 0; k < F; k++) {
    g[k] = w[k];
    H[k * F + k] = 1;
  }
  for (let j = 0; j < n; j++) {
    const slack = 1 - y[j] * decisionValue(psi, j, L, w);
    if (slack <= 0) continue;
    for (let a = 0; a < F; a++) {
      const za = z(j, a);
      g[a] -= 2 * C * slack * y[j] * za;
      for (let b = 0; b <= a; b++) H[a * F + b] += 2 * C * za * z(j, b);
    }
  }
}

/**
 * Solve H x = g by Cholesky; H (F, F) holds its lower triangle and is overwritten.
 *
 * @param {Float64Array} H @param {Float64Array} g @param {number} F @param {Float64Array} x
 */
export function solve(H, g, F, x) {
  for (let a = 0; a < F; a++) {
    for (let b = 0; b <= a; b++) {
      let sum = H[a * F + b];
      for (let k = 0; k < b; k++) sum -= H[a * F + k] * H[b * F + k];
      H[a * F + b] = a === b ? Math.sqrt(Math.max(sum, 1e-300)) : sum / H[b * F + b];
    }
  }
  for (let a = 0; a < F; a++) {
    let sum = g[a];
    for (let k = 0; k < a; k++) sum -= H[a * F + k] * x[k];
    x[a] = sum / H[a * F + a];
  }
  for (let a = F - 1; a >= 0; a--) {
    let sum = x[a];
    for (let k = a + 1; k < F; k++) sum -= H[k * F + a] * x[k];
    x[a] = sum / H[a * F + a];
  }
}

/**
 * Fraction of points on the wrong side of the SVM.
 *
 * @param {Float64Array} psi @param {Numbers} y @param {number} n @param {number} L @param {Float64Array} w
 */
export function errorRate(psi, y, n, L, w) {
  let wrong = 0;
  for (let j = 0; j < n; j++) if (decisionValue(psi, j, L, w) > 0 !== y[j] > 0) wrong++;
  return wrong / n;
}

/**
 * (1 - part) values[row] + part values[next], for rows of `size` numbers.
 *
 * @param {Floats} values
 * @param {number} row
 * @param {number} next
 * @param {number} part
 * @param {number} size
 * @param {Float32Array} out
 */
export function interpolate(values, row, next, part, size, out) {
  for (let i = 0; i < size; i++) out[i] = (1 - part) * values[row * size + i] + part * values[next * size + i];
  return out;
}

/**
 * Interpolation on a logarithmic axis.
 *
 * @param {number} from @param {number} to @param {number} part
 */
export function interpolateLog(from, to, part) {
  return from ** (1 - part) * to ** part;
}

/**
 * Position of the value nearest to `wanted`; the first one if several are.
 *
 * @param {Uint16Array | Floats} values @param {number} wanted
 */
export function nearestIndex(values, wanted) {
  let best = 0;
  for (let k = 1; k < values.length; k++) {
    if (Math.abs(values[k] - wanted) < Math.abs(values[best] - wanted)) best = k;
  }
  return best;
}

/** A value in three figures, or in two that are nearly it: 0.501 of a logarithmic scale is 0.5. @param {number} value */
export function inFigures(value) {
  const two = Number(value.toPrecision(2));
  const near = !Number.isInteger(value) && Math.abs(two - value) < 0.006 * Math.abs(value);
  return String(near ? two : Number(value.toPrecision(3)));
}

/**
 * 10 to a power, rounded to three figures as the values of the app's controls are.
 *
 * @param {number} exponent
 */
export function roundedPower(exponent) {
  return Number((10 ** exponent).toPrecision(3));
}

/** @param {Floats} values */
export function least(values) {
  let least = Infinity;
  for (let k = 0; k < values.length; k++) if (values[k] < least) least = values[k];
  return least;
}

/** @param {Floats} values */
export function largest(values) {
  let most = -Infinity;
  for (let k = 0; k < values.length; k++) if (values[k] > most) most = values[k];
  return most;
}

/**
 * Positions of the values, the largest value first.
 *
 * @param {Floats} values
 */
export function descendingOrder(values) {
  return Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
}

/**
 * Row of the point nearest to (x, y), or undefined if none is closer than `distance`.
 *
 * @param {Floats} points (n, 2)
 * @param {number} x @param {number} y @param {number} distance
 */
export function nearestPoint(points, x, y, distance) {
  let nearest;
  for (let j = 0; 2 * j < points.length; j++) {
    const d = Math.hypot(points[2 * j] - x, points[2 * j + 1] - y);
    if (d < distance) [nearest, distance] = [j, d];
  }
  return nearest;
}

/**
 * Terms rounded so that they still add up to their rounded sum: all down, except the largest remainders, which go up.
 *
 * @param {number[]} values at least 0
 * @param {number} digits after the point
 */
export function addingUp(values, digits) {
  const unit = 10 ** digits;
  const exact = values.map((value) => unit * value);
  const sum = Math.round(exact.reduce((a, b) => a + b, 0));
  const whole = exact.map(Math.floor);
  const up = sum - whole.reduce((a, b) => a + b, 0);
  const remainders = Float64Array.from(exact, (value, k) => value - whole[k]);
  for (const k of descendingOrder(remainders).slice(0, up)) whole[k]++;
  return { sum: sum / unit, terms: whole.map((value) => value / unit) };
}

/**
 * Segments of the line where values on a G x G grid change sign, in cells, by linear interpolation along cell edges.
 *
 * @param {Floats} values (G, G)
 * @param {number} G
 */
export function boundary(values, G) {
  const segments = [];
  for (let j = 0; j < G - 1; j++) {
    for (let i = 0; i < G - 1; i++) {
      const k = j * G + i;
      const positive = values[k] > 0;
      if (positive === values[k + 1] > 0 && positive === values[k + G] > 0 && positive === values[k + G + 1] > 0)
        continue;
      const crossings = crossingsOfCell(values, G, i, j);
      for (let c = 0; c + 1 < crossings.length; c += 2) segments.push([crossings[c], crossings[c + 1]]);
    }
  }
  return segments;
}

/** @param {Floats} values @param {number} G @param {number} i @param {number} j */
function crossingsOfCell(values, G, i, j) {
  const corners = [
    [i, j],
    [i + 1, j],
    [i + 1, j + 1],
    [i, j + 1],
  ];
  const crossings = [];
  for (let k = 0; k < 4; k++) {
    const [a, b] = corners[k];
    const [d, e] = corners[(k + 1) % 4];
    const p = values[b * G + a];
    const q = values[e * G + d];
    if (p > 0 === q > 0) continue;
    const s = p / (p - q);
    crossings.push([a + s * (d - a), b + s * (e - b)]);
  }
  return crossings;
}

/**
 * An error rate in percent.
 *
 * @param {number} error
 */
export function percent(error) {
  return `${(100 * error).toFixed(1)} %`;
}
