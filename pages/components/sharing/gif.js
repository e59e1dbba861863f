// @ts-check
// Animated GIF: a palette by median cut, frames as their difference from the one before, and LZW.

/** @typedef {Uint32Array} Pixels "0xAABBGGRR", as in the data of an image on a little-endian machine */

const BITS = 6; // of a channel, by which colours are counted
const LEVELS = 1 << BITS;
const COLOURS = 255; // one of the 256 is transparent
const TRANSPARENT = 255;
const HASH = 8192; // slots for at most 4096 codes

/**
 * The bin of a colour.
 *
 * @param {number} pixel
 */
function binOf(pixel) {
  return (((pixel >> 2) & 63) << (2 * BITS)) | (((pixel >> 10) & 63) << BITS) | ((pixel >> 18) & 63);
}

/**
 * A channel of a bin, from 0 to 63.
 *
 * @param {number} bin @param {number} channel 0 is red
 */
function level(bin, channel) {
  return (bin >> ((2 - channel) * BITS)) & (LEVELS - 1);
}

/** @typedef {{ bins: Uint32Array, count: number, channel: number, spread: number }} Box of colours, and its longest side */

/** How often each colour occurs. */
export class Histogram {
  counts = new Uint32Array(LEVELS ** 3);

  /** @param {Pixels} pixels */
  count(pixels) {
    for (let i = 0; i < pixels.length; i++) this.counts[binOf(pixels[i])]++;
  }

  /**
   * At most 255 colours (r, g, b) by median cut: the box that is long and full is cut next.
   *
   * @returns {[number, number, number][]}
   */
  palette() {
    const occupied = Uint32Array.from(this.counts.keys()).filter((bin) => this.counts[bin] > 0);
    const boxes = [this.box(occupied)];
    while (boxes.length < COLOURS) {
      const urgency = boxes.map(({ count, spread }) => spread * Math.sqrt(count));
      const k = urgency.indexOf(Math.max(...urgency));
      if (!boxes[k]?.spread) break;
      boxes.push(...this.halves(boxes.splice(k, 1)[0]));
    }
    return boxes.map(({ bins }) => this.mean(bins));
  }

  /** @param {Uint32Array} bins @returns {Box} */
  box(bins) {
    let count = 0;
    const low = [LEVELS, LEVELS, LEVELS];
    const high = [-1, -1, -1];
    for (const bin of bins) {
      count += this.counts[bin];
      for (let channel = 0; channel < 3; channel++) {
        low[channel] = Math.min(low[channel], level(bin, channel));
        high[channel] = Math.max(high[channel], level(bin, channel));
      }
    }
    const spreads = high.map((top, channel) => Math.max(0, top - low[channel]));
    const spread = Math.max(...spreads);
    return { bins, count, channel: spreads.indexOf(spread), spread };
  }

  /** @param {Box} box @returns {Box[]} */
  halves({ bins, count, channel }) {
    const sorted = bins.slice().sort((a, b) => level(a, channel) - level(b, channel));
    let below = 0;
    let cut = 0;
    while (cut < sorted.length - 1 && (cut === 0 || below + this.counts[sorted[cut]] <= count / 2)) {
      below += this.counts[sorted[cut++]];
    }
    return [sorted.subarray(0, cut), sorted.subarray(cut)].map((half) => this.box(half));
  }

  /** @param {Uint32Array} bins @returns {[number, number, number]} */
  mean(bins) {
    let count = 0;
    const sums = [0, 0, 0];
    for (const bin of bins) {
      count += this.counts[bin];
      for (let channel = 0; channel < 3; channel++) sums[channel] += this.counts[bin] * level(bin, channel);
    }
    const [r, g, b] = sums.map((sum) => Math.round((255 * sum) / (count * (LEVELS - 1))));
    return [r, g, b];
  }
}

export class GifWriter {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  parts = [];

  /** Entry of the palette of each bin that has been met; -1 for others. */
  entries = new Int16Array(LEVELS ** 3).fill(-1);

  /** The frame before, as entries of the palette.
   * @type {Uint8Array | null} */
  shown = null;

  /** @param {number} width @param {number} height @param {[number, number, number][]} palette of at most 255 colours */
  constructor(width, height, palette) {
    this.width = width;
    this.height = height;
    this.palette = palette;
    const table = new Uint8Array(3 * 256);
    table.set(palette.flat());
    this.write(ascii("GIF89a"), words(width, height), [0xf7, 0, 0], table);
    this.write([0x21, 0xff, 11], ascii("NETSCAPE2.0"), [3, 1, 0, 0, 0]); // repeats for ever
  }

  /** @param {...ArrayLike<number>} pieces */
  write(...pieces) {
    for (const piece of pieces) this.parts.push(Uint8Array.from(piece));
  }

  /** @param {number} bin */
  nearest(bin) {
    const [r, g, b] = [0, 1, 2].map((channel) => (255 * level(bin, channel)) / (LEVELS - 1));
    let best = 0;
    let distance = Infinity;
    for (const [k, colour] of this.palette.entries()) {
      const d = (colour[0] - r) ** 2 + (colour[1] - g) ** 2 + (colour[2] - b) ** 2;
      if (d < distance) [best, distance] = [k, d];
    }
    return best;
  }

  /** @param {Pixels} pixels */
  indices(pixels) {
    const { entries } = this;
    const indices = new Uint8Array(pixels.length);
    for (let i = 0; i < pixels.length; i++) {
      const bin = binOf(pixels[i]);
      if (entries[bin] < 0) entries[bin] = this.nearest(bin);
      indices[i] = entries[bin];
    }
    return indices;
  }

  /** @param {Pixels} pixels @param {number} delay in hundredths of a second */
  add(pixels, delay) {
    const { width, shown } = this;
    const frame = this.indices(pixels);
    const { left, top, right, bottom } = shown
      ? this.changed(frame)
      : { left: 0, top: 0, right: width, bottom: this.height };
    const part = new Uint8Array((right - left) * (bottom - top));
    for (let y = top, k = 0; y < bottom; y++) {
      for (let i = y * width + left; i < y * width + right; i++)
        part[k++] = frame[i] === shown?.[i] ? TRANSPARENT : frame[i];
    }
    // The frame stays, and the next is painted over it.
    this.write([0x21, 0xf9, 4, (1 << 2) | 1], words(delay), [TRANSPARENT, 0]);
    this.write([0x2c], words(left, top, right - left, bottom - top), [0, 8], compress(part), [0]);
    this.shown = frame;
  }

  /**
   * The rectangle that differs from the frame before; one pixel if none does.
   *
   * @param {Uint8Array} frame
   */
  changed(frame) {
    const { width, height, shown } = this;
    const box = { left: width, top: height, right: 0, bottom: 0 };
    for (let i = 0; i < frame.length; i++) {
      if (frame[i] === shown[i]) continue;
      const x = i % width;
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x + 1);
      box.bottom = Math.floor(i / width) + 1;
      box.top = Math.min(box.top, box.bottom - 1);
    }
    return box.right ? box : { left: 0, top: 0, right: 1, bottom: 1 };
  }

  /** The file, in parts. */
  finish() {
    return [...this.parts, Uint8Array.of(0x3b)];
  }
}

/** @param {string} text */
function ascii(text) {
  return Array.from(text, (c) => c.charCodeAt(0));
}

/**
 * Numbers of two bytes.
 *
 * @param {...number} numbers
 */
function words(...numbers) {
  return numbers.flatMap((number) => [number & 255, number >> 8]);
}

/** Codes of a growing number of bits, in blocks of at most 255 bytes that begin with their length. */
class BlockWriter {
  /** @param {number} codes at most */
  constructor(codes) {
    this.bytes = new Uint8Array(Math.ceil(codes * 1.5 * (256 / 255)) + 16);
    this.length = 1;
    this.start = 0; // of the block, where its length is written
    this.pending = 0;
    this.bits = 0;
  }

  /** @param {number} code @param {number} bits */
  put(code, bits) {
    this.pending |= code << this.bits;
    this.bits += bits;
    for (; this.bits >= 8; this.bits -= 8, this.pending >>>= 8) this.byte(this.pending & 255);
  }

  /** @param {number} value */
  byte(value) {
    this.bytes[this.length++] = value;
    if (this.length - this.start === 256) this.close();
  }

  close() {
    this.bytes[this.start] = this.length - this.start - 1;
    this.start = this.length++;
  }

  finish() {
    if (this.bits) this.byte(this.pending & 255);
    if (this.length - this.start > 1) this.close();
    return this.bytes.subarray(0, this.start);
  }
}

/**
 * Entries of a palette of 256 colours by LZW, as blocks of a GIF without the empty one at the end.
 *
 * @param {Uint8Array} pixels at least one
 */
export function compress(pixels) {
  const clear = 256;
  const blocks = new BlockWriter(pixels.length + pixels.length / 3000 + 8);
  const keys = new Int32Array(HASH);
  const codes = new Uint16Array(HASH);
  let [bits, next] = [9, 4096];
  let prefix = -1;
  for (let i = 0; i < pixels.length; i++) {
    const pixel = pixels[i];
    if (prefix >= 0) {
      const key = (prefix << 8) | pixel;
      let slot = (key * 2654435761) >>> 19;
      while (keys[slot] >= 0 && keys[slot] !== key) slot = (slot + 1) & (HASH - 1);
      if (keys[slot] === key) {
        prefix = codes[slot];
        continue;
      }
      blocks.put(prefix, bits);
      if (next < 4096) {
        // The reader of the file knows a code one step later.
        if (next >= 1 << bits) bits++;
        keys[slot] = key;
        codes[slot] = next++;
      }
    }
    if (next === 4096) {
      blocks.put(clear, bits);
      keys.fill(-1);
      [bits, next] = [9, clear + 2];
    }
    prefix = pixel;
  }
  blocks.put(prefix, bits);
  blocks.put(clear + 1, bits);
  return blocks.finish();
}
