// @ts-check
// Tables of colours, as packed 32-bit values.

/** Outlines on coloured grounds, in both themes. */
export const INK = "#1b1b1b";

/**
 * A table of 256 colours from evenly spaced "#rrggbb" stops.
 *
 * @param {string[]} stops
 */
export function colourTable(stops) {
  const colours = stops.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  const last = stops.length - 1;
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const s = Math.min(Math.floor((i / 255) * last), last - 1);
    const w = (i / 255) * last - s;
    const [r, g, b] = colours[s].map((v, k) => Math.round(v + w * (colours[s + 1][k] - v)));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
}

/**
 * The entry of a table for a value between low and high; values outside take the first or the last.
 *
 * @param {Uint32Array} table
 * @param {number} level (value - low) / (high - low) * 255
 */
export function colourAt(table, level) {
  return table[level <= 0 ? 0 : level >= 255 ? 255 : (level + 0.5) | 0];
}

/** @param {number} packed */
export function cssColour(packed) {
  return `rgb(${packed & 255}, ${(packed >> 8) & 255}, ${(packed >> 16) & 255})`;
}
