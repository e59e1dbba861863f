// How arrays become pictures: rasters in colour, points, stars, charts, and the canvases or SVG files they are drawn on.

/** A table of 256 colours from evenly spaced "#rrggbb" stops, as packed 32-bit values. */
function colourTable(stops) {
  const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const colours = stops.map(parse), last = stops.length - 1;
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const s = Math.min(Math.floor((i / 255) * last), last - 1), w = (i / 255) * last - s;
    const [r, g, b] = colours[s].map((v, k) => Math.round(v + w * (colours[s + 1][k] - v)));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
}

const TABLES = Object.fromEntries(["similarity", "decision", "sequential"].map((name) => [name, colourTable(PALETTE[name])]));
const cssColour = (packed) => `rgb(${packed & 255}, ${(packed >> 8) & 255}, ${(packed >> 16) & 255})`;
const INK = "#1b1b1b"; // outlines on coloured grounds, in both themes

/** A canvas and the painter that fills it, in CSS pixels. The same painter draws the panel of an exported picture. */
class Panel {
  constructor(canvas, painter) {
    Object.assign(this, { canvas, painter, context: canvas.getContext("2d") });
  }

  redraw() {
    const { canvas, context } = this, ratio = window.devicePixelRatio || 1;
    const w = canvas.clientWidth, h = canvas.clientHeight;
    const width = Math.max(1, Math.round(w * ratio)), height = Math.max(1, Math.round(h * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, w, h);
    this.painter(context, w, h);
  }
}

/** Values on a grid as a picture, one pixel a cell; the second coordinate points up. */
class Raster {
  constructor(columns, rows = columns) {
    Object.assign(this, { columns, rows });
    this.small = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
    this.context = this.small.getContext("2d");
    this.image = this.context.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  set(values, low, high, table) {
    const { columns, rows } = this, scale = 255 / (high - low);
    for (let j = 0; j < rows; j++) {
      const to = (rows - 1 - j) * columns, from = j * columns;
      for (let i = 0; i < columns; i++) {
        const level = (values[from + i] - low) * scale;
        this.pixels[to + i] = table[level <= 0 ? 0 : level >= 255 ? 255 : (level + 0.5) | 0];
      }
    }
    this.context.putImageData(this.image, 0, 0);
  }

  paint(c, w, h, smooth = true) {
    c.imageSmoothingEnabled = smooth;
    c.drawImage(this.small, 0, 0, w, h);
  }
}

/** Where a point of the square [-extent, extent]^2 lies on a panel of width w. */
function place(x, y, extent, w) {
  return [(x / (2 * extent) + 0.5) * w, (0.5 - y / (2 * extent)) * w];
}

/** The point of the square that the pointer is on. */
function pointerIn(event, canvas, extent) {
  const box = canvas.getBoundingClientRect(), scale = (2 * extent) / box.width;
  return { x: (event.clientX - box.left) * scale - extent, y: extent - (event.clientY - box.top) * scale, scale };
}

/** The line where values on a G x G grid change sign. */
function paintBoundary(c, w, values, G) {
  const cell = w / G, x = (i) => (i + 0.5) * cell, y = (j) => w - (j + 0.5) * cell;
  c.beginPath();
  for (let j = 0; j < G - 1; j++) {
    for (let i = 0; i < G - 1; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], crossings = [];
      for (let k = 0; k < 4; k++) {
        const [a, b] = corners[k], [d, e] = corners[(k + 1) % 4], p = values[b * G + a], q = values[e * G + d];
        if (p > 0 !== q > 0) { const s = p / (p - q); crossings.push([x(a + s * (d - a)), y(b + s * (e - b))]); }
      }
      for (let k = 0; k + 1 < crossings.length; k += 2) {
        c.moveTo(...crossings[k]);
        c.lineTo(...crossings[k + 1]);
      }
    }
  }
  c.strokeStyle = INK;
  c.lineWidth = Math.max(1.5, w / 220);
  c.stroke();
}

/** A point of a class: a red diamond is +1, a blue disc is -1. */
function paintPoint(c, x, y, radius, label) {
  c.beginPath();
  if (label > 0) {
    const r = radius * 1.25;
    c.moveTo(x, y - r);
    c.lineTo(x + r, y);
    c.lineTo(x, y + r);
    c.lineTo(x - r, y);
    c.closePath();
  } else c.arc(x, y, radius, 0, 2 * Math.PI);
  c.fillStyle = label > 0 ? PALETTE.red : PALETTE.blue;
  c.fill();
  c.strokeStyle = "white";
  c.lineWidth = Math.max(0.7, radius / 4);
  c.stroke();
}

function paintPoints(c, w, extent, points, labels, radius, count = labels.length) {
  for (let j = 0; j < Math.min(count, labels.length); j++) {
    paintPoint(c, ...place(points[2 * j], points[2 * j + 1], extent, w), radius, labels[j]);
  }
}

/** A ring around what is in focus, seen on any ground. */
function paintRing(c, x, y, radius) {
  for (const [colour, width] of [["white", 4.5], [INK, 2.2]]) {
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.stroke();
  }
}

/** A landmark: a numbered star. */
function paintStar(c, x, y, radius, l) {
  c.beginPath();
  for (let k = 0; k < 10; k++) {
    const r = k % 2 ? radius * 0.45 : radius, angle = (Math.PI * k) / 5 - Math.PI / 2;
    c.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
  }
  c.closePath();
  c.fillStyle = PALETTE.landmarks[l % PALETTE.landmarks.length];
  c.fill();
  c.strokeStyle = INK;
  c.lineWidth = Math.max(1, radius / 9);
  c.stroke();
  c.fillStyle = INK;
  c.font = `bold ${Math.round(radius * 0.85)}px sans-serif`;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(l + 1, x, y + radius * 0.06);
}

/**
 * Axes of a chart, and the scales that go with them: `x` and `y` are { low, high, ticks: [[value, text], ...] }, in the
 * numbers that are plotted (logarithms for a logarithmic axis). `inside` draws what is cut off at the frame.
 */
function paintChart(c, w, h, { x, y, xTitle, yTitle, ink, size, inside }) {
  c.font = `${size}px sans-serif`;
  const widest = Math.max(0, ...y.ticks.map(([, text]) => c.measureText(text).width));
  const left = Math.max(3.4 * size, widest + 0.4 * size + 2), right = w - 1.8 * size, top = 1.9 * size, bottom = h - 3 * size;
  const px = (value) => left + ((value - x.low) / (x.high - x.low)) * (right - left);
  const py = (value) => bottom - ((value - y.low) / (y.high - y.low)) * (bottom - top);
  c.fillStyle = ink;
  c.strokeStyle = "rgba(128, 128, 128, 0.3)";
  c.lineWidth = 1;
  c.textAlign = "center";
  c.textBaseline = "alphabetic";
  for (const [value, text] of x.ticks) {
    paintLine(c, [[px(value), top], [px(value), bottom]]);
    c.fillText(text, px(value), bottom + 1.3 * size);
  }
  c.fillText(xTitle, (left + right) / 2, bottom + 2.6 * size);
  c.textAlign = "right";
  for (const [value, text] of y.ticks) {
    paintLine(c, [[left, py(value)], [right, py(value)]]);
    c.fillText(text, left - 0.4 * size, py(value) + 0.35 * size);
  }
  c.textAlign = "left";
  c.fillText(yTitle, 2, size);
  c.save();
  c.beginPath();
  c.rect(left, top, right - left, bottom - top);
  c.clip();
  inside(px, py, { left, right, top, bottom });
  c.restore();
  return { left, right };
}

function paintLine(c, points) {
  c.beginPath();
  for (const [k, [x, y]] of points.entries()) k ? c.lineTo(x, y) : c.moveTo(x, y);
  c.stroke();
}

/** A piece of a line, for a legend. */
function paintSwatch(c, w, h, colour, dash) {
  Object.assign(c, { strokeStyle: colour, lineWidth: 2.5 });
  c.setLineDash(DASHES[dash]);
  paintLine(c, [[0, h / 2], [w, h / 2]]);
  c.setLineDash([]);
}

const DASHES = { solid: [], dot: [2, 4], dash: [8, 5], dashdot: [8, 4, 2, 4] };

/** What a painter needs of a canvas context, written as SVG. */
class SvgContext {
  constructor() {
    Object.assign(this, { parts: [], path: "", groups: [], clips: 0, dashes: [], globalAlpha: 1 });
  }

  static escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  static number = (value) => String(Math.round(value * 100) / 100);

  add(tag, attributes, text) {
    const written = Object.entries(attributes).map(([name, value]) =>
      ` ${name}="${typeof value === "number" ? SvgContext.number(value) : SvgContext.escape(value)}"`);
    this.parts.push(text === undefined ? `<${tag}${written.join("")}/>` : `<${tag}${written.join("")}>${SvgContext.escape(text)}</${tag}>`);
  }

  extend(command, ...numbers) { this.path += command + numbers.map(SvgContext.number).join(" "); }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.extend("M", x, y); }
  lineTo(x, y) { this.extend(this.path ? "L" : "M", x, y); }
  closePath() { this.path += "Z"; }
  rect(x, y, w, h) { this.path += `M${[x, y].map(SvgContext.number)}h${SvgContext.number(w)}v${SvgContext.number(h)}h${SvgContext.number(-w)}Z`; }
  /** Whole circles only: painters draw no other arcs. */
  arc(x, y, r) { this.path += `M${SvgContext.number(x - r)} ${SvgContext.number(y)}` + [2 * r, -2 * r].map((d) => `a${SvgContext.number(r)} ${SvgContext.number(r)} 0 1 0 ${SvgContext.number(d)} 0`).join(""); }
  fill() { this.add("path", { d: this.path, fill: this.fillStyle, opacity: this.globalAlpha }); }
  stroke() {
    this.add("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, opacity: this.globalAlpha,
      "stroke-dasharray": this.dashes.join(" ") || "none" });
  }
  fillRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: this.fillStyle, opacity: this.globalAlpha }); }
  strokeRect(x, y, width, height) {
    this.add("rect", { x, y, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
  }
  measureText(text) {
    SvgContext.ruler ??= document.createElement("canvas").getContext("2d");
    SvgContext.ruler.font = this.font;
    return SvgContext.ruler.measureText(text);
  }
  /** As on a canvas, words that would be wider than `most` are made narrower. */
  fillText(text, x, y, most = Infinity) {
    const anchor = { center: "middle", right: "end" }[this.textAlign] ?? "start";
    const [, weight, size] = /^(bold )?([\d.]+)px/.exec(this.font);
    this.add("text", { x, y, fill: this.fillStyle, "font-family": "sans-serif", "font-size": Number(size), "text-anchor": anchor,
      "font-weight": weight ? "bold" : "normal", "dominant-baseline": this.textBaseline === "middle" ? "central" : "auto",
      ...(this.measureText(text).width > most && { textLength: most, lengthAdjust: "spacingAndGlyphs" }) }, text);
  }
  drawImage(image, x, y, width, height) {
    const style = this.imageSmoothingEnabled ? "" : "image-rendering: pixelated";
    this.add("image", { x, y, width, height, href: image.toDataURL(), preserveAspectRatio: "none", style });
  }
  setLineDash(dashes) { this.dashes = dashes; }
  save() { this.groups.push(0); }
  clip() {
    const id = `clip${SvgContext.made = (SvgContext.made ?? 0) + 1}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.groups[this.groups.length - 1]++;
  }
  restore() { this.parts.push("</g>".repeat(this.groups.pop())); }
}
