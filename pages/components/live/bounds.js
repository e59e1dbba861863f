// The live view of the bounds: curves against beta with a marker, every value at the marker, and one bound in its parts.

class LiveBounds extends LiveView {
  constructor(root) {
    super(root);
    const toBeta = (share) => {
      this.beta.value = Number(this.beta.min) + share * (this.beta.max - this.beta.min);
    };
    for (const side of ["landmark", "kernel"]) {
      this.draggable(this.panel(`canvas.curves-${side}`, (c, w, h) => this.paintCurves(c, w, h, side)).canvas, toBeta);
    }
    this.draggable(this.panel("canvas.parts", (c, w, h) => this.paintParts(c, w, h)).canvas, toBeta);
    this.panel("canvas.now", (c, w, h) => this.paintNow(c, w, h));
    this.fixed = this.panels.length;
  }

  receive(data) {
    this.betas = this.array("betas", Float64Array);
    this.bounds = data.bounds.map((bound) => ({
      ...bound,
      values: this.array("values", Float64Array, bound),
      parts: bound.parts.map((part) => ({ ...part, values: this.array("values", Float64Array, part) })),
    }));
    this.losses = data.losses.map((loss) => ({ ...loss, values: this.array("values", Float64Array, loss) }));
    this.chosen = this.bounds.find(({ name }) => name === data.chosen);
    this.lay();
  }

  /** A table of every curve's value, one a side. */
  lay() {
    this.panels.length = this.fixed;
    this.cells = [];
    for (const side of ["landmark", "kernel"]) {
      const table = this.find(`table.${side}`);
      table.innerHTML = "<thead><tr><td></td><th scope=col data-words>at this β</th><th scope=col data-words>smallest</th><th scope=col data-words>at β</th></tr></thead>";
      const body = table.createTBody();
      for (const curve of this.on(side)) {
        const row = body.insertRow(), name = row.appendChild(document.createElement("th"));
        name.scope = "row";
        const swatch = name.appendChild(document.createElement("canvas")), label = name.appendChild(document.createElement("span"));
        swatch.className = "swatch";
        label.dataset.words = "";
        label.textContent = curve.label;
        row.classList.toggle("chosen", curve === this.chosen);
        this.panel(swatch, (c, w, h) => paintSwatch(c, w, h, curve.colour, curve.dash));
        const texts = curve.parts ? ["", curve.values[curve.best].toFixed(3), Number(this.betas[curve.best].toPrecision(3))] : ["", "", ""];
        const cells = texts.map((text) => Object.assign(row.insertCell(), { textContent: text }));
        for (const cell of cells) cell.dataset.words = "";
        this.cells.push([cells[0], curve]);
      }
    }
  }

  on(side) {
    return [...this.bounds, ...this.losses].filter((curve) => curve.side === side);
  }

  compute() {
    // The slider steps along the betas that were computed.
    this.at = this.betas.reduce((best, beta, k) =>
      Math.abs(Math.log10(beta) - this.beta.value) < Math.abs(Math.log10(this.betas[best]) - this.beta.value) ? k : best, 0);
  }

  value() {
    return Number((10 ** Number(this.beta.value)).toPrecision(3));
  }

  write() {
    for (const [cell, { values }] of this.cells) cell.textContent = values[this.at].toFixed(3);
    const { label, parts, values } = this.chosen;
    this.find(".parts-words").textContent = `${label} in its parts`;
    this.find(".now-words").textContent =
      `at β = ${this.value().toPrecision(3)}: ${parts.map((part) => part.values[this.at].toFixed(3)).join(" + ")} = ${values[this.at].toFixed(3)}`;
  }

  axes(w, h, inside) {
    const { top } = this.data, low = Math.log10(this.betas[0]), high = Math.log10(this.betas[this.betas.length - 1]);
    const decades = Array.from({ length: 7 }, (_, k) => k - 3).filter((power) => w > 380 || power % 2 === 0);
    return {
      x: { low, high, ticks: decades.map((power) => [power, `${10 ** power}`]) },
      y: { low: 0, high: top, ticks: [0, 0.25, 0.5, 0.75, 1, 1.5, 2].filter((v) => v <= top).map((v) => [v, String(v)]) },
      xTitle: "inverse temperature β", yTitle: "alignment loss", ink: this.ink, size: 0.8 * this.rem, inside,
    };
  }

  /** What lies above 1 says nothing; the dotted line is the present beta. */
  paintGround(c, px, py, frame) {
    c.fillStyle = "rgba(128, 128, 128, 0.15)";
    c.fillRect(frame.left, frame.top, frame.right - frame.left, py(1) - frame.top);
    c.fillStyle = this.ink;
    c.textAlign = "left";
    c.fillText("vacuous above 1", frame.left + 6, py(1) - 4);
  }

  paintMarker(c, px, frame) {
    const x = px(Math.log10(this.betas[this.at]));
    c.strokeStyle = this.ink;
    c.lineWidth = 1.5;
    c.setLineDash(DASHES.dot);
    paintLine(c, [[x, frame.top], [x, frame.bottom]]);
    c.setLineDash([]);
    return x;
  }

  paintCurve(c, curve, px, py) {
    Object.assign(c, { strokeStyle: curve.colour, lineWidth: 2.5 });
    c.setLineDash(DASHES[curve.dash]);
    paintLine(c, Array.from(curve.values, (value, k) => [px(Math.log10(this.betas[k])), py(value)]));
    c.setLineDash([]);
  }

  paintDot(c, x, y, colour, radius, diamond) {
    c.beginPath();
    if (diamond) {
      for (const [a, b] of [[0, -1], [1, 0], [0, 1], [-1, 0]]) c.lineTo(x + a * radius * 1.3, y + b * radius * 1.3);
      c.closePath();
    } else c.arc(x, y, radius, 0, 2 * Math.PI);
    c.fillStyle = colour;
    c.fill();
    c.strokeStyle = "white";
    c.lineWidth = 1.2;
    c.stroke();
  }

  paintCurves(c, w, h, side) {
    this.frame = paintChart(c, w, h, this.axes(w, h, (px, py, frame) => {
      this.paintGround(c, px, py, frame);
      for (const curve of this.on(side)) this.paintCurve(c, curve, px, py);
      const x = this.paintMarker(c, px, frame);
      for (const curve of this.on(side)) {
        if (curve.parts) this.paintDot(c, px(Math.log10(this.betas[curve.best])), py(curve.values[curve.best]), curve.colour, 4.5, true);
        this.paintDot(c, x, py(curve.values[this.at]), curve.colour, 4.5);
      }
    }));
  }

  paintParts(c, w, h) {
    const { chosen } = this;
    paintChart(c, w, h, this.axes(w, h, (px, py, frame) => {
      const below = new Float64Array(this.betas.length), x = (k) => px(Math.log10(this.betas[k]));
      for (const part of chosen.parts) {
        c.beginPath();
        for (let k = 0; k < below.length; k++) c.lineTo(x(k), py(below[k]));
        for (let k = below.length - 1; k >= 0; k--) c.lineTo(x(k), py((below[k] += part.values[k])));
        c.closePath();
        c.globalAlpha = 0.75;
        c.fillStyle = part.colour;
        c.fill();
        c.globalAlpha = 1;
      }
      this.paintGround(c, px, py, frame);
      this.paintCurve(c, chosen, px, py);
      this.paintCurve(c, this.losses.find(({ truth, side }) => truth && side === chosen.side), px, py);
      this.paintMarker(c, px, frame);
    }));
  }

  /** The bar of the parts at the present beta, each with its name and number. */
  paintNow(c, w, h) {
    const { chosen, at } = this, size = 0.8 * this.rem;
    const truth = this.losses.find(({ truth, side }) => truth && side === chosen.side).values[at];
    const { y, ...axes } = this.axes(w, h);
    paintChart(c, w, h, {
      ...axes, y, x: { low: 0, high: 1, ticks: [] }, xTitle: "",
      inside: (px, py, frame) => {
        this.paintGround(c, px, py, frame);
        const right = frame.left + Math.min(0.26 * (frame.right - frame.left), 110);
        let sum = 0, label = Infinity;
        for (const part of chosen.parts) {
          const value = part.values[at], from = py(sum), to = py((sum += value));
          c.fillStyle = part.colour;
          c.globalAlpha = 0.75;
          c.fillRect(frame.left + 12, to, right - frame.left - 12, from - to);
          c.globalAlpha = 1;
          // Names keep a line's distance from the one below, and stay in the picture.
          label = Math.max(Math.min((from + to) / 2 + 0.35 * size, label - 1.3 * size), frame.top + size);
          c.fillStyle = this.ink;
          c.textAlign = "left";
          const words = w < 420 ? part.label.split(":")[0] : part.label;
          c.fillText(`${value.toFixed(3)} ${words}`, right + 10, label);
        }
        c.strokeStyle = this.losses.find(({ truth }) => truth).colour;
        c.lineWidth = 2.5;
        c.setLineDash(DASHES.dash);
        paintLine(c, [[frame.left, py(truth)], [right + 4, py(truth)]]);
        c.setLineDash([]);
      },
    });
  }
}

export default mounting(LiveBounds);
