// @ts-check
// A live view as one SVG file: its panels where they stand, and the text around them.

import { SvgContext } from "./svg.js";
import { fontOf } from "./typeface.js";

/** @import { LiveView } from "./view.js" */
/** @typedef {{ c: SvgContext, left: number, top: number }} Page and where the view begins on the screen */

const MARGIN = 12;
const LINE_HEIGHT = 1.35;
/** Colours of a file: those of the light theme, for paper and slides. */
export const INK_OF_FILES = "#31333f";
const GROUND_OF_FILES = "#ffffff";

/**
 * SVG of a view. Text comes from the elements marked with `data-words`.
 *
 * @param {LiveView} view
 */
export function svgOf(view) {
  const { root } = view;
  /** @type {HTMLElement} */
  const bar = root.querySelector(".scrubbers");
  bar.style.position = "static"; // its place must not depend on how far the page is scrolled
  const whole = root.getBoundingClientRect();
  const c = new SvgContext();
  const page = { c, left: whole.left, top: whole.top };
  const width = Math.ceil(whole.width + 2 * MARGIN);
  const height = Math.ceil(whole.height + 2 * MARGIN);
  c.fillStyle = GROUND_OF_FILES;
  c.fillRect(0, 0, whole.width + 2 * MARGIN, whole.height + 2 * MARGIN);
  for (const { canvas, painter } of view.panels) {
    const box = canvas.getBoundingClientRect();
    if (!box.width) continue;
    const corner = `translate(${box.left - page.left + MARGIN},${box.top - page.top + MARGIN})`;
    group(c, corner, () => painter(c, canvas.clientWidth, canvas.clientHeight));
  }
  for (const element of root.querySelectorAll("[data-words]")) writeText(page, element);
  bar.style.position = "";
  const size = `width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${c.parts.join("")}</svg>`;
}

/** @param {SvgContext} c @param {string} transform @param {() => void} paint */
function group(c, transform, paint) {
  c.parts.push(`<g transform="${transform}">`);
  paint();
  c.parts.push("</g>");
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
    // The style sheet turns it by half a circle: it reads upwards.
    c.textAlign = "center";
    const turned = `translate(${x + box.width / 2 + size / 3} ${y + box.height / 2}) rotate(-90)`;
    group(c, turned, () => c.fillText(words.join(" "), 0, 0, box.height));
    return;
  }
  const lines = linesOf(c, words, box.height < 2 * LINE_HEIGHT * size ? Infinity : box.width);
  const bottom = y + box.height - (lines.length - 0.75) * LINE_HEIGHT * size;
  for (const [k, line] of lines.entries()) c.fillText(line, x, bottom + (k - 0.25) * LINE_HEIGHT * size, box.width);
}

/**
 * Words of an element without those that say what to do, which a file has no use for.
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
 * @param {SvgContext} c @param {string[]} words @param {number} width
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
