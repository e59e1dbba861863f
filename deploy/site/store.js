// @ts-check
// The data of a page, fetched when they are asked for. They come as scripts, since a page that is opened as a file may
// load nothing else.

import { dataOf } from "./packing.js";

/** @type {Map<string, Promise<any>>} */
const loaded = new Map();
/** @type {Map<string, (text: string) => void>} */
const waiting = new Map();

Object.assign(window, {
  /**
   * Take the content of a file of data, which calls this.
   *
   * @param {string} name @param {string} text a content, compressed by gzip, as base64
   */
  takeExported: (name, text) => waiting.get(name)?.(text),
});

/**
 * Load the data of a file, once.
 *
 * @param {string} folder @param {string} name
 */
export function load(folder, name) {
  return once(name, async () => {
    const content = await unpack(await textOf(`data/${folder}/${name}.js`, name)).arrayBuffer();
    return dataOf(new Uint8Array(content));
  });
}

/** Load Plotly's library once. @returns {Promise<any>} */
export function loadPlotly() {
  return once("plotly", async () => {
    const script = await unpack(await textOf("assets/plotly.js", "plotly")).blob();
    const src = URL.createObjectURL(script.slice(0, script.size, "text/javascript;charset=utf-8"));
    await run(src);
    URL.revokeObjectURL(src);
    return /** @type {any} */ (window).Plotly;
  });
}

/** @template T @param {string} name @param {() => Promise<T>} make @returns {Promise<T>} */
function once(name, make) {
  if (!loaded.has(name)) {
    const made = make();
    loaded.set(name, made);
    made.catch(() => loaded.delete(name)); // the next request tries again
  }
  return loaded.get(name);
}

/** @param {string} src @param {string} name @returns {Promise<string>} */
function textOf(src, name) {
  return new Promise((resolve, reject) => {
    waiting.set(name, resolve);
    run(src).catch(reject);
  });
}

/** Load a script and run it. @param {string} src @returns {Promise<void>} */
function run(src) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src });
    script.onload = () => {
      script.remove();
      resolve();
    };
    script.onerror = () => {
      script.remove();
      reject(new Error(`The file ${src} cannot be read.`));
    };
    document.head.append(script);
  });
}

/** @param {string} text */
function unpack(text) {
  if (!("DecompressionStream" in window)) throw new Error("This browser is too old: it cannot unpack the data.");
  const content = atob(text);
  const bytes = new Uint8Array(content.length);
  for (let k = 0; k < content.length; k++) bytes[k] = content.charCodeAt(k); // ten times as fast as Uint8Array.from
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}
