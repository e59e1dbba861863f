// What the live pictures evaluate: softmax of losses, sums of cosines, a small linear SVM. All data come from the
// engine; a test compares these numbers with the engine's in a browser.

/** Pseudo-posterior exp(-beta sqrt(n) loss), normalised over the first D entries of each row; zeros beyond. */
function pseudoPosterior(loss, rows, stride, D, beta, n, out) {
  const t = beta * Math.sqrt(n);
  for (let l = 0; l < rows; l++) {
    const at = l * stride;
    let least = Infinity;
    for (let m = 0; m < D; m++) least = Math.min(least, loss[at + m]);
    let total = 0;
    for (let m = 0; m < D; m++) total += out[at + m] = Math.exp(-t * (loss[at + m] - least));
    for (let m = 0; m < D; m++) out[at + m] /= total;
    out.fill(0, at + D, at + stride);
  }
  return out;
}

/** Centres of the cells that divide [-extent, extent]. */
function cellCentres(extent, cells) {
  return Float64Array.from({ length: cells }, (_, i) => extent * ((2 * (i + 0.5)) / cells - 1));
}

/** KL(Q || uniform on D) in nats. */
function klDivergence(Q, at, D) {
  let sum = Math.log(D);
  for (let m = 0; m < D; m++) if (Q[at + m] > 0) sum += Q[at + m] * Math.log(Q[at + m]);
  return Math.max(sum, 0);
}

/** D_mu(Q || uniform) and the effective number of frequencies, 1 / sum Q^2. */
function concentration(Q, mu) {
  let power = 0, square = 0;
  for (const q of Q) { power += (Q.length * q) ** mu; square += q * q; }
  return { divergence: power / Q.length - 1, effective: 1 / square };
}

/** The pseudo-posterior's density on a grid of frequencies, up to a factor: prior exp(-beta sqrt(n) loss). */
function planePosterior(prior, loss, lowest, beta, n, out) {
  const t = beta * Math.sqrt(n);
  let total = 0;
  for (let i = 0; i < loss.length; i++) total += out[i] = prior[i] * Math.exp(-t * (loss[i] - lowest));
  return total;
}

/** sum_j y_j exp(i omega . x_j) for labels of -1 and 1: its square is the power spectrum of the labels. */
function labelSpectrum(X, y, a, b) {
  let real = 0, imaginary = 0;
  for (let j = 0; j < y.length; j++) {
    const angle = a * X[2 * j] + b * X[2 * j + 1];
    real += y[j] * Math.cos(angle);
    imaginary += y[j] * Math.sin(angle);
  }
  const n = y.length, power = real * real + imaginary * imaginary;
  return { loss: 0.5 - (power - n) / (2 * n * (n - 1)), phase: Math.atan2(imaginary, real) };
}

/** cos and sin of omega_m (point - grid_i), each (D, G), for one coordinate. */
function waves(omega, offset, D, point, coordinate, grid) {
  const G = grid.length, cos = new Float32Array(D * G), sin = new Float32Array(D * G);
  for (let m = 0; m < D; m++) {
    const frequency = omega[offset + 2 * m + coordinate];
    for (let i = 0; i < G; i++) {
      const angle = frequency * (point - grid[i]);
      cos[m * G + i] = Math.cos(angle);
      sin[m * G + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** sum_m Q_m cos(omega_m . (x - grid point)) over a square grid, its first `rows` rows, from the waves of both coordinates. */
function similarityMap(Q, at, D, u, v, G, out, rows = G) {
  out.fill(0);
  for (let m = 0; m < D; m++) {
    const weight = Q[at + m];
    if (weight < 1e-7) continue; // together they move a map by less than 1e-4
    const row = m * G;
    for (let j = 0; j < rows; j++) {
      const c = weight * v.cos[row + j], s = weight * v.sin[row + j], to = j * G;
      for (let i = 0; i < G; i++) out[to + i] += c * u.cos[row + i] - s * u.sin[row + i];
    }
  }
  return out;
}

/** The kernel sum_m Q_m cos(omega_m . delta) over a square of differences around 0: half is summed, half mirrored. */
function kernelMap(Q, D, u, v, G, out) {
  similarityMap(Q, 0, D, u, v, G, out, Math.ceil(G / 2));
  for (let i = 0, last = G * G - 1; i < last - i; i++) out[last - i] = out[i];
  return out;
}

/** cos(omega_m . (x_l - x_j)) for every frequency of one landmark and every point, (D, n). */
function cosineTable(omega, offset, D, x, y, points) {
  const n = points.length / 2, table = new Float32Array(D * n);
  for (let m = 0; m < D; m++) {
    const a = omega[offset + 2 * m], b = omega[offset + 2 * m + 1];
    for (let j = 0; j < n; j++) table[m * n + j] = Math.cos(a * (x - points[2 * j]) + b * (y - points[2 * j + 1]));
  }
  return table;
}

/** Similarities of points to one landmark, sum_m Q_m table[m], into column l of psi (n, L). */
function similarities(Q, at, D, table, n, psi, l, L, scratch) {
  scratch.fill(0, 0, n);
  for (let m = 0; m < D; m++) {
    const weight = Q[at + m];
    if (weight < 1e-7) continue;
    const row = m * n;
    for (let j = 0; j < n; j++) scratch[j] += weight * table[row + j];
  }
  for (let j = 0; j < n; j++) psi[j * L + l] = scratch[j];
}

/** Squared-hinge linear SVM with a regularised intercept, by Newton steps on its active set; w holds L + 1 numbers. */
function linearSvm(psi, y, n, L, C, w) {
  const F = L + 1, H = new Float64Array(F * F), g = new Float64Array(F), step = new Float64Array(F);
  const z = (j, k) => (k < L ? psi[j * L + k] : 1);
  const objective = (w) => {
    let value = 0;
    for (let k = 0; k < F; k++) value += 0.5 * w[k] * w[k];
    for (let j = 0; j < n; j++) {
      let f = w[L];
      for (let k = 0; k < L; k++) f += w[k] * psi[j * L + k];
      const slack = 1 - y[j] * f;
      if (slack > 0) value += C * slack * slack;
    }
    return value;
  };
  let value = objective(w);
  for (let iteration = 0; iteration < 60; iteration++) {
    H.fill(0);
    for (let k = 0; k < F; k++) { g[k] = w[k]; H[k * F + k] = 1; }
    for (let j = 0; j < n; j++) {
      let f = w[L];
      for (let k = 0; k < L; k++) f += w[k] * psi[j * L + k];
      const slack = 1 - y[j] * f;
      if (slack <= 0) continue;
      for (let a = 0; a < F; a++) {
        const za = z(j, a);
        g[a] -= 2 * C * slack * y[j] * za;
        for (let b = 0; b <= a; b++) H[a * F + b] += 2 * C * za * z(j, b);
      }
    }
    let norm = 0;
    for (let k = 0; k < F; k++) norm += g[k] * g[k];
    if (norm <= 1e-16 * (1 + value)) break;
    solve(H, g, F, step);
    let size = 1, next = w, found = Infinity;
    do {
      const at = size;
      next = w.map((value, k) => value - at * step[k]);
      found = objective(next);
      size /= 2;
    } while (found > value && size > 1e-10);
    if (found >= value) break;
    w.set(next);
    value = found;
  }
  return w;
}

/** Solve H x = g by Cholesky; H (F, F) holds its lower triangle and is overwritten. */
function solve(H, g, F, x) {
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

/** Share of points on the wrong side of the SVM. */
function errorRate(psi, y, n, L, w) {
  let wrong = 0;
  for (let j = 0; j < n; j++) {
    let f = w[L];
    for (let k = 0; k < L; k++) f += w[k] * psi[j * L + k];
    if (f > 0 !== y[j] > 0) wrong++;
  }
  return wrong / n;
}
