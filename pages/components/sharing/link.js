// @ts-check
// A link to a page, composed from what its reader is to see.

/** @typedef {[name: string, value: string][]} Query */
/**
 * @typedef {object} Composed
 * @property {string} picture shown alone, or "" for the whole page
 * @property {string} lesson or ""
 * @property {string} step of the lesson
 * @property {string[]} hidden controls, by their names in links
 * @property {string} theme "light_theme", "dark_theme", or "" for the reader's own
 * @property {boolean} projector
 * @property {boolean} embed
 */

const PLACE = ["lesson", "step", "hide"];

/**
 * The query of a link. A lesson sets the controls itself, so a link to another place than the page's own leaves them out;
 * a picture alone has no lesson.
 *
 * @param {Query} query of the page: its settings, its place in a lesson, and what it hides
 * @param {Composed} composed
 */
export function composedQuery(query, { picture, lesson, step, hidden, theme, projector, embed }) {
  const here = Object.fromEntries(query);
  const atLesson = picture ? "" : lesson;
  const elsewhere = atLesson && (here.lesson !== lesson || (here.step ?? "1") !== step);
  const found = new URLSearchParams(elsewhere ? [] : query.filter(([name]) => !PLACE.includes(name)));
  if (picture) found.set("view", picture);
  if (picture) found.delete("plain");
  if (atLesson) {
    found.set("lesson", lesson);
    found.set("step", step);
  }
  if (hidden.length) found.set("hide", hidden.join(","));
  if (projector) found.set("projector", "true");
  if (embed) found.set("embed", "true");
  if (theme) found.set("embed_options", theme);
  return found.toString().replaceAll("%2C", ",");
}

/**
 * HTML of a frame that shows a link.
 *
 * @param {string} link @param {string} title
 */
export function frameOf(link, title) {
  const [src, name] = [link, title].map((text) => text.replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`));
  const size = /[?&]view=/.test(link)
    ? 'style="border: 0; width: 100%; aspect-ratio: 16 / 9"'
    : 'width="100%" height="800" style="border: 0"';
  return `<iframe src="${src}" title="${name}" ${size} loading="lazy" allow="clipboard-write; fullscreen"></iframe>`;
}
