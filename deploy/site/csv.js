// @ts-check
// The numbers of a live view as one table, as the app's CSV has them: a column for the name of the table, and all columns.

/** @typedef {Record<string, Record<string, ArrayLike<number | string>>>} Tables */

/**
 * CSV of tables; a column that a table has not, and a number that is none, stay empty.
 *
 * @param {Tables} tables
 */
export function csvOf(tables) {
  const columns = [...new Set(Object.values(tables).flatMap(Object.keys))];
  const lines = [["table", ...columns]];
  for (const [name, table] of Object.entries(tables)) {
    const rows = Math.max(...Object.values(table).map(({ length }) => length));
    for (let k = 0; k < rows; k++) lines.push([name, ...columns.map((column) => cell(table[column]?.[k]))]);
  }
  return lines.map((line) => `${line.map(quoted).join(",")}\n`).join("");
}

/** @param {number | string | undefined} value */
function cell(value) {
  return value === undefined || Number.isNaN(value) ? "" : String(value);
}

/** @param {string} text */
function quoted(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Let the reader save a text as a file.
 *
 * @param {string} text @param {string} name
 */
export function saveText(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
