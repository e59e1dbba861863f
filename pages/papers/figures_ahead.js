// @ts-check
// Loads what draws figures while the reader looks at the table, on a device that may load more than it shows.

/** @param {{ data: { script: string } }} component */
export default function ({ data }) {
  const { connection } = /** @type {Navigator & { connection?: { saveData: boolean } }} */ (navigator);
  if (!window.matchMedia("(hover: hover)").matches || connection?.saveData) return;
  if (document.querySelector(`script[src="${data.script}"]`)) return;
  const script = document.createElement("script");
  Object.assign(script, { type: "module", src: data.script });
  document.head.append(script);
}
