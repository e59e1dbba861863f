// The live Landmarks view: prior and learned maps, decisions, points and spectral weights, all under one beta and D.

class LiveLandmarks extends LiveView {
  constructor(root) {
    super(root);
    this.maps = this.find(".maps");
    this.points = this.panel("canvas.points", (c, w) => this.paintData(c, w, 4));
    this.decisions = ["prior", "learned"].map((name) => {
      const raster = new Raster(GRID);
      this.panel(`canvas.${name}`, (c, w) => {
        raster.paint(c, w, w);
        paintBoundary(c, w, name === "prior" ? this.priorDecision : this.decision, GRID);
        this.paintData(c, w, 2.6);
      });
      return raster;
    });
    this.weights = this.panel("canvas.weights", (c, w, h) => this.paintWeights(c, w, h));
    this.fixed = this.panels.length;
    this.listen();
  }

  receive(data) {
    Object.assign(this, {
      omega: this.array("omega", Float32Array), loss: this.array("loss", Float64Array),
      landmarks: this.array("landmarks", Float32Array), X: this.array("points", Float32Array),
      y: this.array("labels", Int8Array), fresh: this.array("fresh", Float32Array),
      freshY: this.array("fresh_labels", Int8Array), priorMaps: this.array("prior_maps", Uint8Array),
      priorDecision: this.array("prior_decision", Float32Array), extent: data.extent,
    });
    const L = (this.L = data.rows.length), most = (this.most = data.most), n = (this.n = this.y.length);
    const m = this.freshY.length, grid = cellCentres(this.extent, GRID);
    this.Q = new Float64Array(L * most);
    this.learnedMaps = Array.from({ length: L }, () => new Float32Array(GRID * GRID));
    this.decision = new Float32Array(GRID * GRID);
    this.cosine = new Float32Array(GRID * GRID);
    this.svm = new Float64Array(L + 1);
    this.psi = new Float64Array(n * L);
    this.freshPsi = new Float64Array(m * L);
    this.scratch = new Float64Array(Math.max(n, m));
    Object.assign(this, { u: [], v: [], table: [], freshTable: [], slowest: [] });
    for (let l = 0; l < L; l++) {
      const at = 2 * l * most, x = this.landmarks[2 * l], y = this.landmarks[2 * l + 1];
      this.u.push(waves(this.omega, at, most, x, 0, grid));
      this.v.push(waves(this.omega, at, most, y, 1, grid));
      this.table.push(cosineTable(this.omega, at, most, x, y, this.X));
      this.freshTable.push(cosineTable(this.omega, at, most, x, y, this.fresh));
      const speed = (m) => Math.hypot(this.omega[at + 2 * m], this.omega[at + 2 * m + 1]);
      this.slowest.push(Array.from({ length: most }, (_, m) => m).sort((a, b) => speed(a) - speed(b)));
    }
    this.inputs.D.max = most;
    this.invite(data.clickable);
    this.computed = null;
    this.lay();
    this.decisions[0].set(this.priorDecision, -1, 1, TABLES.decision);
    for (let l = 0; l < L; l++) {
      this.tiles[l].set(this.priorMaps.subarray(l * GRID * GRID, (l + 1) * GRID * GRID), 0, 255, TABLES.similarity);
    }
  }

  /** Says what a point is good for: it may become a landmark, or is there to be looked at. */
  invite(clickable) {
    const { canvas } = this.points;
    this.find(".points-words .advice").hidden = !clickable;
    canvas.style.cursor = clickable ? "pointer" : "default";
    canvas.setAttribute("aria-label", `Training points and landmarks. ${clickable
      ? "Click a point to make it a landmark, a star to remove it; or go from point to point with the arrow keys and press Enter."
      : "Go from point to point with the arrow keys to see how similar the landmarks are to it."}`);
  }

  /** One canvas a landmark and row. */
  lay() {
    if (this.tiles?.length === 2 * this.L) return;
    this.maps.style.setProperty("--columns", this.L);
    this.maps.replaceChildren();
    this.panels.length = this.fixed;
    this.tiles = [];
    for (const row of ["prior", "learned"]) {
      const name = this.maps.appendChild(document.createElement("div"));
      name.className = "row-name";
      name.dataset.words = "";
      name.textContent = row;
      for (let l = 0; l < this.L; l++) {
        const canvas = this.maps.appendChild(document.createElement("canvas")), raster = new Raster(GRID);
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", `${row} similarity to landmark ${l + 1}`);
        canvas.onpointerenter = () => this.look({ landmark: l });
        canvas.onpointerleave = () => this.look({});
        this.panel(canvas, (c, w) => {
          raster.paint(c, w, w);
          paintPoints(c, w, this.extent, this.X, this.y, Math.min(1.6, w * 0.012), 100);
          this.paintFocus(c, w, 5);
          paintStar(c, ...place(this.landmarks[2 * l], this.landmarks[2 * l + 1], this.extent, w), Math.min(10, w * 0.08), l);
        });
        this.tiles.push(raster);
      }
    }
  }

  // --- input --------------------------------------------------------------------------------------------------------

  listen() {
    const points = this.points.canvas, weights = this.weights.canvas;
    points.onpointermove = (event) => this.look({ point: this.pointAt(event) });
    points.onpointerleave = () => this.look({});
    points.onclick = (event) => this.click(this.pointAt(event));
    points.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) this.look({ point: this.nextPoint(step) });
      else if (event.key === "Enter" || event.key === " ") this.click(this.focus.point);
      else return;
      event.preventDefault();
    };
    weights.onpointermove = (event) => this.look(this.weightAt(event));
    weights.onpointerleave = () => this.look({});
    weights.onkeydown = (event) => {
      const [down, right] = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key] ?? [];
      if (down === undefined) return;
      const { landmark = 0, frequency = 0 } = this.focus, wrap = (value, size) => (value + size) % size;
      this.look({ landmark: wrap(landmark + down, this.L), frequency: wrap(frequency + right, this.value("D")) });
      event.preventDefault();
    };
    points.onblur = weights.onblur = () => this.look({});
  }

  /** The training point after the one in focus, from left to right. */
  nextPoint(step) {
    const order = Array.from({ length: this.n }, (_, j) => j).sort((a, b) => this.X[2 * a] - this.X[2 * b]);
    const at = order.indexOf(this.focus.point);
    return order[at < 0 ? 0 : (at + step + this.n) % this.n];
  }

  /** The row of the training points under the pointer, a star's before a point's. */
  pointAt(event) {
    const { x, y, scale } = pointerIn(event, this.points.canvas, this.extent);
    for (let l = 0; l < this.L; l++) {
      const row = this.data.rows[l];
      if (row >= 0 && Math.hypot(this.landmarks[2 * l] - x, this.landmarks[2 * l + 1] - y) < 12 * scale) return row;
    }
    let nearest, distance = 10 * scale;
    for (let j = 0; j < this.n; j++) {
      const d = Math.hypot(this.X[2 * j] - x, this.X[2 * j + 1] - y);
      if (d < distance) [nearest, distance] = [j, d];
    }
    return nearest;
  }

  weightAt(event) {
    const box = this.weights.canvas.getBoundingClientRect(), D = this.value("D");
    const landmark = Math.floor(((event.clientY - box.top) / box.height) * this.L);
    const frequency = Math.floor(((event.clientX - box.left) / box.width) * D);
    return landmark >= 0 && landmark < this.L && frequency >= 0 && frequency < D ? { landmark, frequency } : {};
  }

  click(row) {
    if (row !== undefined && this.data.clickable) this.report("clicked", row);
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  compute() {
    const { L, most, n, Q } = this, D = this.value("D"), beta = this.value("beta");
    if (this.computed !== `${beta} ${D}`) {
      pseudoPosterior(this.loss, L, most, D, beta, n, Q);
      this.decision.fill(0);
      for (let l = 0; l < L; l++) {
        similarityMap(Q, l * most, D, this.u[l], this.v[l], GRID, this.learnedMaps[l]);
        similarities(Q, l * most, D, this.table[l], n, this.psi, l, L, this.scratch);
        similarities(Q, l * most, D, this.freshTable[l], this.freshY.length, this.freshPsi, l, L, this.scratch);
      }
      linearSvm(this.psi, this.y, n, L, this.data.C, this.svm);
      for (let l = 0; l < L; l++) {
        const map = this.learnedMaps[l], w = this.svm[l];
        for (let i = 0; i < map.length; i++) this.decision[i] += w * map[i];
      }
      for (let i = 0; i < this.decision.length; i++) this.decision[i] += this.svm[L];
      this.trainError = errorRate(this.psi, this.y, n, L, this.svm);
      this.testError = errorRate(this.freshPsi, this.freshY, this.freshY.length, L, this.svm);
      this.computed = `${beta} ${D}`;
    }
    this.decisions[1].set(this.decision, -1, 1, TABLES.decision);
    for (let l = 0; l < L; l++) this.tiles[L + l].set(this.shownMap(l), -1, 1, TABLES.similarity);
  }

  /** A landmark's learned map, or the one cosine that is in focus. */
  shownMap(l) {
    const { landmark, frequency } = this.focus;
    if (landmark !== l || frequency === undefined) return this.learnedMaps[l];
    const one = new Float64Array(this.most);
    one[this.order(l)[frequency]] = 1;
    return similarityMap(one, 0, this.most, this.u[l], this.v[l], GRID, this.cosine);
  }

  /** The first D frequencies of a landmark, slow to fast. */
  order(l) {
    const D = this.value("D");
    return this.slowest[l].filter((m) => m < D);
  }

  write() {
    const { L, most, Q } = this, D = this.value("D"), percent = (v) => `${(100 * v).toFixed(1)} %`;
    const { prior_train: train, prior_test: test } = this.data;
    this.find(".prior-errors").textContent = `prior: train error ${percent(train)}, test error ${percent(test)}`;
    this.find(".learned-errors").textContent =
      `learned: train error ${percent(this.trainError)}, test error ${percent(this.testError)}`;
    this.top = 2;
    for (let i = 0; i < Q.length; i++) this.top = Math.max(this.top, Q[i] * D);
    const kl = Array.from({ length: L }, (_, l) => klDivergence(Q, l * most, D).toFixed(2)).join(", ");
    this.find(".weights-caption").textContent =
      `spectral weights, one row a landmark, slow to fast frequencies; colours from 0 to ${this.top.toPrecision(3)} × the prior's weight. KL: ${kl} nats`;
    for (const [k, canvas] of this.maps.querySelectorAll("canvas").entries()) {
      canvas.classList.toggle("on", this.focus.landmark === k % L);
    }
  }

  paintData(c, w, radius) {
    paintPoints(c, w, this.extent, this.X, this.y, radius);
    this.paintFocus(c, w, radius + 4);
    for (let l = 0; l < this.L; l++) {
      paintStar(c, ...place(this.landmarks[2 * l], this.landmarks[2 * l + 1], this.extent, w), 12, l);
    }
  }

  paintFocus(c, w, radius) {
    const j = this.focus.point;
    if (j !== undefined) paintRing(c, ...place(this.X[2 * j], this.X[2 * j + 1], this.extent, w), radius);
  }

  paintWeights(c, w, h) {
    const { L, most, Q } = this, D = this.value("D"), { landmark, frequency } = this.focus;
    if (this.heat?.columns !== D || this.heat.rows !== L) this.heat = new Raster(D, L);
    const shown = new Float64Array(L * D);
    for (let l = 0; l < L; l++) {
      for (const [k, m] of this.order(l).entries()) shown[(L - 1 - l) * D + k] = Q[l * most + m] * D;
    }
    this.heat.set(shown, 0, this.top, TABLES.sequential);
    this.heat.paint(c, w, h, false);
    if (landmark === undefined) return;
    const row = h / L, cell = w / D;
    c.strokeStyle = "#fff";
    c.lineWidth = 2;
    if (frequency === undefined) c.strokeRect(1, landmark * row + 1, w - 2, row - 2);
    else c.strokeRect(frequency * cell, landmark * row, cell, row);
  }
}

export default mounting(LiveLandmarks);
