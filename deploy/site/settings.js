// @ts-check
// The settings of a page: those that were exported, the one nearest to what a reader asks for, and the fragment of a link.

/** @typedef {Record<string, string>} Settings values as texts, as in links of the app */
/** @typedef {{ settings: Settings }} Scene settings for which the page was computed */

/**
 * How far two texts of one control are from each other: numbers by their ratio, others by whether they differ. Below 1
 * between numbers, so that a number gives way before a name does.
 *
 * @param {string} a @param {string} b
 */
function distance(a, b) {
  if (a === b) return 0;
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return 2;
  return 0.5 + Math.abs(x - y) / (2 * (Math.abs(x) + Math.abs(y) + 1));
}

/**
 * The scene for these settings. Where there is none, the one that keeps the control that the reader has moved, and
 * changes least of the others; of the settings that count, if these are given.
 *
 * @template {Scene} T
 * @param {T[]} scenes @param {Settings} wanted @param {string} [moved] @param {string[]} [counting]
 */
export function nearestScene(scenes, wanted, moved, counting) {
  const far = (/** @type {Scene} */ { settings }) =>
    (counting ?? Object.keys(settings))
      .filter((key) => key in settings && key in wanted)
      .reduce((sum, key) => sum + (key === moved ? 1000 : 1) * distance(settings[key], wanted[key]), 0);
  return scenes.reduce((best, scene) => (far(scene) < far(best) ? scene : best));
}

/**
 * The nearest of a slider's values, by ratio where both are positive.
 *
 * @param {string[]} values @param {number} value
 */
export function nearestValue(values, value) {
  const far = (/** @type {string} */ text) => {
    const known = Number(text);
    return known > 0 && value > 0 ? Math.abs(Math.log(known / value)) : Math.abs(known - value);
  };
  return values.reduce((best, text) => (far(text) < far(best) ? text : best));
}

/**
 * The settings of a link, from its fragment, or from its query as links of the app have it.
 *
 * @param {{ hash: string, search: string }} address
 * @returns {Settings}
 */
export function settingsOf({ hash, search }) {
  return Object.fromEntries(new URLSearchParams(hash.length > 1 ? hash.slice(1) : search));
}

/**
 * The fragment of a link: what differs from the page's own settings.
 *
 * @param {Settings} settings @param {Settings} defaults
 */
export function fragmentOf(settings, defaults) {
  const other = Object.entries(settings).filter(([key, value]) => value && value !== defaults[key]);
  return new URLSearchParams(other).toString().replaceAll("%2C", ",");
}
