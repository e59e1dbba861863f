// @ts-check
// Keys for undo and redo.

/** Fields in which the keys belong to the text. */
const TEXT = "input:not([type=range], [type=checkbox], [type=radio], [role=combobox]), textarea";

/**
 * What a key asks for: Ctrl+Z undoes, Ctrl+Shift+Z and Ctrl+Y redo.
 *
 * @param {KeyboardEvent} event
 * @returns {"undo" | "redo" | undefined}
 */
export function askedBy(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return undefined; // a browser that fills in a form sends no key
  const letter = event.key.toLowerCase();
  if (letter !== "z" && letter !== "y") return undefined;
  if (event.target instanceof Element && event.target.closest(TEXT)) return undefined;
  return letter === "y" || event.shiftKey ? "redo" : "undo";
}
