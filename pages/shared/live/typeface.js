// @ts-check
// The typeface of text on canvases: the page's own. A file cannot load it, and has any typeface without serifs.

export const FAMILY_OF_FILES = "sans-serif";

let family = FAMILY_OF_FILES;

/** @param {string} chosen as in CSS */
export function setFamily(chosen) {
  family = chosen;
}

/**
 * A canvas context's `font`.
 *
 * @param {number} size in pixels
 */
export function fontOf(size, bold = false) {
  return `${bold ? "bold " : ""}${size}px ${family}`;
}
