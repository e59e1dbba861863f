// @ts-check
// Draws of a sample, of its fresh sample and of frequencies, from which the browser computes a view (samples.py).

import { unpackedArray, unpackedDraw } from "../../pages/shared/live/unpacking.js";
import { load } from "./store.js";

/** @import { Settings } from "./settings.js" */
/** @typedef {{ points: number[], labels: number[] }} Centroids */
/** @typedef {{ settings: Settings, file?: string }} Row settings that need files, and the file of their sample */

const FOLDER = "samples"; // of the files, which pages share
const STREAMS = 8; // of frequencies, one for each landmark

/**
 * Load the draws of a view.
 *
 * @param {"landmarks" | "kernel"} view @param {Row} row
 * @returns {Promise<LandmarkDraws | KernelDraws>}
 */
export async function loadDraws(view, { file, settings: { data, seed } }) {
  if (view === "kernel") {
    const [train, candidates] = await Promise.all([load(FOLDER, file), load(FOLDER, `candidates_${seed}`)]);
    return new KernelDraws(file, train, candidates);
  }
  const names = [file, `landmarks_${seed}`, `${data}_${seed}_fresh`];
  const [train, frequencies, fresh] = await Promise.all(names.map((name) => load(FOLDER, name)));
  return new LandmarkDraws(file, train, frequencies, fresh);
}

/** Draws of the view of landmarks. */
export class LandmarkDraws {
  /** @param {string} file @param {any} train @param {any} frequencies @param {any} fresh what files hold */
  constructor(file, train, frequencies, fresh) {
    this.file = file;
    this.train = unpackedDraw(train, Float64Array);
    this.test = unpackedDraw(fresh, Float32Array);
    this.frequencies = unpackedArray(frequencies.draws, Float64Array);
    /** @type {number[]} */
    this.random = train.rows;
    /** By noise, and then by number. @type {Record<string, Centroids[]>} */
    this.centroids = train.centroids;
  }

  /**
   * Return the rows of the training points that are landmarks; none if landmarks are centroids.
   *
   * @param {Settings} settings
   */
  rows({ how, landmarks, picks }) {
    if (how === "k-means") return [];
    const picked = how === "clicked" ? rowsNamed(picks, this.train.labels.length) : [];
    return picked.length ? picked : this.random.slice(0, Number(landmarks));
  }

  /** Return what the view gets for these settings. @param {Settings} settings */
  view(settings) {
    const { file, train, test, frequencies } = this;
    const { how, landmarks, noise, C } = settings;
    return {
      draws: { train, test, frequencies, count: frequencies.length / (2 * STREAMS) },
      rows: this.rows(settings),
      centroids: how === "k-means" ? this.centroids[noise][Number(landmarks) - 1] : null,
      ...{ noise: Number(noise), C: Number(C), test_error: "test error", version: file },
    };
  }
}

/** Draws of the view of a learned kernel. */
export class KernelDraws {
  /** @param {string} file @param {any} train @param {any} candidates what files hold */
  constructor(file, train, candidates) {
    this.file = file;
    this.train = unpackedDraw(train, Float64Array);
    this.frequencies = unpackedArray(candidates.draws, Float64Array);
  }

  /** Return no rows: this view has no landmarks. @returns {number[]} */
  rows() {
    return [];
  }

  /** Return what the view gets for these settings. @param {Settings} settings */
  view({ noise, N }) {
    return {
      draws: { train: this.train, frequencies: this.frequencies.subarray(0, 2 * Number(N)) },
      noise: Number(noise),
      version: `${this.file} ${N}`,
    };
  }
}

/**
 * Return the different rows below n in a text such as 3-17-40, at most as many as landmarks; as in the app.
 *
 * @param {string} text @param {number} n
 */
export function rowsNamed(text, n) {
  const parts = text.split("-").filter((part) => /^\d{1,6}$/.test(part));
  return [...new Set(parts.map(Number))].filter((row) => row < n).slice(0, STREAMS);
}
