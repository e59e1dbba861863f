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
  const parameters = new URLSearchParams(elsewhere ? [] : query.filter(([name]) => !PLACE.includes(name)));
  if (picture) parameters.set("view", picture);
  if (picture) parameters.delete("plain");
  if (atLesson) {
    parameters.set("lesson", lesson);
    parameters.set("step", step);
  }
  if (hidden.length) parameters.set("hide", hidden.join(","));
  if (projector) parameters.set("projector", "true");
  if (embed) parameters.set("embed", "true");
  if (theme) parameters.set("embed_options", theme);
  return parameters.toString().replaceAll("%2C", ",");
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
