// How arrays become pictures: colour tables, tiles, points, stars.

/** A table of 256 colours from stops [[position, "#rrggbb"], ...], as packed 32-bit values. */
function colourTable(stops) {
  const table = new Uint32Array(256);
  const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  for (let i = 0, s = 0; i < 256; i++) {
    const p = i / 255;
    while (s < stops.length - 2 && p > stops[s + 1][0]) s++;
    const [p0, c0] = stops[s], [p1, c1] = stops[s + 1];
    const w = Math.min(Math.max((p - p0) / (p1 - p0), 0), 1), a = parse(c0), b = parse(c1);
    const [r, g, blue] = a.map((v, k) => Math.round(v + w * (b[k] - v)));
    table[i] = (255 << 24) | (blue << 16) | (g << 8) | r;
  }
  return table;
}

/** A picture of values on a square grid; the second coordinate points up. */
class Tile {
  constructor(canvas, G) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.small = Object.assign(document.createElement("canvas"), { width: G, height: G });
    this.smallContext = this.small.getContext("2d");
    this.image = this.smallContext.createImageData(G, G);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.G = G;
  }

  /** Match the canvas to its size on screen. */
  fit() {
    const side = Math.max(1, Math.round(this.canvas.clientWidth * (window.devicePixelRatio || 1)));
    if (this.canvas.width !== side) this.canvas.width = this.canvas.height = side;
  }

  values(values, low, high, table) {
    const G = this.G, scale = 255 / (high - low);
    for (let j = 0; j < G; j++) {
      const to = (G - 1 - j) * G, from = j * G;
      for (let i = 0; i < G; i++) {
        const level = (values[from + i] - low) * scale;
        this.pixels[to + i] = table[level <= 0 ? 0 : level >= 255 ? 255 : (level + 0.5) | 0];
      }
    }
    this.smallContext.putImageData(this.image, 0, 0);
    this.context.imageSmoothingEnabled = true;
    this.context.drawImage(this.small, 0, 0, this.canvas.width, this.canvas.height);
  }

  blank(colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  /** Where a point of the plane lies on the canvas. */
  place(x, y, extent) {
    const side = this.canvas.width;
    return [(x / (2 * extent) + 0.5) * side, (0.5 - y / (2 * extent)) * side];
  }

  /** The line where values on the grid change sign. */
  boundary(values) {
    const G = this.G, cell = this.canvas.width / G, context = this.context;
    const at = (i, j) => values[j * G + i];
    const x = (i) => (i + 0.5) * cell, y = (j) => this.canvas.height - (j + 0.5) * cell;
    context.beginPath();
    for (let j = 0; j < G - 1; j++) {
      for (let i = 0; i < G - 1; i++) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], crossings = [];
        for (let k = 0; k < 4; k++) {
          const [a, b] = corners[k], [c, d] = corners[(k + 1) % 4], p = at(a, b), q = at(c, d);
          if (p > 0 !== q > 0) { const s = p / (p - q); crossings.push([x(a + s * (c - a)), y(b + s * (d - b))]); }
        }
        for (let k = 0; k + 1 < crossings.length; k += 2) {
          context.moveTo(...crossings[k]);
          context.lineTo(...crossings[k + 1]);
        }
      }
    }
    context.strokeStyle = "#222";
    context.lineWidth = Math.max(1.5, this.canvas.width / 220);
    context.stroke();
  }

  dot(x, y, radius, colour, diamond) {
    const c = this.context;
    c.beginPath();
    if (diamond) {
      const r = radius * 1.25;
      c.moveTo(x, y - r); c.lineTo(x + r, y); c.lineTo(x, y + r); c.lineTo(x - r, y); c.closePath();
    } else c.arc(x, y, radius, 0, 2 * Math.PI);
    c.fillStyle = colour;
    c.fill();
    c.strokeStyle = "white";
    c.lineWidth = Math.max(0.7, radius / 4);
    c.stroke();
  }

  star(x, y, radius, colour, label) {
    const c = this.context;
    c.beginPath();
    for (let k = 0; k < 10; k++) {
      const r = k % 2 ? radius * 0.45 : radius, angle = (Math.PI * k) / 5 - Math.PI / 2;
      c.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
    }
    c.closePath();
    c.fillStyle = colour;
    c.fill();
    c.strokeStyle = "#111";
    c.lineWidth = Math.max(1, radius / 9);
    c.stroke();
    c.fillStyle = "#111";
    c.font = `bold ${Math.round(radius * 0.85)}px sans-serif`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(label, x, y + radius * 0.06);
  }
}
