// @ts-check
// A canvas to place points of two classes on: a click adds, a drag moves or paints, an eraser erases. The server gets
// the points after every gesture, if each class has enough of them.

import { askedBy } from "../controls/undo_keys.js";
import { PALETTE } from "./constants.js";
import { paintPoint, strokeOnAny } from "./marks.js";
import { countClasses, decodePoints, encodePoints, moved, nearestCell, without } from "./point_code.js";

/** @import { OwnPoint } from "./point_code.js" */
/** @typedef {{ points: string, cells: number, extent: number, most: number, fewest: number, start: { name: string, points: string } }} OwnPointsData */
/** @typedef {(points: string) => void} Reporter */
/** @typedef {HTMLElement & { ownPoints?: OwnPoints }} OwnPointsRoot */
/** @typedef {{ x: number, y: number }} Cell of the grid */

const ERASER = 0;
const RADIUS = 4.5; // pixels
const REACH = 10; // pixels from a point within which a press takes it
const FINGER = 22; // the same for a finger
const APART = 16; // pixels between points that are painted in one stroke
const STEP = 25; // cells that an arrow key moves the cross; a fifth of it with Shift

class OwnPoints {
  /** @type {OwnPointsData} */
  data;

  /** @type {Reporter} */
  report;

  /** @type {OwnPoint[]} */
  points = [];

  /** Codes that were reported, and that the server has not answered yet.
   * @type {string[]} */
  reported = [];

  /** The code that the server has.
   * @type {string | undefined} */
  known;

  /** The points before each gesture since the app had the points last: too few were left, so its history lacks them.
   * @type {OwnPoint[][]} */
  past = [];

  /** The points after the last gesture.
   * @type {OwnPoint[]} */
  settled = [];

  /** The class that a click adds, or the eraser. */
  tool = 1;

  /** The point that is dragged, or -1. */
  held = -1;

  /** Where the last point of a stroke was painted.
   * @type {Cell | null} */
  stroke = null;

  /** The cross of the keyboard.
   * @type {Cell} */
  cross;

  /** @param {OwnPointsRoot} root */
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.said = root.querySelector(".said");
    this.toolButtons = /** @type {NodeListOf<HTMLButtonElement>} */ (root.querySelectorAll("[data-tool]"));
    for (const button of this.toolButtons) button.onclick = () => this.choose(Number(button.dataset.tool));
    root.querySelector(".red").setAttribute("style", `color: ${PALETTE.red}`);
    root.querySelector(".blue").setAttribute("style", `color: ${PALETTE.blue}`);
    /** @type {HTMLButtonElement} */ (root.querySelector(".clear")).onclick = () => this.clear();
    /** @type {HTMLButtonElement} */ (root.querySelector(".start")).onclick = () => this.restart();
    this.listen();
    new ResizeObserver(() => this.paint()).observe(this.canvas);
  }

  listen() {
    const { canvas } = this;
    canvas.onpointerdown = (event) => this.press(event);
    canvas.onpointermove = (event) => canvas.hasPointerCapture(event.pointerId) && this.drag(event);
    canvas.onpointerup = canvas.onpointercancel = () => this.release();
    canvas.onkeydown = (event) => this.key(event);
    canvas.onfocus = canvas.onblur = () => this.paint();
    document.addEventListener("keydown", (event) => this.undo(event), { capture: true });
  }

  /** Take back the last gesture of several that are one step for the app. @param {KeyboardEvent} event */
  undo(event) {
    if (askedBy(event) !== "undo" || !this.past.length || !this.canvas.isConnected) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const before = this.past.slice(0, -1);
    this.points = this.past[this.past.length - 1];
    this.settle("The last stroke is taken back.");
    this.past = before;
  }

  /** @param {OwnPointsData} data @param {Reporter} report */
  update(data, report) {
    this.data = data;
    this.report = report;
    this.cross ??= { x: data.cells / 2, y: data.cells / 2 };
    this.root.querySelector(".start").textContent = `start from ${data.start.name}`;
    const answered = this.reported.indexOf(data.points);
    if (answered >= 0) this.reported.splice(0, answered + 1);
    else if (data.points !== this.known) {
      this.reported = [];
      this.points = this.settled = decodePoints(data.points, data.cells);
      this.past = [];
      this.say("");
    }
    this.known = data.points;
    this.choose(this.tool);
  }

  /** @param {number} tool */
  choose(tool) {
    this.tool = tool;
    for (const button of this.toolButtons) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.tool) === tool));
    }
    this.canvas.classList.toggle("erasing", tool === ERASER);
    this.paint();
  }

  clear() {
    this.points = [];
    this.settle("All points are erased.");
  }

  restart() {
    this.points = decodePoints(this.data.start.points, this.data.cells);
    this.settle(`The points are the first of ${this.data.start.name}.`);
  }

  // --- pointer ------------------------------------------------------------------------------------------------------

  /** Cells in a pixel of the canvas. */
  get scale() {
    return this.data.cells / this.canvas.clientWidth;
  }

  /**
   * The cell under the pointer.
   *
   * @param {PointerEvent} event
   * @returns {Cell}
   */
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.inside((event.clientX - box.left) * this.scale, (box.bottom - event.clientY) * this.scale);
  }

  /** @param {number} x @param {number} y @returns {Cell} */
  inside(x, y) {
    const within = (/** @type {number} */ value) => Math.min(Math.max(Math.round(value), 0), this.data.cells);
    return { x: within(x), y: within(y) };
  }

  /** @param {PointerEvent} event */
  reach(event) {
    return (event.pointerType === "touch" ? FINGER : REACH) * this.scale;
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    const cell = this.cellAt(event);
    this.cross = cell;
    if (this.tool === ERASER) return this.erase(cell, this.reach(event));
    this.held = nearestCell(this.points, cell.x, cell.y, this.reach(event));
    if (this.held < 0) this.add(cell);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const cell = this.cellAt(event);
    this.cross = cell;
    if (this.tool === ERASER) return this.erase(cell, this.reach(event));
    if (this.held >= 0) this.points = moved(this.points, this.held, cell.x, cell.y);
    else if (this.stroke && Math.hypot(cell.x - this.stroke.x, cell.y - this.stroke.y) >= APART * this.scale) {
      this.add(cell);
    }
    this.paint();
  }

  release() {
    this.held = -1;
    this.stroke = null;
    this.settle("");
  }

  // --- keyboard -----------------------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event */
  key(event) {
    const move = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const { cross } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (move) {
      const step = event.shiftKey ? STEP / 5 : STEP;
      this.cross = this.inside(cross.x + step * move[0], cross.y + step * move[1]);
      this.say(this.place(this.cross));
    } else if (event.key === "Enter" || event.key === " ") {
      const label = this.tool === ERASER ? 1 : this.tool;
      if (this.add(cross, label)) this.settle(`Added a point of class ${sign(label)} at ${this.place(cross)}.`);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      if (this.erase(cross, 2 * STEP)) this.settle(`Erased the point nearest to ${this.place(cross)}.`);
      else this.say("No point is near the cross.");
    } else return;
    event.preventDefault();
    this.paint();
  }

  /** @param {Cell} cell */
  place({ x, y }) {
    const coordinate = (/** @type {number} */ cell) =>
      (((2 * cell) / this.data.cells - 1) * this.data.extent).toFixed(2);
    return `(${coordinate(x)}, ${coordinate(y)})`;
  }

  // --- points -------------------------------------------------------------------------------------------------------

  /** @param {Cell} cell @param {number} label */
  add(cell, label = this.tool) {
    const fits = this.points.length < this.data.most;
    if (fits) this.points = [...this.points, { ...cell, label }];
    else this.say(`There are ${this.data.most} points already, the most allowed: erase one first.`, true);
    this.stroke = cell;
    this.paint();
    return fits;
  }

  /** @param {Cell} cell @param {number} within */
  erase(cell, within) {
    const nearest = nearestCell(this.points, cell.x, cell.y, within);
    if (nearest >= 0) this.points = without(this.points, nearest);
    this.paint();
    return nearest >= 0;
  }

  /**
   * Report the points, if each class has enough of them.
   *
   * @param {string} said
   */
  settle(said) {
    const { fewest, cells } = this.data;
    const { negative, positive } = countClasses(this.points);
    const code = encodePoints(this.points, cells);
    const last = this.reported[this.reported.length - 1] ?? this.known;
    const before = this.settled;
    this.settled = this.points;
    this.paint();
    if (Math.min(negative, positive) < fewest) {
      if (before !== this.points) this.past.push(before);
      this.say(
        `There are ${positive} points of class +1 and ${negative} of class −1: each needs at least ${fewest}. ` +
          "Until then the pictures stay as they are.",
        true,
      );
      return;
    }
    if (code === last) return;
    // One step of the app's history, unless too few points were left on the way.
    if (encodePoints(before, cells) === last) this.past = [];
    else this.past.push(before);
    this.say(said);
    this.reported.push(code);
    this.report(code);
  }

  /** @param {string} words @param {boolean} wanting whether something has to be done */
  say(words, wanting = false) {
    this.said.textContent = words;
    this.said.classList.toggle("wanting", wanting);
  }

  // --- painting -----------------------------------------------------------------------------------------------------

  paint() {
    const { canvas, context: c, data } = this;
    const w = canvas.clientWidth;
    if (!data || !w) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(w * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const { x, y, label } of this.points) {
      const at = /** @type {[number, number]} */ ([(x / data.cells) * w, (1 - y / data.cells) * w]);
      paintPoint(c, ...at, RADIUS, label);
    }
    if (canvas.matches(":focus-visible")) this.paintCross(w);
    const { negative, positive } = countClasses(this.points);
    this.root.querySelector(".count").textContent =
      `${this.points.length} of at most ${data.most} points: ${positive} of class +1, ${negative} of class −1. ` +
      "Click or paint to add, drag a point to move it.";
  }

  /** @param {number} w */
  paintCross(w) {
    const { context: c, cross, data } = this;
    const [x, y] = [(cross.x / data.cells) * w, (1 - cross.y / data.cells) * w];
    c.beginPath();
    c.moveTo(x - 9, y);
    c.lineTo(x + 9, y);
    c.moveTo(x, y - 9);
    c.lineTo(x, y + 9);
    strokeOnAny(c, 4, 1.8);
  }
}

/** @param {number} label */
function sign(label) {
  return label > 0 ? "+1" : "−1";
}

/** @param {{ parentElement: HTMLElement, data: OwnPointsData, setTriggerValue: (name: string, value: string) => void }} component */
export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  /** @type {OwnPointsRoot} */
  const root = parentElement.querySelector(".own-points");
  root.ownPoints ??= new OwnPoints(root);
  root.ownPoints.update(data, (points) => setTriggerValue("points", points));
}
