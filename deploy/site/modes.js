// @ts-check
// The look of a page: light or dark, enlarged for a projector, or in a frame.

const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const NARROW = window.matchMedia("(max-width: 639.98px)"); // as in the app
const THEME = "theme of the static edition";
/** The order in which the button goes through the themes; the first follows the reader's system. */
const THEMES = ["", "light", "dark"];

/** @import { Settings } from "./settings.js" */

/** Return the theme that the reader has chosen, or "". */
export function chosenTheme() {
  try {
    return localStorage.getItem(THEME) ?? "";
  } catch {
    return ""; // in a frame that may store nothing
  }
}

/**
 * Return the theme after this one.
 *
 * @param {string} theme
 */
export function nextTheme(theme) {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
}

/** @param {string} theme */
export function keepTheme(theme) {
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

/**
 * Return the theme of a link, by its own name or by the app's.
 *
 * @param {Settings} link
 */
export function themeOf(link) {
  const named = (link.theme ?? link.embed_options ?? "").replace("_theme", "");
  return THEMES.includes(named) ? named : "";
}

/** @param {string} theme */
export function applyTheme(theme) {
  const dark = theme ? theme === "dark" : DARK.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

/**
 * Apply what a link says of the look.
 *
 * @param {Settings} link
 */
export function applyModes(link) {
  const { classList } = document.documentElement;
  classList.toggle("projector", link.projector === "true");
  classList.toggle("embed", link.embed === "true");
}

/** Return what a figure needs to know of the screen. */
export function look() {
  return { dark: document.documentElement.dataset.theme === "dark", narrow: NARROW.matches };
}

/**
 * Choose words for this screen: a narrow one takes the second of `[[right|below]]`, a dark one of `<<white|grey>>`.
 *
 * @param {string} text
 */
export function wordsFor(text) {
  const { dark, narrow } = look();
  return text
    .replace(/\[\[([^|\]]*)\|([^|\]]*)\]\]/g, narrow ? "$2" : "$1")
    .replace(/<<([^|>]*)\|([^|>]*)>>/g, dark ? "$2" : "$1");
}

/**
 * Call `act` when the window becomes narrow or wide, or the system's theme changes.
 *
 * @param {() => void} act
 */
export function onChange(act) {
  for (const query of [DARK, NARROW]) query.addEventListener("change", act);
}
