// @ts-check
// The content of a file of data: a line of JSON, then the bytes of its arrays. These are laid out by place: the first
// bytes of all numbers, then the second ones, and so on (packing.py).

const CHUNK = 0x8000; // arguments of a call

/** @param {Uint8Array} content */
export function dataOf(content) {
  const end = content.indexOf(10);
  const bytes = content.subarray(end + 1);
  return withArrays(JSON.parse(new TextDecoder().decode(content.subarray(0, end))), bytes);
}

/**
 * Return a JSON value with its arrays as base64.
 *
 * @param {any} value @param {Uint8Array} bytes
 * @returns {any}
 */
function withArrays(value, bytes) {
  if (Array.isArray(value)) return value.map((part) => withArrays(part, bytes));
  if (typeof value !== "object" || value === null) return value;
  if ("$bytes" in value) {
    const [place, length, width] = value.$bytes;
    return asBase64(byNumber(bytes.subarray(place, place + length), width));
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withArrays(part, bytes)]));
}

/** @param {Uint8Array} bytes by place @param {number} width bytes of a number */
function byNumber(bytes, width) {
  const count = bytes.length / width;
  return Uint8Array.from(bytes, (_, k) => bytes[(k % width) * count + Math.floor(k / width)]);
}

/** @param {Uint8Array} bytes */
function asBase64(bytes) {
  let text = "";
  for (let k = 0; k < bytes.length; k += CHUNK) text += String.fromCharCode(...bytes.subarray(k, k + CHUNK));
  return btoa(text);
}
