// @ts-check
// A canvas context that writes SVG, for pictures that are saved to files.

/** @typedef {CanvasRenderingContext2D | SvgContext} Context */

/** The part of a canvas context that painters use, written as SVG. */
export class SvgContext {
  static clips = 0;

  /** @type {CanvasRenderingContext2D} */
  static ruler;

  /** @type {string[]} */
  parts = [];

  path = "";

  /** Clips to close at each `restore`.
   * @type {number[]} */
  groups = [];

  /** @type {number[]} */
  dashes = [];

  globalAlpha = 1;

  /** @type {string | CanvasGradient | CanvasPattern} */
  fillStyle;

  /** @type {string | CanvasGradient | CanvasPattern} */
  strokeStyle;

  /** @type {number} */
  lineWidth;

  /** @type {string} */
  font;

  /** @type {CanvasTextAlign} */
  textAlign;

  /** @type {CanvasTextBaseline} */
  textBaseline;

  /** @type {boolean} */
  imageSmoothingEnabled;

  /** @param {string} tag @param {Record<string, unknown>} attributes @param {string} [text] */
  add(tag, attributes, text) {
    const written = Object.entries(attributes)
      .map(([name, value]) => ` ${name}="${typeof value === "number" ? rounded(value) : escaped(value)}"`)
      .join("");
    this.parts.push(text === undefined ? `<${tag}${written}/>` : `<${tag}${written}>${escaped(text)}</${tag}>`);
  }

  /** @param {string} command @param {...number} numbers */
  extend(command, ...numbers) {
    this.path += command + numbers.map(rounded).join(" ");
  }

  beginPath() {
    this.path = "";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.extend("M", x, y);
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.extend(this.path ? "L" : "M", x, y);
  }

  closePath() {
    this.path += "Z";
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.path += `M${[x, y].map(rounded)}h${rounded(w)}v${rounded(h)}h${rounded(-w)}Z`;
  }

  /**
   * A whole circle: painters paint no other arcs.
   *
   * @param {number} x @param {number} y @param {number} r @param {...number} _angles
   */
  arc(x, y, r, ..._angles) {
    const half = (/** @type {number} */ d) => `a${rounded(r)} ${rounded(r)} 0 1 0 ${rounded(d)} 0`;
    this.path += `M${rounded(x - r)} ${rounded(y)}${half(2 * r)}${half(-2 * r)}`;
  }

  fill() {
    this.add("path", { d: this.path, fill: this.fillStyle, opacity: this.globalAlpha });
  }

  stroke() {
    this.add("path", {
      d: this.path,
      fill: "none",
      stroke: this.strokeStyle,
      "stroke-width": this.lineWidth,
      opacity: this.globalAlpha,
      "stroke-dasharray": this.dashes.join(" ") || "none",
    });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.add("rect", { x, y, width, height, fill: this.fillStyle, opacity: this.globalAlpha });
  }

  /** @param {string} text */
  measureText(text) {
    SvgContext.ruler ??= document.createElement("canvas").getContext("2d");
    SvgContext.ruler.font = this.font;
    return SvgContext.ruler.measureText(text);
  }

  /**
   * Condense text wider than `maxWidth`, as a canvas does.
   *
   * @param {string} text @param {number} x @param {number} y
   */
  fillText(text, x, y, maxWidth = Infinity) {
    const [, weight, size] = /^(bold )?([\d.]+)px/.exec(this.font);
    const attributes = {
      x,
      y,
      fill: this.fillStyle,
      "font-family": "sans-serif",
      "font-size": Number(size),
      "text-anchor": this.textAlign === "center" ? "middle" : this.textAlign === "right" ? "end" : "start",
      "font-weight": weight ? "bold" : "normal",
      "dominant-baseline": this.textBaseline === "middle" ? "central" : "auto",
    };
    const condensed = this.measureText(text).width > maxWidth;
    this.add(
      "text",
      condensed ? { ...attributes, textLength: maxWidth, lengthAdjust: "spacingAndGlyphs" } : attributes,
      text,
    );
  }

  /**
   * @param {HTMLCanvasElement} image
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  drawImage(image, x, y, width, height) {
    const style = this.imageSmoothingEnabled ? "" : "image-rendering: pixelated";
    this.add("image", { x, y, width, height, href: image.toDataURL(), preserveAspectRatio: "none", style });
  }

  /** @param {number[]} dashes */
  setLineDash(dashes) {
    this.dashes = dashes;
  }

  save() {
    this.groups.push(0);
  }

  /** @param {string} attribute of what follows, until `restore` */
  open(attribute) {
    this.parts.push(`<g ${attribute}>`);
    this.groups[this.groups.length - 1]++;
  }

  clip() {
    const id = `clip${++SvgContext.clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.open(`clip-path="url(#${id})"`);
  }

  /** Shift what follows, until `restore`.
   * @param {number} x @param {number} y */
  translate(x, y) {
    this.open(`transform="translate(${rounded(x)} ${rounded(y)})"`);
  }

  /** Turn what follows, until `restore`.
   * @param {number} angle clockwise, in radians */
  rotate(angle) {
    this.open(`transform="rotate(${rounded((180 * angle) / Math.PI)})"`);
  }

  restore() {
    this.parts.push("</g>".repeat(this.groups.pop()));
  }
}

/** @param {unknown} text */
function escaped(text) {
  return String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** @param {number} value */
function rounded(value) {
  return String(Math.round(value * 100) / 100);
}
