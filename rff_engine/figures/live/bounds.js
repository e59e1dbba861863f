// @ts-check
// The live view of the bounds: curves against beta with a marker, every value at the marker, and one bound's terms.

import { apart, DASHES, paintChart, paintCurve, paintHorizontal, paintMarker, paintSwatch } from "./charts.js";
import { circle, diamond, fillAndOutline } from "./marks.js";
import { addingUp, nearestIndex } from "./maths.js";
import { LiveView, mounting } from "./view.js";

/** @import { Dash, Frame, Inside, Scale } from "./charts.js" */
/** @import { Context } from "./svg.js" */
/** @import { Data, Report, Root, Tables } from "./view.js" */

/** @typedef {"landmark" | "kernel"} Side */
/** @typedef {{ name: string, label: string, colour: string, values: Float64Array }} Part */
/** @typedef {{ side: Side, label: string, colour: string, dash: Dash, values: Float64Array }} Line */
/** @typedef {Line & { name: string, best: number, parts: Part[] }} Bound */
/** @typedef {Line & { truth: boolean }} Loss */

/** @type {Side[]} */
const SIDES = ["landmark", "kernel"];
const LOSS_OF = { landmark: "one landmark", kernel: "the whole kernel" };
const DIGITS = 3; // of every value
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

  /** The choice that the server has not answered yet.
   * @type {{ name: string, time: number } | null} */
  asked = null;

  /** Rows of the tables by the bound that they show.
   * @type {Map<Bound, HTMLTableRowElement>} */
  rows = new Map();

  /** Numbers of the sum, the bound itself first.
   * @type {HTMLElement[]} */
  summands = [];

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
    this.losses = data.losses.map(withValues);
    this.layOutTables(data.clickable);
  }

  /** @returns {Tables} */
  tables() {
    const { bounds, losses } = this;
    const betas = [...this.betas];
    const [empirical, true_] = [false, true].map((truth) => losses.filter((one) => one.truth === truth));
    const names = [...new Set(bounds.flatMap(({ parts }) => parts.map(({ name }) => name)))];
    const termsOf = (/** @type {string} */ name) =>
      bounds.flatMap(({ parts }) => [...(parts.find((part) => part.name === name)?.values ?? betas.map(() => NaN))]);
    return {
      posteriors: {
        loss_of: empirical.flatMap(({ side }) => betas.map(() => LOSS_OF[side])),
        beta: empirical.flatMap(() => betas),
        loss: empirical.flatMap(({ values }) => [...values]),
        true_loss: true_.flatMap(({ values }) => [...values]),
      },
      bounds: {
        bound: bounds.flatMap(({ label }) => betas.map(() => label)),
        beta: bounds.flatMap(() => betas),
        value: bounds.flatMap(({ values }) => [...values]),
        ...Object.fromEntries(names.map((name) => [name, termsOf(name)])),
      },
    };
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    super.update(data, report);
    const { asked } = this;
    if (asked && asked.name !== data.chosen && performance.now() - asked.time < ANSWER) return;
    this.asked = null;
    this.choose(this.bounds.find(({ name }) => name === data.chosen));
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
    const { label, parts } = this.chosen;
    const named = [{ label, colour: this.chosen.colour }, ...parts];
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
    const label = header.appendChild(words(clickable && isBound(curve) ? "button" : "span", curve.label));
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

  value() {
    return Number((10 ** Number(this.beta.value)).toPrecision(3));
  }

  write() {
    for (const [cell, { values }] of this.cells) cell.textContent = values[this.at].toFixed(DIGITS);
    const { label, parts } = this.chosen;
    const { sum, terms } = addingUp(
      parts.map((part) => part.values[this.at]),
      DIGITS,
    );
    for (const [k, value] of [sum, ...terms].entries()) this.summands[k].textContent = value.toFixed(DIGITS);
    this.find(".parts-words").textContent = `${label}: its terms`;
    this.find(".now-words").textContent = `${label} at β = ${this.text("beta")}`;
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
      ink: this.ink,
      size: 0.8 * this.rem,
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
    c.fillStyle = this.ink;
    c.textAlign = "left";
    c.fillText("vacuous above 1", frame.left + 6, py(1) - 4);
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
    const last = (/** @type {Line} */ curve) => Number(curve === this.chosen); // it lies above the others
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
    this.frame = paintChart(c, w, h, chart);
  }

  /**
   * The terms of the chosen bound, stacked.
   *
   * @param {Context} c @param {number} w @param {number} h
   */
  paintParts(c, w, h) {
    const { chosen, logBetas } = this;
    const chart = this.axes(w, (px, py, frame) => {
      const below = new Float64Array(logBetas.length);
      for (const part of chosen.parts) {
        c.beginPath();
        for (let k = 0; k < below.length; k++) c.lineTo(px(logBetas[k]), py(below[k]));
        for (let k = below.length - 1; k >= 0; k--) c.lineTo(px(logBetas[k]), py((below[k] += part.values[k])));
        c.closePath();
        c.globalAlpha = 0.75;
        c.fillStyle = part.colour;
        c.fill();
        c.globalAlpha = 1;
      }
      this.paintVacuous(c, py, frame);
      this.paintCurve(c, chosen, px, py);
      this.paintCurve(c, this.trueRisk, px, py);
      paintMarker(c, px(logBetas[this.at]), frame, this.ink);
    });
    paintChart(c, w, h, chart);
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
      c.strokeStyle = this.trueRisk.colour;
      c.lineWidth = 2.5;
      c.setLineDash(DASHES.dash);
      paintHorizontal(c, frame.left, right + 4, py(this.trueRisk.values[this.at]));
      c.setLineDash([]);
    });
    paintChart(c, w, h, { ...chart, x: { low: 0, high: 1, ticks: [] }, xTitle: "" });
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

/** @param {number[]} positions @param {(position: number) => number} valueAt @returns {[number, string][]} */
function ticks(positions, valueAt) {
  return positions.map((position) => [position, String(valueAt(position))]);
}

export default mounting(LiveBounds);
