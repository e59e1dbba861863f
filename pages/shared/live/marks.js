// @ts-check
// Marks on a square of the plane: points of two classes, numbered landmarks, and the ring around what is in focus.

import { INK } from "./colours.js";
import { PALETTE } from "./constants.js";
import { fontOf } from "./typeface.js";

/** @import { Floats } from "./maths.js" */
/** @import { Context } from "./svg.js" */

/**
 * Where a point of the square [-extent, extent]^2 lies on a panel of width w.
 *
 * @param {number} x @param {number} y @param {number} extent @param {number} w
 * @returns {[number, number]}
 */
export function place(x, y, extent, w) {
  return [(x / (2 * extent) + 0.5) * w, (0.5 - y / (2 * extent)) * w];
}

/**
 * The point of the square under the pointer, and the width of a pixel there.
 *
 * @param {{ clientX: number, clientY: number }} event @param {HTMLCanvasElement} canvas @param {number} extent
 */
export function pointerIn(event, canvas, extent) {
  const box = canvas.getBoundingClientRect();
  const scale = (2 * extent) / box.width;
  return { x: (event.clientX - box.left) * scale - extent, y: extent - (event.clientY - box.top) * scale, scale };
}

/** @param {Context} c @param {number} width @param {string} fill @param {string} outline */
export function fillAndOutline(c, fill, outline, width) {
  c.fillStyle = fill;
  c.fill();
  stroke(c, outline, width);
}

/** @param {Context} c @param {string} colour @param {number} width */
export function stroke(c, colour, width) {
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.stroke();
}

/** @param {Context} c @param {number} x @param {number} y @param {number} radius */
export function circle(c, x, y, radius) {
  c.beginPath();
  c.arc(x, y, radius, 0, 2 * Math.PI);
}

/** @param {Context} c @param {number} x @param {number} y @param {number} radius */
export function diamond(c, x, y, radius) {
  c.beginPath();
  c.moveTo(x, y - radius);
  c.lineTo(x + radius, y);
  c.lineTo(x, y + radius);
  c.lineTo(x - radius, y);
  c.closePath();
}

/**
 * A point of a class: a red diamond is +1, a blue disc is -1.
 *
 * @param {Context} c @param {number} x @param {number} y @param {number} radius @param {number} label
 */
export function paintPoint(c, x, y, radius, label) {
  if (label > 0) diamond(c, x, y, radius * 1.25);
  else circle(c, x, y, radius);
  fillAndOutline(c, classColour(label), "white", Math.max(0.7, radius / 4));
}

/**
 * @param {Context} c @param {number} w @param {number} extent
 * @param {Floats} points (n, 2)
 * @param {Int8Array} labels @param {number} radius
 */
export function paintPoints(c, w, extent, points, labels, radius, count = labels.length) {
  for (let j = 0; j < Math.min(count, labels.length); j++) {
    paintPoint(c, ...place(points[2 * j], points[2 * j + 1], extent, w), radius, labels[j]);
  }
}

/** A ring around what is in focus. @param {Context} c @param {number} x @param {number} y @param {number} radius */
export function paintRing(c, x, y, radius) {
  circle(c, x, y, radius);
  strokeOnAny(c, 4.5, 2.2);
}

/** Stroke a path so that it is visible on any ground. @param {Context} c @param {number} wide @param {number} narrow */
export function strokeOnAny(c, wide, narrow) {
  stroke(c, "white", wide);
  stroke(c, INK, narrow);
}

/** @param {Context} c @param {number} x @param {number} y @param {number} radius */
export function star(c, x, y, radius) {
  c.beginPath();
  for (let k = 0; k < 10; k++) {
    const r = k % 2 ? radius * 0.45 : radius;
    const angle = (Math.PI * k) / 5 - Math.PI / 2;
    c.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
  }
  c.closePath();
}

/** The colour of a class. @param {number} label */
export const classColour = (label) => (label > 0 ? PALETTE.red : PALETTE.blue);

/**
 * A landmark: a numbered star in the colour of its class.
 *
 * @param {Context} c @param {number} x @param {number} y @param {number} radius @param {number} l @param {number} label
 */
export function paintStar(c, x, y, radius, l, label) {
  star(c, x, y, radius);
  stroke(c, "white", Math.max(3, radius / 2.5)); // apart from points of its class
  fillAndOutline(c, classColour(label), INK, Math.max(1, radius / 9));
  c.fillStyle = "white";
  c.font = fontOf(Math.round(radius * 0.85), true);
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(String(l + 1), x, y + radius * 0.06);
}
