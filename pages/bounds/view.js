// @ts-check
// The live view of the bounds: curves against beta with a marker, every value at the marker, and one bound's terms.

import { apart, paintArea, paintCurve, paintLevel, paintMarker, paintSwatch } from "../shared/live/charts.js";
import { circle, diamond, fillAndOutline, paintRing } from "../shared/live/marks.js";
import { addingUp, least, nearestIndex } from "../shared/live/maths.js";
import { Raster } from "../shared/live/rasters.js";
import { INK_OF_FILES } from "../shared/live/picture.js";
import { LiveView, mounting } from "../shared/live/view.js";

/** @import { Dash, Frame, Inside, Scale } from "../shared/live/charts.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Report, Root } from "../shared/live/view.js" */

/** @typedef {"landmark" | "kernel"} Side */
/** @typedef {{ name: string, label: string, colour: string, values: Float64Array }} Part */
/** @typedef {{ side: Side, label: string, colour: string, dash: Dash, values: Float64Array }} Line */
/** @typedef {Line & { name: string, kind: string, best: number, parts: Part[] }} Bound */
/** @typedef {{ name: string, map: Float64Array, valley: number[] }} BoundMap rows for n and columns for beta; the valley is each row's best column */
/** @typedef {Line & { truth: boolean }} Loss */

/** @type {Side[]} */
const SIDES = ["landmark", "kernel"];
const DIGITS = 3; // of every value
const MARK_REACH = 30; // pixels within which a finger takes hold of the mark on the map
const ANSWER = 3000; // milliseconds within which the server answers a choice

class LiveBounds extends LiveView {
  /** The betas that were computed.
   * @type {Float64Array} */
  betas;

  /** @type {Float64Array} */
  logBetas;

  /** @type {Bound[]} */
  bounds;

  /** @type {Loss[]} */
  losses;

  /** The bound whose terms are shown.
   * @type {Bound} */
  chosen;

  /** The map of the bound that the server shows.
   * @type {BoundMap} */
  map;

  /** The choice that the server has not answered yet.
   * @type {{ name: string, time: number } | null} */
  asked = null;

  /** Rows of the tables by the bound that they show.
   * @type {Map<Bound, HTMLTableRowElement>} */
  rows = new Map();

  /** Numbers of the sum, the bound itself first.
   * @type {HTMLElement[]} */
  summands = [];

  /** Logarithms of n at the rows of the maps.
   * @type {Float64Array} */
  mapRows;

  /** The frame of the map.
   * @type {Frame} */
  mapFrame;

  /** Pixel of the mark on the map.
   * @type {[number, number]} */
  mark;

  /** Position of the current beta among the betas. */
  at = 0;

  /** Cells of the tables that show a curve's value at the current beta.
   * @type {[HTMLTableCellElement, Line][]} */
  cells = [];

  /** @param {Root} root */
  constructor(root) {
    super(root);
    const moveBeta = (/** @type {number} */ fraction) => {
      const [low, high] = [Number(this.beta.min), Number(this.beta.max)];
      this.beta.value = String(low + fraction * (high - low));
    };
    for (const side of SIDES) {
      const curves = this.panel(`canvas.curves-${side}`, (c, w, h) => this.paintCurves(c, w, h, side));
      this.draggable(curves.canvas, moveBeta);
    }
    this.draggable(this.panel("canvas.parts", (c, w, h) => this.paintParts(c, w, h)).canvas, moveBeta);
    this.panel("canvas.now", (c, w, h) => this.paintNow(c, w, h));
    this.raster = new Raster(1);
    const { canvas } = this.panel("canvas.bound-map", (c, w, h) => this.paintMap(c, w, h));
    const atMark = (/** @type {{ clientX: number, clientY: number }} */ { clientX, clientY }) => {
      const { left, top } = canvas.getBoundingClientRect();
      return Math.hypot(clientX - left - this.mark[0], clientY - top - this.mark[1]) < MARK_REACH;
    };
    canvas.onpointerdown = (event) => {
      if (event.pointerType === "touch" && !atMark(event)) return; // a finger elsewhere scrolls the page
      canvas.setPointerCapture(event.pointerId);
      this.moveMark(event);
    };
    canvas.onpointermove = (event) => canvas.hasPointerCapture(event.pointerId) && this.moveMark(event);
    canvas.onpointerup = canvas.onpointercancel = () => this.dragging && this.settle();
    const keepPage = (/** @type {TouchEvent} */ event) => atMark(event.touches[0]) && event.preventDefault();
    canvas.addEventListener("touchstart", keepPage, { passive: false });
    this.inputs.n.onfocus = this.inputs.n.onblur = () => this.request(); // it stands for the mark
    this.panelsWithoutSwatches = this.panels.length;
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  /** @param {Data} data */
  receive(data) {
    const withValues = (/** @type {any} */ curve) => ({ ...curve, values: this.array("values", Float64Array, curve) });
    this.betas = this.array("betas", Float64Array);
    this.logBetas = this.betas.map(Math.log10);
    this.bounds = data.bounds.map((/** @type {any} */ bound) => ({
      ...withValues(bound),
      parts: bound.parts.map(withValues),
    }));
    this.mapRows = Float64Array.from(data.log_counts);
    this.losses = data.losses.map(withValues);
    this.layOutTables(data.clickable);
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    super.update(data, report);
    const { asked } = this;
    const { name, valley } = data.chosen;
    if (asked && asked.name !== name && performance.now() - asked.time < ANSWER) return;
    this.asked = null;
    const map = Float64Array.from(
      this.array("map", Uint16Array, data.chosen),
      (value) => (data.map_limit * value) / 65535,
    );
    this.map = { name, map, valley };
    this.choose(this.bounds.find((bound) => bound.name === name));
  }

  /**
   * Show a bound in colour and with its terms; the others are grey.
   *
   * @param {Bound} bound
   */
  choose(bound) {
    this.chosen = bound;
    for (const [other, row] of this.rows) {
      row.classList.toggle("chosen", other === bound);
      row.querySelector("button")?.setAttribute("aria-pressed", String(other === bound));
    }
    this.layOutSum();
    this.request();
  }

  /** @param {Bound} bound */
  ask(bound) {
    this.asked = { name: bound.name, time: performance.now() };
    this.choose(bound);
    this.report("clicked", this.bounds.indexOf(bound));
  }

  /** Write the names of the chosen bound and of its terms, and a place for each number. */
  layOutSum() {
    const { label, kind, colour, parts } = this.chosen;
    const named = [{ label: `${label}: ${kind}`, colour }, ...parts];
    this.summands = named.map(() => words("strong", ""));
    this.find(".sum").replaceChildren(
      ...named.map((part, k) => {
        const [name, meaning] = part.label.split(": ");
        const term = element("span", "term");
        term.style.borderColor = part.colour;
        term.append(this.summands[k], words("span", name));
        if (meaning) term.append(words("small", meaning));
        const signed = element("span", "signed");
        signed.append(...(k ? [words("span", k === 1 ? "=" : "+", "sign"), term] : [term]));
        return signed;
      }),
    );
  }

  /**
   * Write a table of every curve's values for each side.
   *
   * @param {boolean} clickable whether the reader may choose a bound
   */
  layOutTables(clickable) {
    this.panels.length = this.panelsWithoutSwatches;
    this.cells = [];
    this.rows.clear();
    for (const side of SIDES) {
      const table = /** @type {HTMLTableElement} */ (this.find(`table.${side}`));
      table.innerHTML =
        "<thead><tr><td></td><th scope=col data-words>at this β</th><th scope=col data-words>smallest</th><th scope=col data-words>at β</th></tr></thead>";
      const body = table.createTBody();
      for (const curve of this.curvesOf(side)) this.addRow(body.insertRow(), curve, clickable);
    }
  }

  /** @param {HTMLTableRowElement} row @param {Line | Bound} curve @param {boolean} clickable */
  addRow(row, curve, clickable) {
    if (isBound(curve)) this.rows.set(curve, row);
    const header = row.appendChild(document.createElement("th"));
    header.scope = "row";
    const swatch = header.appendChild(document.createElement("canvas"));
    swatch.className = "swatch";
    this.panel(swatch, (c, w, h) => paintSwatch(c, w, h, this.colourOf(curve), curve.dash));
    const label = header.appendChild(
      words(clickable && isBound(curve) ? "button" : "span", isBound(curve) ? curve.kind : curve.label),
    );
    if (isBound(curve)) label.append(" ", words("small", curve.label));
    if (label instanceof HTMLButtonElement && isBound(curve)) {
      Object.assign(label, { type: "button", className: "choose", title: "Show this bound in colour, with its terms" });
      label.onclick = () => this.ask(curve);
    }
    const smallest = isBound(curve) ? curve.values[curve.best].toFixed(DIGITS) : "";
    const smallestAt = isBound(curve) ? String(Number(this.betas[curve.best].toPrecision(3))) : "";
    const cells = ["", smallest, smallestAt].map((textContent) => Object.assign(row.insertCell(), { textContent }));
    for (const cell of cells) cell.dataset.words = "";
    this.cells.push([cells[0], curve]);
  }

  /** @param {Side} side @returns {(Bound | Loss)[]} */
  curvesOf(side) {
    return [...this.bounds, ...this.losses].filter((curve) => curve.side === side);
  }

  /** A curve's colour: grey for the bounds that are not chosen. @param {Line | Bound} curve */
  colourOf(curve) {
    return isBound(curve) && curve !== this.chosen ? this.data.grey : curve.colour;
  }

  /** The true risk that the chosen bound holds for. */
  get trueRisk() {
    return this.losses.find(({ truth, side }) => truth && side === this.chosen.side);
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  compute() {
    this.at = nearestIndex(this.logBetas, Number(this.beta.value));
  }

  /** @param {string} name */
  value(name) {
    return name === "n" ? Number(this.inputs.n.value) : Number((10 ** Number(this.beta.value)).toPrecision(3));
  }

  /** Number of points at the mark on the map; the curves belong to the sample until the mark rests. */
  get n() {
    return "n" in this.given.settings ? this.value("n") : this.data.n;
  }

  /** Put the mark on the map under the pointer. @param {PointerEvent} event */
  moveMark(event) {
    const { mapFrame: frame } = this;
    const part = (event.offsetX - frame.left) / (frame.right - frame.left);
    const height = (frame.bottom - event.offsetY) / (frame.bottom - frame.top);
    const [low, high] = [this.logBetas[0], this.logBetas[this.logBetas.length - 1]];
    if (!this.betaHidden) this.beta.value = String(low + part * (high - low));
    const [few, many] = [this.mapRows[0], this.mapRows[this.mapRows.length - 1]];
    if (!this.inputs.n.closest("label").hidden) this.inputs.n.value = String(10 ** (few + height * (many - few)));
    this.moved(event);
  }

  write() {
    for (const [cell, { values }] of this.cells) cell.textContent = values[this.at].toFixed(DIGITS);
    const { label, kind, parts, name } = this.chosen;
    const exact = parts.map((part) => part.values[this.at]);
    const { sum, terms } = addingUp(exact, DIGITS);
    for (const [k, value] of [sum, ...terms].entries()) this.summands[k].textContent = value.toFixed(DIGITS);
    this.find(".parts-words").textContent = `${label}, ${kind}: its terms`;
    this.find(".now-words").textContent = `${label} at β = ${this.text("beta")}`;
    const { map, valley } = this.map;
    if (this.map.name !== name) return; // until the server answers
    const lowest = least(map);
    const [few, many] = [valley[0], valley[valley.length - 1]].map((k) => Number(this.betas[k].toPrecision(3)));
    const range = lowest < 1 ? `bright ${lowest.toFixed(2)} to dark 1, grey: vacuous` : "vacuous everywhere";
    this.find(".map-words").textContent =
      `${label} if there were n points with these losses: ${range}. Its valley, the best β, goes from ${few} at n = 20 to ${many} at n = 1000.`;
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /**
   * The axes that all charts share.
   *
   * @param {number} w @param {Inside} inside
   */
  axes(w, inside) {
    const { top } = this.data;
    const decades = [-3, -2, -1, 0, 1, 2, 3].filter((power) => w > 380 || power % 2 === 0);
    const losses = [0, 0.25, 0.5, 0.75, 1, 1.5, 2].filter((loss) => loss <= top);
    return {
      x: {
        low: this.logBetas[0],
        high: this.logBetas[this.logBetas.length - 1],
        ticks: ticks(decades, (p) => 10 ** p),
      },
      y: { low: 0, high: top, ticks: ticks(losses, (loss) => loss) },
      xTitle: "inverse temperature β",
      yTitle: "alignment loss",
      inside,
    };
  }

  /**
   * Shade what lies above 1, where a bound says nothing.
   *
   * @param {Context} c @param {Scale} py @param {Frame} frame
   */
  paintVacuous(c, py, frame) {
    c.fillStyle = "rgba(128, 128, 128, 0.15)";
    c.fillRect(frame.left, frame.top, frame.right - frame.left, py(1) - frame.top);
    const words = "vacuous above 1";
    c.fillStyle = "rgba(255, 255, 255, 0.75)"; // readable on every colour of a term
    c.fillRect(frame.left + 3, py(1) - 1.3 * this.rem, c.measureText(words).width + 6, 1.2 * this.rem);
    c.fillStyle = INK_OF_FILES;
    c.textAlign = "left";
    c.fillText(words, frame.left + 6, py(1) - 0.4 * this.rem);
  }

  /** @param {Context} c @param {Line} curve @param {Scale} px @param {Scale} py */
  paintCurve(c, curve, px, py) {
    const points = Array.from(curve.values, (value, k) => [px(this.logBetas[k]), py(value)]);
    paintCurve(c, points, this.colourOf(curve), curve.dash);
  }

  /**
   * Curves of one side; a diamond is at a bound's smallest value, a disc at the current beta.
   *
   * @param {Context} c @param {number} w @param {number} h @param {Side} side
   */
  paintCurves(c, w, h, side) {
    const last = (/** @type {Line} */ curve) => Number(curve === this.chosen); // paint it last, above the others
    const curves = this.curvesOf(side).sort((a, b) => last(a) - last(b));
    const chart = this.axes(w, (px, py, frame) => {
      this.paintVacuous(c, py, frame);
      for (const curve of curves) this.paintCurve(c, curve, px, py);
      const x = px(this.logBetas[this.at]);
      paintMarker(c, x, frame, this.ink);
      for (const curve of curves) {
        const { values } = curve;
        const colour = this.colourOf(curve);
        if (isBound(curve)) {
          diamond(c, px(this.logBetas[curve.best]), py(values[curve.best]), 4.5 * 1.3);
          fillAndOutline(c, colour, "white", 1.2);
        }
        circle(c, x, py(values[this.at]), 4.5);
        fillAndOutline(c, colour, "white", 1.2);
      }
    });
    this.frame = this.chart(c, w, h, chart);
  }

  /**
   * The terms of the chosen bound, stacked.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintParts(c, w, h) {
    const { chosen, logBetas } = this;
    const chart = this.axes(w, (px, py, frame) => {
      const line = (/** @type {Float64Array} */ sums) => Array.from(sums, (sum, k) => [px(logBetas[k]), py(sum)]);
      let below = new Float64Array(logBetas.length);
      for (const { values, colour } of chosen.parts) {
        const above = below.map((sum, k) => sum + values[k]);
        paintArea(c, [...line(below), ...line(above).reverse()], colour, 0.75);
        below = above;
      }
      this.paintVacuous(c, py, frame);
      this.paintCurve(c, chosen, px, py);
      this.paintCurve(c, this.trueRisk, px, py);
      paintMarker(c, px(logBetas[this.at]), frame, this.ink);
    });
    this.chart(c, w, h, chart);
  }

  /**
   * The terms at the current beta as one stacked bar, each with its value and name.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintNow(c, w, h) {
    const chart = this.axes(w, (_, py, frame) => {
      this.paintVacuous(c, py, frame);
      const right = frame.left + Math.min(0.26 * (frame.right - frame.left), 110);
      this.paintBar(c, py, frame.left + 12, right, frame.top, w < 420);
      const { colour, values } = this.trueRisk;
      paintLevel(c, { left: frame.left, right: right + 4 }, py(values[this.at]), colour, "dash", 2.5);
    });
    this.chart(c, w, h, { ...chart, x: { low: 0, high: 1, ticks: [] }, xTitle: "" });
  }

  /**
   * The chosen bound over beta and n: its valley a line, a diamond where it is smallest at this n, a disc at this beta.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintMap(c, w, h) {
    const { chosen, logBetas, mapRows, raster } = this;
    const { map, valley, name } = this.map;
    if (name !== chosen.name) return; // until the server answers
    const columns = logBetas.length;
    if (raster.source?.values !== map) {
      this.raster = new Raster(columns, mapRows.length);
      this.raster.set(map, 1, Math.min(least(map), 0.999), "sequential"); // bright is low
    }
    const y = { low: mapRows[0], high: mapRows[mapRows.length - 1] };
    const step = (logBetas[1] - logBetas[0]) / 2;
    const rowStep = (y.high - y.low) / (mapRows.length - 1) / 2;
    const inside = (/** @type {Scale} */ px, /** @type {Scale} */ py, /** @type {Frame} */ frame) => {
      this.paintVacuous(c, () => frame.bottom, frame);
      c.save();
      c.beginPath();
      for (const [row, logN] of mapRows.entries()) {
        for (const [from, to] of intervalsBelow(map.subarray(row * columns, (row + 1) * columns), 1)) {
          const [left, top] = [px(logBetas[0] + 2 * step * from), py(logN + rowStep)];
          c.rect(left, top, px(logBetas[0] + 2 * step * to) - left, py(logN - rowStep) - top + 0.5);
        }
      }
      c.clip();
      const [left, top] = [px(logBetas[0] - step), py(y.high + rowStep)];
      c.translate(left, top);
      this.raster.paint(c, px(logBetas[columns - 1] + step) - left, py(y.low - rowStep) - top);
      c.restore();
      const points = Array.from(mapRows, (logN, row) => [px(logBetas[valley[row]]), py(logN)]);
      paintCurve(c, points, "white", "solid", 5);
      paintCurve(c, points, chosen.colour, chosen.dash);
      const logN = Math.log10(this.n);
      const [x, at] = (this.mark = [px(logBetas[this.at]), py(logN)]);
      paintMarker(c, x, frame, this.ink);
      diamond(c, px(logBetas[valley[nearestIndex(mapRows, logN)]]), at, 4.5 * 1.3);
      fillAndOutline(c, chosen.colour, "white", 1.2);
      circle(c, x, at, 6);
      fillAndOutline(c, chosen.colour, "white", 1.5);
      if (this.inputs.n.matches(":focus-visible")) paintRing(c, x, at, 10);
      this.mapFrame = frame;
    };
    const counts = [20, 50, 100, 200, 500, 1000];
    this.chart(c, w, h, {
      ...this.axes(w, inside),
      ...{ y: { ...y, ticks: counts.map((n) => [Math.log10(n), String(n)]) }, yTitle: "training points n" },
    });
  }

  /**
   * @param {Context} c @param {Scale} py @param {number} left @param {number} right @param {number} top
   * @param {boolean} short names up to their colon only
   */
  paintBar(c, py, left, right, top, short) {
    const size = 0.8 * this.rem;
    const { parts } = this.chosen;
    const values = parts.map((part) => part.values[this.at]);
    /** @type {number[]} */
    const middles = [];
    let sum = 0;
    c.globalAlpha = 0.75;
    for (const [k, part] of parts.entries()) {
      const from = py(sum);
      const to = py((sum += values[k]));
      c.fillStyle = part.colour;
      c.fillRect(left, to, right - left, from - to);
      middles.push((from + to) / 2 + 0.35 * size);
    }
    c.globalAlpha = 1;
    c.fillStyle = this.ink;
    c.textAlign = "left";
    for (const [k, y] of apart(middles, top + size, 1.3 * size).entries()) {
      const { label } = parts[k];
      c.fillText(`${values[k].toFixed(3)} ${short ? label.split(":")[0] : label}`, right + 10, y);
    }
  }
}

/**
 * An element with text that a saved picture shows too.
 *
 * @param {string} tag @param {string} text @param {string} className
 */
function words(tag, text, className = "") {
  const made = Object.assign(element(tag, className), { textContent: text });
  made.dataset.words = "";
  return made;
}

/** @param {string} tag @param {string} className */
function element(tag, className) {
  return Object.assign(document.createElement(tag), { className });
}

/** @param {Line | Bound} curve @returns {curve is Bound} */
function isBound(curve) {
  return "parts" in curve;
}

/**
 * Intervals in which values are below a level, in positions of the values, by linear interpolation.
 *
 * @param {Float64Array} values @param {number} level
 */
function intervalsBelow(values, level) {
  /** @type {[number, number][]} */
  const found = [];
  for (let k = 0; k < values.length; k++) {
    if (values[k] >= level) continue;
    const from = k ? k - (level - values[k]) / (values[k - 1] - values[k]) : -0.5;
    while (values[k + 1] < level) k++;
    const last = k + 1 === values.length;
    found.push([from, last ? k + 0.5 : k + (level - values[k]) / (values[k + 1] - values[k])]);
  }
  return found;
}

/** @param {number[]} positions @param {(position: number) => number} valueAt @returns {[number, string][]} */
function ticks(positions, valueAt) {
  return positions.map((position) => [position, String(valueAt(position))]);
}

export default mounting(LiveBounds);
