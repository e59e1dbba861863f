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

/** KL(Q || uniform on D) in nats. */
function klDivergence(Q, at, D) {
  let sum = Math.log(D);
  for (let m = 0; m < D; m++) if (Q[at + m] > 0) sum += Q[at + m] * Math.log(Q[at + m]);
  return Math.max(sum, 0);
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

/** sum_m Q_m cos(omega_m . (x - grid point)) over a square grid, row by row, from the waves of both coordinates. */
function similarityMap(Q, at, D, u, v, G, out) {
  out.fill(0);
  for (let m = 0; m < D; m++) {
    const weight = Q[at + m];
    if (weight < 1e-7) continue; // together they move a map by less than 1e-4
    const row = m * G;
    for (let j = 0; j < G; j++) {
      const c = weight * v.cos[row + j], s = weight * v.sin[row + j], to = j * G;
      for (let i = 0; i < G; i++) out[to + i] += c * u.cos[row + i] - s * u.sin[row + i];
    }
  }
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
