// @ts-check
// A Plotly figure for this screen and theme, from what was exported: a figure, and what some screens and themes change.

/** @typedef {{ dark: boolean, narrow: boolean }} Look */
/** @typedef {{ figure: any, dark: any, narrow: any }} Packed a figure, and what a dark theme and a narrow screen change */

/**
 * Return a figure for a screen and a theme.
 *
 * @param {Packed} packed @param {Look} look
 */
export function figureFor({ figure, dark, narrow }, look) {
  const changed = look.dark ? patched(figure, dark) : figure;
  return unpacked(look.narrow ? patched(changed, narrow) : changed);
}

/**
 * Return a JSON value with changes to the named parts of objects and lists; null removes a part.
 *
 * @param {any} value @param {any} change
 * @returns {any}
 */
export function patched(value, change) {
  if (!isObject(change) || typeof value !== "object" || value === null) return change;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  for (const [key, part] of Object.entries(change)) {
    if (part === null) delete copy[key];
    else copy[key] = key in copy ? patched(copy[key], part) : part;
  }
  return copy;
}

/**
 * Return a JSON value in which levels of colours are rows of numbers.
 *
 * @param {any} value
 * @returns {any}
 */
export function unpacked(value) {
  if (Array.isArray(value)) return value.map(unpacked);
  if (!isObject(value)) return value;
  if ("levels" in value) return rowsOf(value);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unpacked(part)]));
}

/** @param {{ levels: string, low: number, step: number, shape: string }} packed the level 255 marks a missing value */
function rowsOf({ levels, low, step, shape }) {
  const values = Float32Array.from(atob(levels), (c) => (c === "\u00ff" ? NaN : low + step * c.charCodeAt(0)));
  const [rows, columns] = shape.split(",").map(Number);
  return Array.from({ length: rows }, (_, k) => values.subarray(k * columns, (k + 1) * columns));
}

/** @param {any} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
