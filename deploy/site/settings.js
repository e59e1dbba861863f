// @ts-check
// The settings of a page: the exported scene nearest to what a reader asks for, and the fragment of a link.

/** @typedef {Record<string, string>} Settings values as texts, as in links of the app */
/** @typedef {{ settings: Settings }} Scene settings for which the page was computed */

/**
 * Return how far two texts of one control are from each other: at most 1 for two numbers, 2 for two names, so that a
 * number changes before a name does.
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
 * Return the scene for these settings. If there is none, return one that keeps the control that the reader has moved
 * and changes the others least. Only `counting` settings count, if they are given.
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
 * Return the nearest of a slider's values, by ratio where both are positive.
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
 * Return the settings of a link, from its fragment, or from its query as in links of the app.
 *
 * @param {{ hash: string, search: string }} address
 * @returns {Settings}
 */
export function settingsOf({ hash, search }) {
  return Object.fromEntries(new URLSearchParams(hash.length > 1 ? hash.slice(1) : search));
}

/**
 * Return the fragment of a link: what differs from the page's own settings.
 *
 * @param {Settings} settings @param {Settings} defaults
 */
export function fragmentOf(settings, defaults) {
  const other = Object.entries(settings).filter(([key, value]) => value && value !== defaults[key]);
  return new URLSearchParams(other).toString().replaceAll("%2C", ",");
}
