// @ts-check
// A live view as it plays, painted frame by frame onto a canvas in the colours of files.

import { paintHorizontal } from "./charts.js";
import { circle } from "./marks.js";
import { MARGIN, holdBar, paintPicture, sizeOf } from "./picture.js";

/** @import { LiveView } from "./view.js" */

const SLIDER = "#a63f2a"; // the light theme's primary colour
const DOT = 7; // radius in pixels

export class Film {
  /** @param {LiveView} view */
  constructor(view) {
    this.view = view;
    const { input, step } = (this.track = view.track);
    this.before = { value: input.value, step: input.step };
    /** @type {NodeListOf<HTMLButtonElement>} */
    this.buttons = view.root.querySelectorAll(".scrubbers button");
    this.release = holdBar(view);
    view.filming = true;
    view.focus = {};
    input.step = step;
    this.lock(true);
    // Words of the last frame may take more lines than those of the first.
    const sizes = [1, 0].map((part) => {
      this.show(part);
      return sizeOf(view);
    });
    /** Size of a frame, in CSS pixels. */
    this.width = Math.max(...sizes.map(({ width }) => width));
    this.height = Math.max(...sizes.map(({ height }) => height));
  }

  /**
   * Keep the reader's hands off the sliders, which move by themselves.
   *
   * @param {boolean} locked
   */
  lock(locked) {
    for (const control of [...Object.values(this.view.inputs), ...this.buttons]) control.disabled = locked;
  }

  /**
   * Move the slider, on the page too; with reduced motion the page's pictures stand still.
   *
   * @param {number} part of the way from one end to the other, from 0 to 1
   */
  show(part) {
    const { input, from, to } = this.track;
    input.value = String(from + part * (to - from));
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.view.paint(still ? [] : this.view.panels);
  }

  /**
   * Paint a frame, as large as the context's canvas is.
   *
   * @param {CanvasRenderingContext2D} c @param {number} part of the way, from 0 to 1
   */
  paint(c, part) {
    const { view, width, height } = this;
    this.show(part);
    c.setTransform(c.canvas.width / width, 0, 0, c.canvas.height / height, 0, 0);
    c.textRendering = "geometricPrecision"; // evenly spaced letters at any scale
    view.inFileColours(() => {
      paintPicture(view, c, width, height);
      this.paintSlider(c, part);
    });
  }

  /**
   * The slider that moves, where it stands on the page.
   *
   * @param {CanvasRenderingContext2D} c @param {number} part of the way, from 0 to 1
   */
  paintSlider(c, part) {
    const whole = this.view.root.getBoundingClientRect();
    const box = this.track.input.getBoundingClientRect();
    const left = box.left - whole.left + MARGIN + DOT;
    const right = box.right - whole.left + MARGIN - DOT;
    const middle = box.top - whole.top + MARGIN + box.height / 2;
    const at = left + part * (right - left);
    c.lineWidth = 3;
    c.strokeStyle = "#c8c8c8";
    paintHorizontal(c, left, right, middle);
    c.strokeStyle = c.fillStyle = SLIDER;
    paintHorizontal(c, left, at, middle);
    circle(c, at, middle, DOT);
    c.fill();
  }

  /** Bring back the page as it was. */
  end() {
    const { input } = this.track;
    input.value = this.before.value; // before the step, which would round it
    input.step = this.before.step;
    this.release();
    this.lock(false);
    this.view.filming = false;
    this.view.request();
  }
}
