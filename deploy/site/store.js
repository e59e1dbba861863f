// @ts-check
// The data of a page, fetched when they are asked for. They come as scripts, since a page that is opened as a file may
// load nothing else.

/** @typedef {{ view: Record<string, any>, scenes: Record<string, Words> }} Exported */
/** @typedef {{ texts: Record<string, string>, chosen: string | null }} Words what the page says for a scene */

/** @type {Map<string, Promise<Exported>>} */
const loaded = new Map();
/** @type {Map<string, (text: string) => void>} */
const waiting = new Map();

Object.assign(window, {
  /**
   * Called by a file of data.
   *
   * @param {string} name @param {string} text JSON, compressed by gzip, as base64
   */
  takeExported: (name, text) => waiting.get(name)?.(text),
});

/**
 * The data of a file, which is loaded once.
 *
 * @param {string} folder @param {string} name
 */
export function load(folder, name) {
  if (!loaded.has(name)) {
    const found = textOf(`data/${folder}/${name}.js`, name).then(unpack);
    loaded.set(name, found);
    found.catch(() => loaded.delete(name)); // the next request tries again
  }
  return loaded.get(name);
}

/** @param {string} src @param {string} name @returns {Promise<string>} */
function textOf(src, name) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src });
    waiting.set(name, resolve);
    script.onload = () => script.remove();
    script.onerror = () => {
      script.remove();
      reject(new Error(`The file ${src} cannot be read.`));
    };
    document.head.append(script);
  });
}

/** @param {string} text @returns {Promise<Exported>} */
function unpack(text) {
  if (!("DecompressionStream" in window)) throw new Error("This browser is too old: it cannot unpack the data.");
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
