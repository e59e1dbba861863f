// The live view of a descent: frequencies on their way to the points, the errors that fall meanwhile, and one step of it.

const KEPT_A_SECOND = 11; // kept steps that go by while it plays
const JUMPS = 8; // from the first to the last, one a second, where motion is to be reduced
const WAKE = 6; // kept steps that the bright end of a trail reaches back
const EVEN_DOT = 5.5, LARGEST_DOT = 13; // radii in pixels: of weight 1/r, and of the largest there may be
const LOWEST_ERROR = -6; // power of ten at which the axis ends

/** Values at a share of the way from a row to the next one. */
function between(values, row, next, share, size, out) {
  for (let i = 0; i < size; i++) out[i] = (1 - share) * values[row * size + i] + share * values[next * size + i];
  return out;
}

/** The widest of 1, 2, 5, 10, ... of which at least `count` fit into a length. */
function roundStep(length, count) {
  const most = length / count, power = 10 ** Math.floor(Math.log10(most));
  return power * [5, 2, 1].find((lead) => lead * power <= most);
}

const signed = (value, digits) => value.toFixed(digits).replace("-", "−");
/** An error in three digits, as the words below the picture have it. */
const short = (error) => (error < 1e-4 ? error.toExponential(2).replace("-", "−") : error.toPrecision(3));

class LiveDescent extends LiveView {
  constructor(root) {
    super(root);
    const slider = (this.slider = this.inputs.step);
    this.plane = this.panel("canvas.frequencies", (c, w, h) => this.paintPlane(c, w, h)).canvas;
    this.draggable(this.panel("canvas.errors", (c, w, h) => this.paintErrors(c, w, h)).canvas, (share) => this.stepTo(share));
    for (const swatch of root.querySelectorAll("canvas.swatch")) {
      this.panel(swatch, (c, w, h) => paintSwatch(c, w, h, ...this.line(swatch.dataset.line)));
    }
    // Before the slider moves: a hand on it ends what plays.
    slider.onpointerdown = () => this.playing && this.stop();
    slider.onkeydown = (event) => this.playing && /^(Arrow|Page|Home|End)/.test(event.key) && this.stop();
    this.plane.onpointermove = (event) => this.look(this.dotAt(event));
    this.plane.onpointerleave = this.plane.onblur = () => this.look({});
    this.plane.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const at = this.order.indexOf(this.focus.frequency);
      this.look({ frequency: this.order[at < 0 ? 0 : (at + step + this.r) % this.r] });
      event.preventDefault();
    };
  }

  receive(data) {
    if (this.playing) this.stop();
    const atEnd = this.last > 0 && Number(this.slider.value) >= this.last;
    Object.assign(this, {
      steps: this.array("steps", Uint16Array), omega: this.array("frequencies", Float32Array),
      weights: this.array("weights", Float32Array), errors: this.array("errors", Float32Array),
      landmarkErrors: this.array("landmark_errors", Float32Array),
    });
    const r = (this.r = this.weights.length / this.steps.length), heaviest = this.weights.reduce((a, b) => Math.max(a, b));
    this.last = this.steps.length - 1;
    // One scale for all steps: a dot that grows has gained weight.
    this.unit = Math.min(EVEN_DOT, LARGEST_DOT / Math.sqrt(heaviest * r));
    this.dots = { omega: new Float32Array(2 * r), weight: new Float32Array(r), spots: [] };
    this.slider.max = this.last;
    if (atEnd) this.slider.value = this.last; // the end of one descent beside the end of another
    this.find(".drawn-words").textContent = `as drawn: ${short(data.drawn_error)}`;
  }

  line(name) {
    return [this.data.colours[name], { all: "solid", landmarks: "dash", drawn: "dot" }[name]];
  }

  // --- the step -----------------------------------------------------------------------------------------------------

  /** Only what is kept is a step of the descent: between two of them is nothing but the way from one to the other. */
  value() {
    return this.steps[Math.round(Number(this.slider.value))];
  }

  text() {
    return `${this.value()} of ${this.steps[this.last]}`;
  }

  said() {
    const [all, landmarks] = this.shown.errors.map(short);
    return `${this.text()}: error ${all} over all points, ${landmarks} at the landmarks`;
  }

  /** The kept step nearest to a place on the chart, whose axis is in steps. */
  stepTo(share) {
    if (this.playing) this.stop();
    const step = this.axis.low + share * (this.axis.high - this.axis.low);
    this.slider.value = this.steps.reduce((best, kept, k) =>
      Math.abs(kept - step) < Math.abs(this.steps[best] - step) ? k : best, 0);
  }

  /** Nothing else depends on the step, so the server is not told. */
  settle() {
    clearTimeout(this.resting);
    this.held = false;
  }

  play() {
    const { slider, last } = this, jump = CALM.matches ? Math.ceil(last / JUMPS) : 0;
    if (Number(slider.value) >= last) slider.value = 0;
    if (!jump) slider.step = "any";
    this.mark(true);
    let before;
    const frame = (now) => {
      const passed = now - (before ??= now);
      if (!jump || passed >= 1000) {
        before = now;
        // A page that was out of sight goes on where it was.
        slider.value = Number(slider.value) + (jump || (KEPT_A_SECOND * Math.min(passed, 100)) / 1000);
        if (Number(slider.value) >= last) return this.stop();
        this.request(); // before the next turn is asked for: the other way about, every other frame would be drawn
      }
      this.playing = requestAnimationFrame(frame);
    };
    this.playing = requestAnimationFrame(frame);
  }

  stop() {
    cancelAnimationFrame(this.playing);
    this.playing = null;
    this.slider.value = Math.round(Number(this.slider.value));
    this.slider.step = 1;
    this.mark(false);
    this.settle();
    this.request();
  }

  mark(playing) {
    this.find(".play").textContent = playing ? "❚❚ Stop" : "▶ Play";
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    const { dots, r, last, steps, errors } = this, at = Number(this.slider.value);
    const k = Math.min(Math.floor(at), last), next = Math.min(k + 1, last), share = at - k;
    between(this.omega, k, next, share, 2 * r, dots.omega);
    between(this.weights, k, next, share, r, dots.weight);
    this.order = Array.from(dots.weight.keys()).sort((a, b) => dots.weight[b] - dots.weight[a]);
    const step = (1 - share) * steps[k] + share * steps[next], s = Math.floor(step), t = Math.min(s + 1, steps[last]);
    const along = (from, to, part) => from ** (1 - part) * to ** part; // where the line is on the logarithmic axis
    this.kept = k;
    this.shown = {
      step,
      errors: [along(errors[k], errors[next], share), along(this.landmarkErrors[s], this.landmarkErrors[t], step - s)],
    };
  }

  write() {
    const { extent } = this.data, { omega, weight } = this.dots, [all, landmarks] = this.shown.errors;
    const beyond = omega.filter((v, i) => i % 2 === 0 && Math.max(Math.abs(v), Math.abs(omega[i + 1])) > extent).length;
    this.find(".plane-words").textContent =
      `${this.r} frequencies: ○ as drawn, ● at step ${this.value()}, area their weight${beyond ? `; ${beyond} beyond the axes` : ""}`;
    this.find(".all-words").textContent = `over all points: ${short(all)}`;
    this.find(".landmarks-words").textContent = `at the landmarks: ${short(landmarks)}`;
    const { frequency: j } = this.focus, place = (values) => `(${signed(values[2 * j], 2)}, ${signed(values[2 * j + 1], 2)})`;
    this.find(".advice").hidden = j !== undefined;
    this.find(".said").textContent = j === undefined
      ? ""
      : `ω = ${place(omega)}, weight ${weight[j].toFixed(4)}, which is ${(weight[j] * this.r).toPrecision(3)} × 1/r. ` +
        `Drawn at ${place(this.omega)}; its best weight there is ${this.weights[j].toFixed(4)}.`;
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  dotAt(event) {
    const box = this.plane.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let nearest, distance = 14;
    for (const [j, spot] of this.dots.spots.entries()) {
      const d = Math.hypot(spot[0] - x, spot[1] - y);
      if (d < distance) [nearest, distance] = [j, d];
    }
    return nearest === undefined ? {} : { frequency: nearest };
  }

  paintPlane(c, w, h) {
    const size = 0.8 * this.rem, { extent } = this.data, tick = roundStep(extent, 2), ticks = [];
    for (let k = -Math.floor(extent / tick); k * tick <= extent; k++) ticks.push([k * tick, String(Number((k * tick).toPrecision(3))).replace("-", "−")]);
    paintChart(c, w, h, {
      x: { low: -extent, high: extent, ticks }, y: { low: -extent, high: extent, ticks },
      xTitle: "ω₁", yTitle: "ω₂", ink: this.ink, size,
      inside: (px, py) => {
        const { omega, weight } = this.dots, { colours } = this.data, scale = this.rem / 15;
        this.dots.spots = this.order.map(() => []);
        for (let j = 0; j < this.r; j++) this.dots.spots[j] = [px(omega[2 * j]), py(omega[2 * j + 1])];
        for (let j = 0; j < this.r; j++) this.paintTrail(c, j, px, py, scale);
        for (const j of this.order) {
          const radius = scale * this.unit * Math.sqrt(weight[j] * this.r), dust = radius < 1.2 * scale;
          c.beginPath();
          c.arc(...this.dots.spots[j], dust ? 1.2 * scale : radius, 0, 2 * Math.PI);
          c.globalAlpha = 0.8;
          c.fillStyle = dust ? colours.start : colours.all;
          c.fill();
          c.globalAlpha = 1;
          Object.assign(c, { strokeStyle: "white", lineWidth: 0.7 * scale });
          c.stroke();
        }
        const { frequency: j } = this.focus;
        if (j === undefined) return;
        paintRing(c, ...this.dots.spots[j], scale * Math.max(this.unit * Math.sqrt(weight[j] * this.r) + 3, 6));
      },
    });
  }

  /** A frequency's way so far: a ring where it was drawn, a faint line, and a bright one for what is just behind it. */
  paintTrail(c, j, px, py, scale) {
    const at = (k) => [px(this.omega[2 * (k * this.r + j)]), py(this.omega[2 * (k * this.r + j) + 1])];
    const way = Array.from({ length: this.kept + 1 }, (_, k) => at(k)), chosen = this.focus.frequency === j;
    way.push(this.dots.spots[j]);
    c.strokeStyle = this.data.colours.start;
    c.lineWidth = (chosen ? 2.2 : 1.2) * scale;
    c.beginPath();
    c.arc(...way[0], (chosen ? 4 : 2.6) * scale, 0, 2 * Math.PI);
    c.stroke();
    c.strokeStyle = this.data.colours.trail;
    c.globalAlpha = chosen ? 1 : 0.5;
    c.lineWidth = (chosen ? 2 : 1) * scale;
    paintLine(c, way);
    c.globalAlpha = 1;
    c.lineWidth = 2 * scale;
    paintLine(c, way.slice(-WAKE - 1));
  }

  paintErrors(c, w, h) {
    const size = 0.8 * this.rem, { drawn_error: drawn } = this.data, last = this.steps[this.last];
    const log = (error) => Math.max(Math.log10(error), LOWEST_ERROR);
    const all = [...this.errors, ...this.landmarkErrors, drawn].map(log), low = Math.min(...all) - 0.1, high = Math.max(...all) + 0.15;
    const ticks = [], fine = high - low < 3.5;
    for (let power = LOWEST_ERROR; power <= high; power++) {
      for (const lead of fine ? [1, 3] : [1]) ticks.push([power + Math.log10(lead), power < -3 ? `${lead}e−${-power}` : String(Number(`${lead}e${power}`))]);
    }
    const wide = Math.max(last, 1), tick = Math.max(1, roundStep(wide, w > 420 ? 4 : 2));
    this.axis = { low: -0.03 * wide, high: 1.03 * wide, ticks: Array.from({ length: Math.floor(wide / tick) + 1 }, (_, k) => [k * tick, String(k * tick)]) };
    this.frame = paintChart(c, w, h, {
      x: this.axis, y: { low, high, ticks: ticks.filter(([value]) => value >= low && value <= high) },
      xTitle: "step", yTitle: "error ‖K̃ − K‖ / ‖K‖", ink: this.ink, size,
      inside: (px, py, frame) => {
        const x = px(this.shown.step);
        c.strokeStyle = this.ink;
        c.lineWidth = 1.5;
        c.setLineDash(DASHES.dot);
        paintLine(c, [[x, frame.top], [x, frame.bottom]]);
        this.paintCurve(c, "drawn", [[frame.left, py(log(drawn))], [frame.right, py(log(drawn))]]);
        this.paintCurve(c, "landmarks", Array.from(this.landmarkErrors, (error, step) => [px(step), py(log(error))]));
        this.paintCurve(c, "all", Array.from(this.errors, (error, k) => [px(this.steps[k]), py(log(error))]));
        for (const [k, name] of ["all", "landmarks"].entries()) {
          c.beginPath();
          c.arc(x, py(log(this.shown.errors[k])), 5.5 * (this.rem / 15), 0, 2 * Math.PI);
          c.fillStyle = this.line(name)[0];
          c.fill();
          Object.assign(c, { strokeStyle: "white", lineWidth: 1.5 });
          c.stroke();
        }
      },
    });
  }

  paintCurve(c, name, points) {
    const [colour, dash] = this.line(name);
    Object.assign(c, { strokeStyle: colour, lineWidth: 2.5 });
    c.setLineDash(DASHES[dash]);
    paintLine(c, points);
    c.setLineDash([]);
  }
}

export default mounting(LiveDescent);
