// @ts-check
// Animations of a live view as files: a GIF, frame by frame, or a video that the browser records as it plays.

import { GifWriter, Histogram } from "./gif.js";

/**
 * @typedef {object} Film
 * @property {number} width of a frame, in CSS pixels
 * @property {number} height
 * @property {(c: CanvasRenderingContext2D, part: number) => void} paint fills the canvas; part runs from 0 to 1
 * @property {() => void} end
 */
/** @typedef {(done: number) => void} Progress from 0 to 1 */

const FRAMES = 60;
const GIF_PIXELS = 54e6; // of all frames: a few MB, and seconds of work
const GIF_DELAY = 8; // hundredths of a second
const GIF_REST = 180; // of the last frame
const SAMPLES = 6; // frames whose colours make the palette
const VIDEO_PIXELS = 1e6; // of a frame, which is recorded as fast as it plays
const LARGEST_SCALE = 2;
const VIDEO_TIME = 6000; // milliseconds; on a slow machine longer, since no step is larger than those of a GIF
const VIDEO_RATE = 25; // frames a second
const VIDEO_REST = 1500; // milliseconds of the last frame
const BITS_PER_PIXEL = 6; // a second: text stays sharp
const VIDEO_TYPES = ["video/webm;codecs=vp8", "video/webm", "video/mp4"]; // VP9 is too slow for a small machine

/**
 * Size of a file's frames: in the film's proportions, of at most this many pixels, with even sides, which videos need.
 *
 * @param {{ width: number, height: number }} film @param {number} pixels @param {number} largestScale
 */
export function frameSize({ width, height }, pixels, largestScale) {
  const scale = Math.min(largestScale, Math.sqrt(pixels / (width * height)));
  const even = (/** @type {number} */ length) => Math.max(2, 2 * Math.floor((scale * length) / 2));
  return { width: even(width), height: even(height) };
}

/** The first type of video that this browser records; undefined if it records none. */
export function videoType() {
  if (typeof MediaRecorder === "undefined" || !HTMLCanvasElement.prototype.captureStream) return undefined;
  return VIDEO_TYPES.find((type) => MediaRecorder.isTypeSupported(type));
}

/** @param {{ width: number, height: number }} size */
function canvasOf(size, willReadFrequently = false) {
  return Object.assign(document.createElement("canvas"), size).getContext("2d", { willReadFrequently });
}

/** @param {number} milliseconds */
function rest(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/**
 * A film as an animated GIF that repeats; empty if it was cancelled.
 *
 * @param {Film} film @param {Progress} progress @param {AbortSignal} signal
 */
export async function gifOf(film, progress, signal) {
  const { width, height } = frameSize(film, GIF_PIXELS / FRAMES, 1);
  const c = canvasOf({ width, height }, true);
  const pixels = (/** @type {number} */ part) => {
    film.paint(c, part);
    return new Uint32Array(c.getImageData(0, 0, width, height).data.buffer);
  };
  const colours = new Histogram();
  for (let k = 0; k < SAMPLES && !signal.aborted; k++) {
    colours.count(pixels(k / (SAMPLES - 1)));
    await rest(0); // the page stays alive
  }
  const writer = new GifWriter(width, height, colours.palette());
  for (let k = 0; k < FRAMES && !signal.aborted; k++) {
    writer.add(pixels(k / (FRAMES - 1)), k < FRAMES - 1 ? GIF_DELAY : GIF_REST);
    progress((k + 1) / FRAMES);
    await rest(0);
  }
  return new Blob(writer.finish(), { type: "image/gif" });
}

/**
 * A film as a video, recorded as it plays; what there is of it if it was cancelled.
 *
 * @param {Film} film @param {Progress} progress @param {AbortSignal} signal
 * @returns {Promise<Blob>}
 */
export async function videoOf(film, progress, signal) {
  const size = frameSize(film, VIDEO_PIXELS, LARGEST_SCALE);
  const c = canvasOf(size);
  film.paint(c, 0);
  const stream = c.canvas.captureStream(0); // a frame when it is asked for
  const [track] = /** @type {CanvasCaptureMediaStreamTrack[]} */ (stream.getVideoTracks());
  const videoBitsPerSecond = BITS_PER_PIXEL * size.width * size.height;
  const recorder = new MediaRecorder(stream, { mimeType: videoType(), videoBitsPerSecond });
  /** @type {Blob[]} */
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const stopped = new Promise((done, failed) => {
    recorder.onstop = done;
    recorder.onerror = () => failed(new Error("its recorder failed"));
  });
  recorder.start();
  for (let part = 0, last = performance.now(); part < 1 && !signal.aborted;) {
    await rest(Math.max(0, last + 1000 / VIDEO_RATE - performance.now()));
    const now = performance.now();
    part = Math.min(1, part + Math.min((now - last) / VIDEO_TIME, 1 / FRAMES));
    last = now;
    film.paint(c, part);
    track.requestFrame();
    progress(part);
  }
  for (let k = 0; k < 2 && !signal.aborted; k++) {
    await rest(VIDEO_REST / 2);
    track.requestFrame();
  }
  recorder.stop();
  await stopped;
  track.stop();
  return new Blob(parts, { type: recorder.mimeType });
}
