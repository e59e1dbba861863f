// @ts-check
// Animations as files, without a browser: a decoder of GIF reads back what the encoder wrote.

import assert from "node:assert/strict";
import { test } from "node:test";

import { frameSize } from "../../pages/components/sharing/animation.js";
import { GifWriter, Histogram, compress } from "../../pages/components/sharing/gif.js";

/**
 * The entries that blocks of LZW stand for, as in Appendix F of the GIF89a specification.
 *
 * @param {Uint8Array} data
 */
function decompress(data) {
  const bits = [...data].flatMap((byte) => Array.from({ length: 8 }, (_, k) => (byte >> k) & 1));
  /** @type {number[][]} */
  let table = [];
  /** @type {number[] | null} */
  let before = null;
  const pixels = [];
  let width = 9;
  for (let at = 0; ;) {
    let code = 0;
    for (let k = 0; k < width; k++) code |= bits[at++] << k;
    if (code === 257) return { pixels, rest: bits.length - at };
    if (code === 256) {
      table = Array.from({ length: 258 }, (_, k) => [k]);
      [before, width] = [null, 9];
      continue;
    }
    assert.ok(code <= table.length, "a code that is not known yet");
    const entry = table[code] ?? [...before, before[0]];
    if (before && table.length < 4096) table.push([...before, entry[0]]);
    if (table.length === 1 << width && width < 12) width++;
    for (const pixel of entry) pixels.push(pixel);
    before = entry;
  }
}

/** @param {Uint8Array} bytes @param {number} at the first block's length */
function joinBlocks(bytes, at) {
  const joined = [];
  while (at < bytes.length && bytes[at]) {
    joined.push(...bytes.subarray(at + 1, at + 1 + bytes[at]));
    at += 1 + bytes[at];
  }
  return { data: Uint8Array.from(joined), end: at };
}

/**
 * The frames of a file as colours "0xBBGGRR", each drawn over the one before.
 *
 * @param {Uint8Array} file
 */
function decodeGif(file) {
  const word = (/** @type {number} */ at) => file[at] | (file[at + 1] << 8);
  assert.equal(String.fromCharCode(...file.subarray(0, 6)), "GIF89a");
  const [width, height] = [word(6), word(8)];
  assert.equal(file[10], 0xf7); // 256 colours
  const colour = (/** @type {number} */ k) => file[13 + 3 * k] | (file[14 + 3 * k] << 8) | (file[15 + 3 * k] << 16);
  const screen = new Uint32Array(width * height);
  const frames = [];
  let control = { transparent: -1, delay: 0 };
  let at = 13 + 3 * 256;
  for (; file[at] !== 0x3b;) {
    if (file[at] === 0x21 && file[at + 1] === 0xf9) {
      control = { transparent: file[at + 3] & 1 ? file[at + 6] : -1, delay: word(at + 4) };
    }
    if (file[at] === 0x21) {
      at = joinBlocks(file, at + 2).end + 1;
      continue;
    }
    assert.equal(file[at], 0x2c);
    const [left, top, w, h] = [1, 3, 5, 7].map((k) => word(at + k));
    assert.ok(left + w <= width && top + h <= height && w > 0 && h > 0);
    const { data, end } = joinBlocks(file, at + 11);
    const { pixels } = decompress(data);
    assert.equal(pixels.length, w * h);
    for (const [k, entry] of pixels.entries()) {
      if (entry !== control.transparent) screen[(top + Math.floor(k / w)) * width + left + (k % w)] = colour(entry);
    }
    frames.push({ pixels: screen.slice(), delay: control.delay, area: w * h });
    at = end + 1;
  }
  assert.equal(at, file.length - 1);
  return { width, height, frames };
}

/** Whole numbers below `top`, the same in every run. @param {number} top */
function random(top, seed = 1) {
  let state = seed;
  return () => {
    state = (1103515245 * state + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * top);
  };
}

/** @param {Uint8Array<ArrayBuffer>[]} parts */
async function bytesOf(parts) {
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

test("LZW is read back, over many tables of codes", () => {
  const noise = random(256);
  const few = random(3);
  for (const [length, next] of /** @type {[number, (i: number) => number][]} */ ([
    [1, () => 7],
    [2, () => 255],
    [40_000, () => 9],
    [20_000, () => noise()],
    [60_000, () => few()],
    [30_000, (i) => (i >> 4) & 255],
  ])) {
    const pixels = Uint8Array.from({ length }, (_, i) => next(i));
    const blocks = compress(pixels);
    const { data, end } = joinBlocks(blocks, 0);
    assert.equal(end, blocks.length);
    const { pixels: read, rest } = decompress(data);
    assert.deepEqual(Uint8Array.from(read), pixels);
    assert.ok(rest < 8);
  }
});

test("even pixels take little room", () => {
  assert.ok(compress(new Uint8Array(100_000).fill(3)).length < 1000);
});

test("a palette has every colour where there are few, and the ends of a scale where there are many", () => {
  const few = [0xff000000, 0xffffffff, 0xff0000ff, 0xff55aa00];
  const colours = new Histogram();
  colours.count(Uint32Array.from(few));
  const found = colours.palette().map(([r, g, b]) => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0);
  for (const pixel of few) {
    const near = found.some((one) => [0, 8, 16].every((k) => Math.abs(((one >> k) & 255) - ((pixel >> k) & 255)) <= 2));
    assert.ok(near, pixel.toString(16));
  }
  assert.equal(found.length, 4);
  const many = new Histogram();
  const next = random(2 ** 24);
  many.count(Uint32Array.from({ length: 50_000 }, next));
  assert.equal(many.palette().length, 255);
});

test("a smooth scale keeps its colours to a few levels", () => {
  const levels = Uint32Array.from(
    { length: 4096 },
    (_, i) => (0xff000000 | ((i >> 4) << 16) | (128 << 8) | (255 - (i >> 4))) >>> 0,
  );
  const colours = new Histogram();
  colours.count(levels);
  const palette = colours.palette();
  const writer = new GifWriter(64, 64, palette);
  for (const [i, entry] of writer.indices(levels).entries()) {
    const pixel = levels[i];
    for (const [channel, value] of palette[entry].entries()) {
      assert.ok(Math.abs(value - ((pixel >> (8 * channel)) & 255)) <= 4);
    }
  }
});

test("frames are read back, each drawn over the one before", async () => {
  const [width, height] = [37, 21];
  /** @type {[number, number, number][]} */
  const palette = [
    [255, 255, 255],
    [0, 0, 0],
    [200, 30, 40],
    [20, 60, 220],
  ];
  const packed = palette.map(([r, g, b]) => r | (g << 8) | (b << 16));
  const next = random(4, 3);
  const noise = Uint32Array.from({ length: width * height }, () => 0xff000000 | packed[next()]);
  const corner = noise.slice();
  for (let y = 5; y < 9; y++) corner.fill(0xff000000 | packed[2], y * width + 30, y * width + 33);
  const frames = [noise, corner, corner, noise, new Uint32Array(width * height).fill(0xffffffff)];
  const writer = new GifWriter(width, height, palette);
  for (const [k, frame] of frames.entries()) writer.add(frame, 8 + k);
  const read = decodeGif(await bytesOf(writer.finish()));
  assert.deepEqual([read.width, read.height, read.frames.length], [width, height, frames.length]);
  for (const [k, { pixels, delay }] of read.frames.entries()) {
    assert.equal(delay, 8 + k);
    assert.deepEqual(
      pixels,
      frames[k].map((pixel) => pixel & 0xffffff),
    );
  }
  assert.ok(read.frames[1].area <= 12 && read.frames[2].area === 1);
});

test("frames have the film's proportions, even sides, and no more pixels than allowed", () => {
  for (const film of [
    { width: 1301, height: 655 },
    { width: 366, height: 1743 },
    { width: 300, height: 200 },
  ]) {
    const { width, height } = frameSize(film, 600_000, 1);
    assert.ok(width * height <= 600_000 && width <= film.width && height <= film.height);
    assert.ok(width % 2 === 0 && height % 2 === 0);
    assert.ok(Math.abs(width / height / (film.width / film.height) - 1) < 0.02);
  }
  assert.deepEqual(frameSize({ width: 300, height: 200 }, 1e6, 2), { width: 600, height: 400 });
});
