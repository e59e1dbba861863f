// @ts-check
// A live view as one picture in SVG: its panels where they stand, and the text around them.

import { SvgContext } from "./svg.js";
import { fontOf } from "./typeface.js";

/** @import { Context } from "./svg.js" */
/** @import { LiveView } from "./view.js" */
/** @typedef {{ c: Context, left: number, top: number }} Page and where the view begins on the screen */

/** Around the view, in CSS pixels. */
const MARGIN = 12;
const LINE_HEIGHT = 1.35;
/** Colours of a file: the light theme's, for paper and slides. */
export const INK_OF_FILES = "#31333f";
const GROUND_OF_FILES = "#ffffff";

/**
 * SVG of a view with its margin. Text comes from the elements marked with `data-words`.
 *
 * @param {LiveView} view
 */
export function svgOf({ root, panels }) {
  /** @type {HTMLElement} */
  const bar = root.querySelector(".scrubbers");
  bar.style.position = "static"; // its place in the page, however far the page is scrolled
  const c = new SvgContext();
  const whole = root.getBoundingClientRect();
  const [width, height] = [whole.width, whole.height].map((length) => Math.ceil(length + 2 * MARGIN));
  const page = { c, left: whole.left, top: whole.top };
  c.fillStyle = GROUND_OF_FILES;
  c.fillRect(0, 0, width, height);
  for (const { canvas, painter } of panels) {
    const box = canvas.getBoundingClientRect();
    if (!box.width) continue;
    c.save();
    c.translate(box.left - page.left + MARGIN, box.top - page.top + MARGIN);
    painter(c, canvas.clientWidth, canvas.clientHeight);
    c.restore();
  }
  for (const element of root.querySelectorAll("[data-words]")) writeText(page, element);
  bar.style.position = "";
  const size = `width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${c.parts.join("")}</svg>`;
}

/** @param {Page} page @param {Element} element */
function writeText({ c, left, top }, element) {
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  const size = parseFloat(style.fontSize);
  const words = wordsOf(element);
  if (!box.width || !words[0]) return;
  c.font = fontOf(size, Number(style.fontWeight) >= 600);
  c.fillStyle = INK_OF_FILES;
  c.textAlign = "left";
  c.textBaseline = "alphabetic";
  const x = box.left - left + MARGIN;
  const y = box.top - top + MARGIN;
  if (style.writingMode !== "horizontal-tb") {
    // The style sheet turns it by half a circle, so that it reads upwards.
    c.save();
    c.textAlign = "center";
    c.translate(x + box.width / 2 + size / 3, y + box.height / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(words.join(" "), 0, 0, box.height);
    c.restore();
    return;
  }
  if (box.height < 2 * LINE_HEIGHT * size) {
    c.fillText(words.join(" "), x, y + box.height / 2 + 0.35 * size, box.width);
    return;
  }
  const lines = linesOf(c, words, box.width);
  const bottom = y + box.height - (lines.length - 0.75) * LINE_HEIGHT * size;
  for (const [k, line] of lines.entries()) c.fillText(line, x, bottom + (k - 0.25) * LINE_HEIGHT * size, box.width);
}

/**
 * Words of an element without instructions, which are useless in a file.
 *
 * @param {Element} element
 */
function wordsOf(element) {
  const kept = [...element.childNodes].filter((node) => !(node instanceof Element && node.matches(".advice")));
  const text = kept.map((node) => node.textContent).join("");
  return text.trim().split(/\s+/);
}

/**
 * Words broken into lines no wider than `width`.
 *
 * @param {Context} c @param {string[]} words @param {number} width
 */
function linesOf(c, words, width) {
  const lines = [""];
  for (const word of words) {
    const last = lines[lines.length - 1];
    const longer = `${last} ${word}`.trim();
    if (!last || c.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
