// @ts-check
// Arrays of a view's data: they come as base64, or as arrays if the browser has made them.

/** @import { Floats } from "./maths.js" */
/** @import { Draw } from "./landmark_data.js" */
/** @typedef {Floats | Int8Array | Uint8Array | Uint16Array} Numeric */

/**
 * @template {Numeric} T
 * @param {string | ArrayLike<number>} packed @param {{ new (buffer: ArrayBuffer): T, from(values: ArrayLike<number>): T }} Type
 */
export function unpackedArray(packed, Type) {
  if (typeof packed !== "string") return Type.from(packed);
  // Browsers before 2026 may lack the first, which takes a hundredth of the time.
  return new Type((Uint8Array.fromBase64?.(packed) ?? Uint8Array.from(atob(packed), (c) => c.charCodeAt(0))).buffer);
}

/**
 * A sample, with separate noise if it comes so.
 *
 * @template {Floats} T
 * @param {Record<string, any>} draw
 * @param {{ new (buffer: ArrayBuffer): T, from(values: ArrayLike<number>): T }} Type of its coordinates
 * @returns {Draw}
 */
export function unpackedDraw({ positions, normals, labels }, Type) {
  return {
    positions: unpackedArray(positions, Type),
    normals: normals && unpackedArray(normals, Type),
    labels: unpackedArray(labels, Int8Array),
  };
}
