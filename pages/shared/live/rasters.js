// @ts-check
// Values on grids as pictures, one pixel a cell, and the line where they change sign.

import { INK, colourAt, colourTable } from "./colours.js";
import { PALETTE } from "./constants.js";
import { stroke } from "./marks.js";
import { boundary, cellCentres } from "./maths.js";

/** @import { Floats } from "./maths.js" */
/** @import { Context } from "./svg.js" */

/** @typedef {"similarity" | "decision" | "sequential"} TableName */

const SEQUENTIAL = colourTable(PALETTE.sequential);
/** In a dark theme the neutral colour in the middle is dark. */
const TABLES = {
  light: {
    similarity: colourTable(PALETTE.similarity),
    decision: colourTable(PALETTE.decision),
    sequential: SEQUENTIAL,
  },
  dark: {
    similarity: colourTable(PALETTE.similarityInDark),
    decision: colourTable(PALETTE.decisionInDark),
    sequential: SEQUENTIAL,
  },
};

/** @type {"light" | "dark"} */
let theme = "light";

/** @param {"light" | "dark"} chosen */
export function setTheme(chosen) {
  theme = chosen;
}

/** @param {TableName} name */
export function tableOf(name) {
  return TABLES[theme][name];
}

/** A picture of values on a grid; the second coordinate points up. */
export class Raster {
  /** @param {number} columns @param {number} [rows] */
  constructor(columns, rows = columns) {
    this.columns = columns;
    this.rows = rows;
    this.small = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
    this.context = this.small.getContext("2d");
    this.image = this.context.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /**
   * @param {Floats | Uint8Array} values (rows, columns)
   * @param {number} low @param {number} high @param {TableName} name of the table of colours
   */
  set(values, low, high, name) {
    this.source = { values, low, high, name };
    this.colour();
  }

  colour() {
    const { columns, rows } = this;
    const { values, low, high, name } = this.source;
    const table = tableOf(name);
    this.theme = theme;
    const scale = 255 / (high - low);
    for (let j = 0; j < rows; j++) {
      const to = (rows - 1 - j) * columns;
      const from = j * columns;
      for (let i = 0; i < columns; i++) this.pixels[to + i] = colourAt(table, (values[from + i] - low) * scale);
    }
    this.context.putImageData(this.image, 0, 0);
  }

  /** @param {Context} c @param {number} w @param {number} h */
  paint(c, w, h, smooth = true) {
    if (this.source && this.theme !== theme) this.colour();
    c.imageSmoothingEnabled = smooth;
    c.drawImage(this.small, 0, 0, w, h);
  }
}

/**
 * Paint the wave cos(omega.x - phase) on the square [-extent, extent]^2, paler than the points above it.
 *
 * @param {Context} c @param {number} w @param {Raster} raster a square one, to write to
 * @param {Floats | number[]} omega (2,)
 * @param {number} phase @param {number} extent @param {TableName} name of the table of colours
 */
export function paintWave(c, w, raster, [a, b], phase, extent, name) {
  const side = raster.columns;
  const at = cellCentres(extent, side);
  const values = new Float32Array(side * side);
  for (let k = 0; k < values.length; k++) {
    values[k] = Math.cos(a * at[k % side] + b * at[Math.floor(k / side)] - phase);
  }
  raster.set(values, -1.6, 1.6, name);
  raster.paint(c, w, w);
}

/**
 * The line where values on a G x G grid change sign.
 *
 * @param {Context} c @param {number} w
 * @param {Floats} values (G, G)
 * @param {number} G
 */
export function paintBoundary(c, w, values, G) {
  const cell = w / G;
  c.beginPath();
  for (const [[i0, j0], [i1, j1]] of boundary(values, G)) {
    c.moveTo((i0 + 0.5) * cell, w - (j0 + 0.5) * cell);
    c.lineTo((i1 + 0.5) * cell, w - (j1 + 0.5) * cell);
  }
  stroke(c, theme === "dark" ? PALETTE.lineInDark : INK, Math.max(1.5, w / 220));
}
