// The live view of a learned kernel: frequency planes, candidates, their weights and kernels, all under one beta and rho.

const LOWEST_WEIGHT = -4; // power of ten at which the ranked weights end
const METHODS = ["rff", "pbrff", "okrff"];
const METHOD_DASHES = { rff: "dot", pbrff: "solid", okrff: "dash" };

class LiveKernel extends LiveView {
  constructor(root) {
    super(root);
    const square = (name, painter) => this.panel(`canvas.${name}`, painter);
    this.planes = {};
    for (const name of ["prior", "loss", "posterior"]) {
      const { canvas } = square(`plane-${name}`, (c, w) => {
        this.planes[name].paint(c, w, w);
        this.paintFocus(c, w, this.data.frequency_extent);
      });
      canvas.onpointermove = (event) => {
        const { x, y } = pointerIn(event, canvas, this.data.frequency_extent);
        this.look({ omega: [x, y] });
      };
      canvas.onpointerleave = canvas.onblur = () => this.look({});
      canvas.onkeydown = (event) => this.step(event);
    }
    square("data", (c, w) => this.paintData(c, w));
    this.dots = {};
    for (const method of ["pbrff", "okrff"]) {
      const { canvas } = square(`dots-${method}`, (c, w) => this.paintDots(c, w, method));
      canvas.onpointermove = (event) => this.look({ candidate: this.candidateAt(event, canvas) });
      canvas.onpointerleave = () => this.look({});
    }
    const ranks = this.panel("canvas.ranks", (c, w, h) => this.paintRanks(c, w, h)).canvas;
    ranks.onpointermove = (event) => this.look({ candidate: this.rankAt(event, ranks) });
    ranks.onpointerleave = () => this.look({});
    this.kernels = Object.fromEntries(METHODS.map((method) => [method, new Raster(CELLS)]));
    for (const method of METHODS) {
      square(`kernel-${method}`, (c, w) => {
        this.kernels[method].paint(c, w, w);
        this.paintFocus(c, w, null);
      });
    }
    this.wave = new Raster(CELLS);
    for (const swatch of root.querySelectorAll("canvas.swatch")) {
      const { method } = swatch.dataset;
      this.panel(swatch, (c, w, h) => paintSwatch(c, w, h, PALETTE.methods[method], METHOD_DASHES[method]));
    }
  }

  receive(data) {
    Object.assign(this, {
      prior: this.array("prior", Float32Array), loss: this.array("plane_loss", Float32Array),
      omega: this.array("omega", Float32Array), candidateLoss: this.array("loss", Float64Array),
      optimized: this.array("optimized", Float32Array), priorKernel: this.array("prior_kernel", Uint8Array),
      X: this.array("points", Float32Array), y: this.array("labels", Int8Array),
    });
    const N = (this.N = this.candidateLoss.length), G = (this.G = Math.sqrt(this.loss.length));
    const grid = cellCentres(data.delta_extent, CELLS);
    this.u = waves(this.omega, 0, N, 0, 0, grid);
    this.v = waves(this.omega, 0, N, 0, 1, grid);
    this.lowest = this.loss.reduce((a, b) => Math.min(a, b));
    this.highest = this.loss.reduce((a, b) => Math.max(a, b));
    this.posterior = new Float64Array(G * G);
    this.Q = { rff: new Float64Array(N).fill(1 / N), pbrff: new Float64Array(N), okrff: new Float64Array(N) };
    this.maps = { pbrff: new Float32Array(CELLS * CELLS), okrff: new Float32Array(CELLS * CELLS) };
    this.order = { rff: Array.from({ length: N }, (_, m) => m) };
    this.seen = this.computed = {};
    for (const name of ["prior", "loss", "posterior"]) this.planes[name] = new Raster(G);
    const most = this.prior.reduce((a, b) => Math.max(a, b));
    this.planes.prior.set(this.prior, 0, most, TABLES.sequential);
    this.planes.loss.set(this.loss, this.highest, this.lowest, TABLES.sequential); // bright is low
    this.kernels.rff.set(this.priorKernel, 0, 255, TABLES.similarity);
    this.find(".prior-words").textContent = `prior density p(ω), 0 to ${most.toPrecision(2)}`;
    this.find(".loss-words").textContent =
      `alignment loss, bright ${this.lowest.toFixed(2)} to dark ${this.highest.toFixed(2)}`;
  }

  // --- input --------------------------------------------------------------------------------------------------------

  /** The frequency in focus: the pointer's, or a candidate's. */
  get omegaInFocus() {
    const { omega, candidate } = this.focus;
    return candidate === undefined ? omega : [this.omega[2 * candidate], this.omega[2 * candidate + 1]];
  }

  step(event) {
    const move = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!move) return;
    const extent = this.data.frequency_extent, [a, b] = this.omegaInFocus ?? [0, 0];
    this.look({ omega: [a + (move[0] * extent) / 40, b + (move[1] * extent) / 40].map((v) => Math.max(-extent, Math.min(v, extent))) });
    event.preventDefault();
  }

  candidateAt(event, canvas) {
    const { x, y, scale } = pointerIn(event, canvas, this.data.frequency_extent);
    let nearest, distance = 10 * scale;
    for (let m = 0; m < this.N; m++) {
      const d = Math.hypot(this.omega[2 * m] - x, this.omega[2 * m + 1] - y);
      if (d < distance) [nearest, distance] = [m, d];
    }
    return nearest;
  }

  /** The candidate of PBRFF whose rank the pointer is on. */
  rankAt(event, canvas) {
    const share = (event.clientX - canvas.getBoundingClientRect().left - this.frame.left) / (this.frame.right - this.frame.left);
    return share < 0 || share > 1 ? undefined : this.order.pbrff[Math.min(Math.round(this.N ** share), this.N) - 1];
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    const { N, data } = this, beta = this.value("beta"), rho = this.inputs.rho.value;
    if (beta !== this.computed.beta) {
      pseudoPosterior(this.candidateLoss, 1, N, N, beta, data.n, this.Q.pbrff);
      planePosterior(this.prior, this.loss, this.lowest, beta, data.n, this.posterior);
      const most = this.posterior.reduce((a, b) => Math.max(a, b));
      this.planes.posterior.set(this.posterior, 0, most, TABLES.sequential);
      this.summarise("pbrff");
    }
    if (rho !== this.computed.rho) {
      // One row of weights a value of the scale: the slider takes no others.
      const row = Math.round((Number(rho) - Number(this.inputs.rho.min)) / Number(this.inputs.rho.step));
      this.Q.okrff.set(this.optimized.subarray(row * N, (row + 1) * N));
      this.summarise("okrff");
    }
    this.computed = { beta, rho };
  }

  summarise(method) {
    const Q = this.Q[method];
    kernelMap(Q, this.N, this.u, this.v, CELLS, this.maps[method]);
    this.kernels[method].set(this.maps[method], -1, 1, TABLES.similarity);
    this.order[method] = Array.from(Q.keys()).sort((a, b) => Q[b] - Q[a]);
    this.seen = { ...this.seen, [method]: { kl: klDivergence(Q, 0, this.N), ...concentration(Q, this.data.mu) } };
  }

  write() {
    const { seen, N, omegaInFocus } = this;
    for (const [method, name] of [["pbrff", "PBRFF"], ["okrff", "OKRFF"]]) {
      const { kl, effective } = seen[method];
      this.find(`.${method}-words`).textContent =
        `${name}: KL ${kl.toFixed(2)} nats, ${effective < 100 ? effective.toFixed(1) : Math.round(effective)} of ${N} effective`;
    }
    this.find(".posterior-words").textContent = `posterior density at β = ${this.value("beta").toPrecision(3)}`;
    this.find(".data-words").textContent = omegaInFocus ? "data, and the wave of this frequency" : "data";
    this.find(".said").textContent = this.readout();
    this.find(".advice").hidden = Boolean(omegaInFocus);
  }

  readout() {
    const { candidate } = this.focus, omega = this.omegaInFocus;
    if (!omega) {
      const [reached, allowed] = [this.seen.okrff.divergence, this.value("rho") * this.N].map((v) => v.toPrecision(3));
      return `OKRFF is at D_μ(Q‖P) = ${reached}; it may go as far as ρ = ${allowed}.`;
    }
    const { loss } = labelSpectrum(this.X, this.y, ...omega);
    const text = `ω = (${omega.map((v) => v.toFixed(1)).join(", ")}): alignment loss ${loss.toFixed(3)}.`;
    if (candidate === undefined) return text;
    const times = (method) => `${(this.Q[method][candidate] * this.N).toPrecision(3)} ×`;
    return `${text} Of the prior's weight it has ${times("pbrff")} under PBRFF, ${times("okrff")} under OKRFF.`;
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  /** Rings at the frequency in focus and at its mirror image, which is the same cosine; on a kernel, a cross at 0. */
  paintFocus(c, w, extent) {
    if (extent === null) {
      c.strokeStyle = INK;
      c.lineWidth = 1;
      for (const [a, b] of [[5, 0], [0, 5]]) paintLine(c, [[w / 2 - a, w / 2 - b], [w / 2 + a, w / 2 + b]]);
      return;
    }
    if (!this.omegaInFocus) return;
    const [a, b] = this.omegaInFocus;
    for (const sign of [1, -1]) paintRing(c, ...place(sign * a, sign * b, extent, w), 6);
  }

  /** The points, over the wave in focus: shifted to where it agrees with the labels best. */
  paintData(c, w) {
    const extent = this.data.data_extent;
    if (this.omegaInFocus) {
      const [a, b] = this.omegaInFocus, { phase } = labelSpectrum(this.X, this.y, a, b), grid = cellCentres(extent, CELLS);
      const values = new Float32Array(CELLS * CELLS);
      for (let j = 0; j < CELLS; j++) for (let i = 0; i < CELLS; i++) values[j * CELLS + i] = Math.cos(a * grid[i] + b * grid[j] - phase);
      this.wave.set(values, -1.6, 1.6, TABLES.decision); // paler than the points
      this.wave.paint(c, w, w);
    }
    paintPoints(c, w, extent, this.X, this.y, 2.8);
  }

  /** The candidates; a weight is the area of a dot. */
  paintDots(c, w, method) {
    const { N, omega } = this, Q = this.Q[method], extent = this.data.frequency_extent;
    const heaviest = Math.sqrt(Q[this.order[method][0]] * N), unit = Math.min(1.5, 13 / heaviest);
    const light = this.order[method].slice().reverse(); // the heavy ones on top
    for (const m of light) {
      const radius = unit * Math.sqrt(Q[m] * N), dust = radius < 0.4;
      const [x, y] = place(omega[2 * m], omega[2 * m + 1], extent, w);
      if (x < 0 || y < 0 || x > w || y > w) continue;
      c.globalAlpha = dust ? 0.35 : 0.7;
      c.fillStyle = dust ? "#8C8C8C" : PALETTE.methods[method];
      if (dust) c.fillRect(x - 0.7, y - 0.7, 1.4, 1.4);
      else {
        c.beginPath();
        c.arc(x, y, Math.max(radius, 0.8), 0, 2 * Math.PI);
        c.fill();
      }
    }
    c.globalAlpha = 1;
    this.paintFocus(c, w, extent);
  }

  paintRanks(c, w, h) {
    const { N } = this, top = Math.log10(N), powers = (low, high) =>
      Array.from({ length: Math.floor(high) - low + 1 }, (_, k) => [low + k, `${10 ** (low + k)}`]);
    this.frame = paintChart(c, w, h, {
      x: { low: 0, high: top, ticks: powers(0, top) },
      y: { low: LOWEST_WEIGHT, high: top + 0.1, ticks: powers(LOWEST_WEIGHT, top).filter((_, k) => k % 2 === 0) },
      xTitle: "candidates", yTitle: "", ink: this.ink, size: 0.75 * this.rem,
      inside: (px, py) => {
        for (const method of METHODS) {
          const points = [];
          for (let k = 0; k < 200; k++) {
            const rank = Math.round(N ** (k / 199)), weight = Math.log10(this.Q[method][this.order[method][rank - 1]] * N);
            points.push([px(Math.log10(rank)), py(Math.max(weight, LOWEST_WEIGHT - 1))]);
          }
          c.strokeStyle = PALETTE.methods[method];
          c.lineWidth = 2.5;
          c.setLineDash(DASHES[METHOD_DASHES[method]]);
          paintLine(c, points);
        }
        c.setLineDash([]);
        const rank = this.focus.candidate === undefined ? -1 : this.order.pbrff.indexOf(this.focus.candidate);
        if (rank >= 0) {
          const weight = Math.log10(this.Q.pbrff[this.focus.candidate] * N);
          paintRing(c, px(Math.log10(rank + 1)), py(Math.max(weight, LOWEST_WEIGHT)), 5);
        }
      },
    });
  }
}

export default mounting(LiveKernel);
