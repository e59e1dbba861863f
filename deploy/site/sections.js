// @ts-check
// Sections of a page with Plotly figures. Each is loaded when the reader comes near. It names its settings where they
// differ from those of the page.

import { paintPlot } from "./plots.js";
import { nearestScene } from "./settings.js";
import { load } from "./store.js";

/** @import { Settings } from "./settings.js" */
/** @import { Look, Packed } from "./variants.js" */
/** @typedef {{ settings: Settings, sections: Record<string, string>, numbers: string }} Row settings, and the files of each section and of the page's table */
/**
 * @typedef {object} Known what was exported
 * @property {string} page
 * @property {Row[]} sections
 * @property {Record<string, string[]>} follows the settings that each section depends on
 * @property {Record<string, string>} names of settings for the reader
 */

/** How near is near, in pixels: a reader who scrolls should not wait. */
const NEAR = 600;

export class Sections {
  /** @param {Known} known @param {() => Look} look */
  constructor(known, look) {
    this.known = known;
    this.look = look;
    /** @type {NodeListOf<HTMLElement>} */
    const places = document.querySelectorAll("[data-section]");
    this.all = [...places].map((place) => new Section(place, known.page, look));
  }

  /**
   * Load sections when the reader comes near. Call this after the first picture.
   *
   * @param {(shown: Promise<void>) => void} guard gets the promise of each load
   */
  begin(guard) {
    if (this.observer) return;
    const root = document.querySelector("main");
    this.observer = new IntersectionObserver(
      (entries) => {
        const near = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target);
        guard(this.paint(this.all.filter(({ place }) => near.includes(place))));
      },
      { root, rootMargin: `${NEAR}px 0px` },
    );
    for (const { place } of this.all) this.observer.observe(place);
    document.addEventListener("show-all", (event) => {
      const shown = this.paint(this.all, true);
      guard(shown);
      /** @type {CustomEvent} */ (event).detail?.push(shown);
    });
  }

  /**
   * Show these settings, or the nearest that each section has.
   *
   * @param {Settings} settings
   */
  async show(settings) {
    const { sections, follows } = this.known;
    for (const section of this.all) {
      const keys = follows[section.name] ?? [];
      const { settings: nearest, sections: files } = nearestScene(sections, settings, undefined, keys);
      section.file = files[section.name];
      section.note = this.differences(keys, settings, nearest);
    }
    this.table = nearestScene(sections, settings);
    const other = this.differences(Object.keys(this.table.settings), settings, this.table.settings);
    document.querySelector(".of-numbers").textContent = other && `Numbers are those of other settings: ${other}.`;
    if (this.observer) await this.paint(this.all.filter(({ near }) => near));
  }

  /** Say what differs from the settings. @param {string[]} keys @param {Settings} settings @param {Settings} nearest */
  differences(keys, settings, nearest) {
    const other = keys.filter((key) => key in nearest && key in settings && nearest[key] !== settings[key]);
    return other.map((key) => `${this.known.names[key] ?? key}: ${nearest[key]}`).join("; ");
  }

  /** Let the reader save the table of the page. */
  async saveNumbers() {
    const { page } = this.known;
    const { csv } = await load(page, this.table.numbers);
    const url = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href: url, download: `${page}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  /**
   * Paint sections one after the other, so that the first comes early. It may push others out of sight; these wait.
   *
   * @param {Section[]} sections @param {boolean} [all] far ones too
   */
  async paint(sections, all) {
    for (const section of sections) section.load().catch(() => {}); // `show` reports errors
    for (const section of sections) if (all || section.near) await section.show();
  }

  /** Paint what is shown for another screen or theme. */
  async repaint() {
    for (const section of this.all) await section.paint();
  }
}

class Section {
  file = "";
  note = "";

  /** The file that is shown. */
  shown = "";

  /** Its figures, by their keys. @type {Record<string, Packed>} */
  figures = {};

  /** Resolves when they are painted. @type {Promise<void> | undefined} */
  painted;

  /** @param {HTMLElement} place @param {string} page @param {() => Look} look */
  constructor(place, page, look) {
    this.place = place;
    this.page = page;
    this.look = look;
    this.name = place.dataset.section;
    this.words = Object.assign(document.createElement("p"), { className: "computed" });
    this.inside = document.createElement("div");
    place.append(this.words, this.inside);
  }

  /** Whether the reader is near. */
  get near() {
    const { top, bottom } = this.place.getBoundingClientRect();
    return this.place.checkVisibility() && top <= window.innerHeight + NEAR && bottom >= -NEAR;
  }

  /** Load what is to be shown. @returns {Promise<{ html: string, figures: Record<string, Packed> }>} */
  async load() {
    return this.file ? load(this.page, this.file) : { html: "", figures: {} };
  }

  async show() {
    this.words.textContent = this.note && `Computed beforehand, here for other settings than yours: ${this.note}.`;
    const { file } = this;
    if (!file || file === this.shown) return this.painted;
    const { html, figures } = await this.load();
    if (file !== this.file) return; // the reader has gone on
    this.shown = file;
    this.figures = figures;
    this.write(html);
    this.painted = this.paint();
    return this.painted;
  }

  /** Write a section; keep its figures and unfolded parts. @param {string} html */
  write(html) {
    const next = Object.assign(document.createElement("template"), { innerHTML: html }).content;
    const folds = this.inside.querySelectorAll("details");
    for (const [k, fold] of next.querySelectorAll("details").entries()) fold.open = folds[k]?.open ?? false;
    for (const plot of plotsIn(next)) {
      const old = plotsIn(this.inside).find(({ dataset }) => dataset.plot === plot.dataset.plot);
      if (!old) continue;
      old.style.cssText = plot.style.cssText;
      old.firstElementChild.ariaLabel = plot.firstElementChild.ariaLabel;
      plot.replaceWith(old);
    }
    this.inside.replaceChildren(next);
  }

  /** Paint the figures, and let the browser show each before it paints the next. */
  async paint() {
    const { figures } = this;
    for (const plot of plotsIn(this.inside)) {
      if (figures !== this.figures) return; // the reader has gone on
      await paintPlot(/** @type {HTMLElement} */ (plot.firstElementChild), figures[plot.dataset.plot], this.look());
      await frame();
    }
  }
}

/** Wait for the next frame; a hidden window has none, so do not wait there. @returns {Promise<void>} */
function frame() {
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(resolve);
    else requestAnimationFrame(() => setTimeout(resolve));
  });
}

/** @param {ParentNode} place @returns {HTMLElement[]} */
function plotsIn(place) {
  return [...place.querySelectorAll("[data-plot]")].map((plot) => /** @type {HTMLElement} */ (plot));
}
