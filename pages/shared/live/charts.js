// @ts-check
// Charts: axes with ticks and titles, curves, and the swatches of a legend.

import { fontOf } from "./typeface.js";

/** @import { Context } from "./svg.js" */
/** @typedef {[value: number, text: string][]} Ticks */
/** @typedef {{ low: number, high: number, ticks: Ticks }} Axis in the numbers that are plotted */
/** @typedef {{ left: number, right: number, top: number, bottom: number }} Frame in pixels */
/** @typedef {(value: number) => number} Scale from the numbers of an axis to pixels */
/** @typedef {(px: Scale, py: Scale, frame: Frame) => void} Inside paints within the frame, which clips it */
/** @typedef {keyof typeof DASHES} Dash */
/**
 * @typedef {object} Chart
 * @property {Axis} x logarithms for a logarithmic axis
 * @property {Axis} y
 * @property {string} xTitle
 * @property {string} yTitle
 * @property {string} ink
 * @property {number} size of the text
 * @property {Inside} inside
 */

export const DASHES = {
  /** @type {number[]} */
  solid: [],
  dot: [2, 4],
  dash: [8, 5],
  dashdot: [8, 4, 2, 4],
  longdash: [14, 5],
  longdashdot: [14, 4, 2, 4],
};

/**
 * Paint a chart and return the left and right end of its frame.
 *
 * @param {Context} c @param {number} w @param {number} h @param {Chart} chart
 */
export function paintChart(c, w, h, { x, y, xTitle, yTitle, ink, size, inside }) {
  c.font = fontOf(size);
  const widest = Math.max(0, ...y.ticks.map(([, text]) => c.measureText(text).width));
  const left = Math.max(3.4 * size, widest + 0.4 * size + 2);
  const right = w - 1.8 * size;
  const top = 1.9 * size;
  const bottom = h - 3 * size;
  /** @type {Scale} */
  const px = (value) => left + ((value - x.low) / (x.high - x.low)) * (right - left);
  /** @type {Scale} */
  const py = (value) => bottom - ((value - y.low) / (y.high - y.low)) * (bottom - top);
  c.fillStyle = ink;
  c.strokeStyle = "rgba(128, 128, 128, 0.3)";
  c.lineWidth = 1;
  c.textAlign = "center";
  c.textBaseline = "alphabetic";
  for (const [value, text] of x.ticks) {
    paintVertical(c, px(value), top, bottom);
    c.fillText(text, px(value), bottom + 1.3 * size);
  }
  c.fillText(xTitle, (left + right) / 2, bottom + 2.6 * size);
  c.textAlign = "right";
  for (const [value, text] of y.ticks) {
    paintHorizontal(c, left, right, py(value));
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

/** @param {Context} c @param {number[][]} points */
export function paintLine(c, points) {
  c.beginPath();
  for (const [k, [x, y]] of points.entries()) {
    if (k) c.lineTo(x, y);
    else c.moveTo(x, y);
  }
  c.stroke();
}

/** @param {Context} c @param {number} x @param {number} top @param {number} bottom */
export function paintVertical(c, x, top, bottom) {
  paintLine(
    c,
    [top, bottom].map((y) => [x, y]),
  );
}

/** @param {Context} c @param {number} left @param {number} right @param {number} y */
export function paintHorizontal(c, left, right, y) {
  paintLine(
    c,
    [left, right].map((x) => [x, y]),
  );
}

/**
 * Lines that cross in the middle of a square panel.
 *
 * @param {Context} c @param {number} middle @param {number} reach their half length @param {string} colour
 */
export function paintCross(c, middle, reach, colour) {
  c.strokeStyle = colour;
  c.lineWidth = 1;
  paintHorizontal(c, middle - reach, middle + reach, middle);
  paintVertical(c, middle, middle - reach, middle + reach);
}

/**
 * A line from the bottom to the top of a frame, such as at the current value.
 *
 * @param {Context} c @param {number} x @param {Frame} frame @param {string} ink @param {Dash} dash
 */
export function paintMarker(c, x, frame, ink, dash = "dot") {
  const ends = [frame.top, frame.bottom].map((y) => [x, y]);
  paintCurve(c, ends, ink, dash, 1.5);
}

/** @param {Context} c @param {number[][]} points @param {string} colour @param {Dash} dash @param {number} width */
export function paintCurve(c, points, colour, dash, width = 2.5) {
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.setLineDash(DASHES[dash]);
  paintLine(c, points);
  c.setLineDash([]);
}

/** @param {Context} c @param {number[][]} points around it @param {string} colour @param {number} opacity */
export function paintArea(c, points, colour, opacity) {
  c.beginPath();
  for (const [x, y] of points) c.lineTo(x, y);
  c.closePath();
  c.globalAlpha = opacity;
  c.fillStyle = colour;
  c.fill();
  c.globalAlpha = 1;
}

/**
 * A line at a height of a frame.
 *
 * @param {Context} c @param {{ left: number, right: number }} frame @param {number} y
 * @param {string} colour @param {Dash} dash @param {number} width
 */
export function paintLevel(c, { left, right }, y, colour, dash, width = 1.5) {
  const ends = [left, right].map((x) => [x, y]);
  paintCurve(c, ends, colour, dash, width);
}

/**
 * A piece of a curve, for a legend.
 *
 * @param {Context} c @param {number} w @param {number} h @param {string} colour @param {Dash} dash
 */
export function paintSwatch(c, w, h, colour, dash) {
  paintLevel(c, { left: 0, right: w }, h / 2, colour, dash, 2.5);
}

/**
 * The largest of 1, 2, 5, 10, ... of which at least `count` fit into a length.
 *
 * @param {number} length @param {number} count
 */
export function tickStep(length, count) {
  const limit = length / count;
  const power = 10 ** Math.floor(Math.log10(limit));
  return power * [5, 2, 1].find((lead) => lead * power <= limit);
}

/**
 * Ticks at 0, `step`, twice `step` and so on, up to an end.
 *
 * @param {number} end @param {number} step @param {(value: number) => string} text
 * @returns {Ticks}
 */
export function evenTicks(end, step, text = String) {
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, k) => {
    const value = Number((k * step).toPrecision(6));
    return [value, text(value)];
  });
}

/** @param {string} text */
export function withMinus(text) {
  return text.replace("-", "−");
}

/**
 * Ticks of an axis from -extent to extent.
 *
 * @param {number} extent
 * @returns {Ticks}
 */
export function symmetricTicks(extent) {
  const step = tickStep(extent, 2);
  const count = Math.floor(extent / step);
  return Array.from({ length: 2 * count + 1 }, (_, k) => {
    const value = (k - count) * step;
    return [value, withMinus(String(Number(value.toPrecision(3))))];
  });
}

/**
 * Heights of labels, listed from the lowest to the highest, that keep a distance from each other and stay below the top.
 *
 * @param {number[]} wanted in pixels, which grow downwards
 * @param {number} top @param {number} gap
 */
export function apart(wanted, top, gap) {
  const heights = [...wanted];
  for (let k = 1; k < heights.length; k++) heights[k] = Math.min(heights[k], heights[k - 1] - gap);
  let least = top;
  for (let k = heights.length - 1; k >= 0; k--, least += gap) heights[k] = Math.max(heights[k], least);
  return heights;
}
