// The live Landmarks view: prior and learned maps, decisions, points and spectral weights, all under one beta and D.

const GRID = 100;
const BLUE = "#2C6FB3", RED = "#C8372D";
const STARS = ["#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#9A7B4F", "#F0E442", "#8C8C8C", "#7A5CD6"];
const SIMILARITY = colourTable([[0, "#40004b"], [0.1, "#762a83"], [0.2, "#9970ab"], [0.3, "#c2a5cf"],
  [0.4, "#e7d4e8"], [0.5, "#f7f7f7"], [0.6, "#d9f0d3"], [0.7, "#a6dba0"], [0.8, "#5aae61"], [0.9, "#1b7837"],
  [1, "#00441b"]]);
const DECISION = colourTable([[0, BLUE], [0.5, "#F4F1EE"], [1, RED]]);
const WEIGHTS = colourTable([[0, "#440154"], [0.25, "#3b528b"], [0.5, "#21918c"], [0.75, "#5ec962"], [1, "#fde725"]]);

class LiveLandmarks {
  constructor(root) {
    const find = (selector) => root.querySelector(selector);
    Object.assign(this, { root, find, maps: find(".maps"), beta: find("input[name=beta]"), D: find("input[name=D]") });
    this.pointsTile = new Tile(find("canvas.points"), GRID);
    this.priorTile = new Tile(find("canvas.prior"), GRID);
    this.learnedTile = new Tile(find("canvas.learned"), GRID);
    this.weights = find("canvas.weights");
    this.focus = {}; // what the pointer is on: landmark, frequency, point
    this.latencies = []; // milliseconds from an input event to its drawn frame
    this.listen();
    new ResizeObserver(() => this.request()).observe(root);
  }

  /** New data, or settings changed elsewhere. */
  update(data, report) {
    this.report = report;
    if (data.version !== this.data?.version) this.receive(data);
    if (!this.held && !this.playing) {
      this.beta.value = Math.log10(data.beta);
      this.D.value = data.D;
    }
    this.request();
  }

  receive(data) {
    this.data = data;
    const array = (name, Type) => new Type(Uint8Array.from(atob(data[name]), (c) => c.charCodeAt(0)).buffer);
    Object.assign(this, {
      omega: array("omega", Float32Array), loss: array("loss", Float64Array), landmarks: array("landmarks", Float32Array),
      points: array("points", Float32Array), labels: array("labels", Int8Array),
      fresh: array("fresh", Float32Array), freshLabels: array("fresh_labels", Int8Array),
      priorMaps: array("prior_maps", Uint8Array), priorDecision: array("prior_decision", Float32Array),
    });
    const L = (this.L = data.rows.length), most = (this.most = data.most);
    const n = (this.n = this.labels.length), m = this.freshLabels.length;
    this.extent = data.extent;
    this.grid = Float64Array.from({ length: GRID }, (_, i) => this.extent * ((2 * (i + 0.5)) / GRID - 1));
    this.Q = new Float64Array(L * most);
    this.learnedMaps = Array.from({ length: L }, () => new Float32Array(GRID * GRID));
    this.decision = new Float32Array(GRID * GRID);
    this.cosine = new Float32Array(GRID * GRID);
    this.svm = new Float64Array(L + 1);
    this.psi = new Float64Array(n * L);
    this.freshPsi = new Float64Array(m * L);
    this.scratch = new Float64Array(Math.max(n, m));
    this.u = [];
    this.v = [];
    this.table = [];
    this.freshTable = [];
    for (let l = 0; l < L; l++) {
      const at = 2 * l * most, x = this.landmarks[2 * l], y = this.landmarks[2 * l + 1];
      this.u.push(waves(this.omega, at, most, x, 0, this.grid));
      this.v.push(waves(this.omega, at, most, y, 1, this.grid));
      this.table.push(cosineTable(this.omega, at, most, x, y, this.points));
      this.freshTable.push(cosineTable(this.omega, at, most, x, y, this.fresh));
    }
    this.D.max = most;
    this.focus = {};
    this.lay();
  }

  /** One canvas a landmark and row. */
  lay() {
    if (this.tiles?.length === 2 * this.L) return;
    this.maps.style.setProperty("--columns", this.L);
    this.maps.replaceChildren();
    this.tiles = [];
    for (const row of ["prior", "learned"]) {
      const name = this.maps.appendChild(document.createElement("div"));
      name.className = "row-name";
      name.textContent = row;
      for (let l = 0; l < this.L; l++) {
        const canvas = this.maps.appendChild(document.createElement("canvas"));
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", `${row} similarity to landmark ${l + 1}`);
        canvas.onpointerenter = () => this.look({ landmark: l });
        canvas.onpointerleave = () => this.look({});
        this.tiles.push(new Tile(canvas, GRID));
      }
    }
  }

  // --- input --------------------------------------------------------------------------------------------------------

  listen() {
    for (const input of [this.beta, this.D]) {
      input.oninput = (event) => {
        this.held = true;
        this.asked ??= event.timeStamp;
        this.request();
      };
      input.onchange = () => this.settle();
    }
    this.find(".play").onclick = () => (this.playing ? this.stop() : this.play());
    const points = this.pointsTile.canvas;
    points.onpointermove = (event) => this.look({ point: this.pointAt(event) });
    points.onpointerleave = () => this.look({});
    points.onclick = (event) => this.click(event);
    this.weights.onpointermove = (event) => this.look(this.weightAt(event));
    this.weights.onpointerleave = () => this.look({});
  }

  /** Tell the server where the sliders have come to rest. */
  settle() {
    this.held = false;
    this.report("settled", { beta: 10 ** Number(this.beta.value), D: Number(this.D.value) });
  }

  play() {
    const slow = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = slow ? 0.5 : 0.03;
    if (Number(this.beta.value) >= 3) this.beta.value = -3;
    this.find(".play").textContent = "❚❚";
    const tick = () => {
      this.beta.value = Math.min(Number(this.beta.value) + step, 3);
      this.request();
      if (Number(this.beta.value) >= 3) this.stop();
    };
    this.playing = setInterval(tick, slow ? 1000 : 40);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.find(".play").textContent = "▶";
    this.settle();
  }

  look(focus) {
    if (JSON.stringify(focus) === JSON.stringify(this.focus)) return;
    this.focus = focus;
    this.request();
  }

  /** The row of the training points under the pointer, a star's before a point's. */
  pointAt(event) {
    const box = this.pointsTile.canvas.getBoundingClientRect(), scale = (2 * this.extent) / box.width;
    const x = (event.clientX - box.left) * scale - this.extent, y = this.extent - (event.clientY - box.top) * scale;
    for (let l = 0; l < this.L; l++) {
      const row = this.data.rows[l];
      if (row >= 0 && Math.hypot(this.landmarks[2 * l] - x, this.landmarks[2 * l + 1] - y) < 12 * scale) return row;
    }
    let nearest = -1, distance = 10 * scale;
    for (let j = 0; j < this.n; j++) {
      const d = Math.hypot(this.points[2 * j] - x, this.points[2 * j + 1] - y);
      if (d < distance) [nearest, distance] = [j, d];
    }
    return nearest < 0 ? undefined : nearest;
  }

  weightAt(event) {
    const box = this.weights.getBoundingClientRect(), D = Number(this.D.value);
    const landmark = Math.floor(((event.clientY - box.top) / box.height) * this.L);
    const frequency = Math.floor(((event.clientX - box.left) / box.width) * D);
    return landmark >= 0 && landmark < this.L && frequency >= 0 && frequency < D ? { landmark, frequency } : {};
  }

  click(event) {
    const row = this.pointAt(event);
    if (row !== undefined) this.report("clicked", row);
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  request() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      if (!this.data) return;
      this.compute();
      this.draw();
      if (this.asked !== undefined) {
        this.latencies.push(performance.now() - this.asked);
        this.asked = undefined;
      }
    });
  }

  compute() {
    const { L, most, n, Q } = this, D = Number(this.D.value), beta = 10 ** Number(this.beta.value);
    if (this.computed === `${this.data.version} ${beta} ${D}`) return;
    pseudoPosterior(this.loss, L, most, D, beta, n, Q);
    this.decision.fill(0);
    for (let l = 0; l < L; l++) {
      similarityMap(Q, l * most, D, this.u[l], this.v[l], GRID, this.learnedMaps[l]);
      similarities(Q, l * most, D, this.table[l], n, this.psi, l, L, this.scratch);
      similarities(Q, l * most, D, this.freshTable[l], this.freshLabels.length, this.freshPsi, l, L, this.scratch);
    }
    linearSvm(this.psi, this.labels, n, L, this.data.C, this.svm);
    for (let l = 0; l < L; l++) {
      const map = this.learnedMaps[l], w = this.svm[l];
      for (let i = 0; i < map.length; i++) this.decision[i] += w * map[i];
    }
    for (let i = 0; i < this.decision.length; i++) this.decision[i] += this.svm[L];
    this.trainError = errorRate(this.psi, this.labels, n, L, this.svm);
    this.testError = errorRate(this.freshPsi, this.freshLabels, this.freshLabels.length, L, this.svm);
    this.computed = `${this.data.version} ${beta} ${D}`;
  }

  draw() {
    const { L } = this, D = Number(this.D.value), beta = 10 ** Number(this.beta.value), percent = (v) => `${(100 * v).toFixed(1)} %`;
    this.find(".beta-value").textContent = beta.toPrecision(3);
    this.find(".D-value").textContent = D;
    for (const [k, tile] of this.tiles.entries()) {
      const l = k % L, prior = k < L;
      tile.fit();
      if (prior) tile.values(this.priorMaps.subarray(l * GRID * GRID, (l + 1) * GRID * GRID), 0, 255, SIMILARITY);
      else tile.values(this.shownMap(l), -1, 1, SIMILARITY);
      this.drawPoints(tile, Math.min(1.6, tile.canvas.clientWidth * 0.012), 100);
      this.drawStar(tile, l, Math.min(10, tile.canvas.clientWidth * 0.08));
      tile.canvas.classList.toggle("on", this.focus.landmark === l);
    }
    this.pointsTile.fit();
    this.pointsTile.context.clearRect(0, 0, this.pointsTile.canvas.width, this.pointsTile.canvas.height);
    this.drawPoints(this.pointsTile, 4, this.n);
    for (const [tile, values] of [[this.priorTile, this.priorDecision], [this.learnedTile, this.decision]]) {
      tile.fit();
      tile.values(values, -1, 1, DECISION);
      tile.boundary(values);
      this.drawPoints(tile, 2.6, this.n);
    }
    for (const tile of [this.pointsTile, this.priorTile, this.learnedTile]) for (let l = 0; l < L; l++) this.drawStar(tile, l, 12);
    const { prior_train: train, prior_test: test } = this.data;
    this.find(".prior-errors").textContent = `prior: train error ${percent(train)}, test error ${percent(test)}`;
    this.find(".learned-errors").textContent =
      `learned: train error ${percent(this.trainError)}, test error ${percent(this.testError)}`;
    this.drawWeights(D);
  }

  /** A landmark's learned map, or the one cosine that the pointer is on. */
  shownMap(l) {
    const { landmark, frequency } = this.focus;
    if (landmark !== l || frequency === undefined) return this.learnedMaps[l];
    const one = new Float64Array(this.most);
    one[this.order(l)[frequency]] = 1;
    return similarityMap(one, 0, this.most, this.u[l], this.v[l], GRID, this.cosine);
  }

  /** The first D frequencies of a landmark, slow to fast. */
  order(l) {
    const D = Number(this.D.value), speed = (m) => Math.hypot(...this.omega.subarray(2 * (l * this.most + m), 2 * (l * this.most + m) + 2));
    return Array.from({ length: D }, (_, m) => m).sort((a, b) => speed(a) - speed(b));
  }

  drawWeights(D) {
    const { L, most, Q, weights } = this, ratio = window.devicePixelRatio || 1;
    weights.width = Math.max(1, Math.round(weights.clientWidth * ratio));
    weights.height = Math.max(1, Math.round(weights.clientHeight * ratio));
    const small = Object.assign(document.createElement("canvas"), { width: D, height: L }), context = small.getContext("2d");
    const image = context.createImageData(D, L), pixels = new Uint32Array(image.data.buffer);
    let top = 2;
    for (let i = 0; i < Q.length; i++) top = Math.max(top, Q[i] * D);
    for (let l = 0; l < L; l++) {
      for (const [k, m] of this.order(l).entries()) pixels[l * D + k] = WEIGHTS[Math.round((255 * Q[l * most + m] * D) / top)];
    }
    context.putImageData(image, 0, 0);
    const to = weights.getContext("2d");
    to.imageSmoothingEnabled = false;
    to.drawImage(small, 0, 0, weights.width, weights.height);
    const { landmark, frequency } = this.focus;
    if (landmark !== undefined) {
      const h = weights.height / L, w = weights.width / D;
      to.strokeStyle = "#fff";
      to.lineWidth = 2 * ratio;
      if (frequency === undefined) to.strokeRect(0, landmark * h, weights.width, h);
      else to.strokeRect(frequency * w, landmark * h, w, h);
    }
    const kl = Array.from({ length: L }, (_, l) => klDivergence(Q, l * most, D).toFixed(2)).join(", ");
    this.find(".weights-caption").textContent =
      `spectral weights, one row a landmark, slow to fast frequencies; brightest = ${top.toPrecision(3)} × the prior's. KL: ${kl} nats`;
  }

  drawPoints(tile, radius, count) {
    const ratio = window.devicePixelRatio || 1;
    for (let j = 0; j < Math.min(count, this.n); j++) {
      const [x, y] = tile.place(this.points[2 * j], this.points[2 * j + 1], this.extent);
      tile.dot(x, y, radius * ratio, this.labels[j] > 0 ? RED : BLUE, this.labels[j] > 0);
    }
    if (this.focus.point !== undefined) {
      const j = this.focus.point, c = tile.context;
      const [x, y] = tile.place(this.points[2 * j], this.points[2 * j + 1], this.extent);
      c.beginPath();
      c.arc(x, y, (radius + 4) * ratio, 0, 2 * Math.PI);
      c.strokeStyle = "#111";
      c.lineWidth = 2.5 * ratio;
      c.stroke();
    }
  }

  drawStar(tile, l, radius) {
    const [x, y] = tile.place(this.landmarks[2 * l], this.landmarks[2 * l + 1], this.extent);
    tile.star(x, y, radius * (window.devicePixelRatio || 1), STARS[l % STARS.length], l + 1);
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".live");
  root.view ??= new LiveLandmarks(root);
  root.view.update(component.data, (name, value) =>
    name === "clicked" ? component.setTriggerValue(name, value) : component.setStateValue(name, value));
}
