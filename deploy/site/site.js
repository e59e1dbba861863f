// @ts-check
// A page of the static edition: what the server does in the app. It fetches the data of a setting, hands them to the live
// view, and writes words, controls and link.

import {
  applyModes,
  applyTheme,
  chosenTheme,
  keepTheme,
  look,
  nextTheme,
  onChange,
  themeOf,
  wordsFor,
} from "./modes.js";
import { loadDraws, rowsNamed } from "./draws.js";
import { Sections } from "./sections.js";
import { fragmentOf, nearestScene, nearestValue, settingsOf } from "./settings.js";
import { load } from "./store.js";

/** @import { Settings } from "./settings.js" */
/** @import { Row } from "./sections.js" */
/** @typedef {{ key: string, label: string, help: string, heading: string, values: string[], scale?: boolean }} Control a scale is moved without loading */
/** @typedef {{ name: string, help: string, line: string, settings: Settings }} Preset */
/** @typedef {{ before: Settings, after: Settings, card: Record<string, any> }} Step */
/** @typedef {{ key: string, page: string, title: string, takeaway: string, steps: Step[] }} Lesson */
/** @typedef {{ lesson: Lesson, step: number, answer: number | null }} Place in a lesson; steps count from 1 */
/**
 * @typedef {object} Description of a page
 * @property {string} page
 * @property {Settings} defaults
 * @property {Control[]} controls
 * @property {Record<string, string[]>} sliders of the live view, with the values that links have
 * @property {Shown[]} scenes of the live view
 * @property {Row[]} sections
 * @property {Record<string, string[]>} follows the settings that each section depends on
 * @property {Record<string, string>} names of settings for the reader
 * @property {"landmarks" | "kernel" | null} computes the view that the browser computes from draws
 * @property {{ none: string, most: number, too_many: string, gone: string[] } | null} clicks on points, which become landmarks
 * @property {string[]} codes of what a reader sets by hand in the live view, by their keys
 * @property {Record<string, Record<string, string>>} words other texts than the page's own, by the number of candidates
 * @property {string} chooses the control that a click in the live view sets, or ""
 * @property {string[]} choices its values; a click says a value, or its place among them
 * @property {Preset[]} presets
 * @property {Lesson[]} lessons
 * @property {Record<string, { page: string, title: string }>} following each lesson, by its key
 * @property {Record<string, [name: string, meaning: string]>} terms
 */
/** @typedef {{ settings: Settings, file: string }} Shown what the page shows; the file is that of the live view */
/** @typedef {{ inputTime?: number }} LiveView */
/** @typedef {(component: { parentElement: HTMLElement, data: any, setStateValue: Function, setTriggerValue: Function }) => void} Component */

const MODES = ["projector", "embed", "theme", "embed_options"];

applyTheme(themeOf(settingsOf(location)) || chosenTheme());

class Page {
  /** What the link says. @type {Settings} */
  link = {};

  /** @type {Settings} */
  settings = {};

  /** @type {Place | null} */
  place = null;

  /** The scene that is shown: its view, or what the view is computed from, and its words.
   * @type {{ view?: any, draws?: Awaited<ReturnType<typeof loadDraws>>, words: any } | null} */
  shown = null;

  /** Whether the view is to be mounted in the next frame. */
  mounting = false;

  /** Counts requests: only the answer to the last one is shown. */
  request = 0;

  /** @param {Description} description @param {Record<string, Component>} components */
  constructor(description, components) {
    this.description = description;
    this.components = components;
    this.sections = new Sections(description, look);
    this.find(".controls form").append(...this.controlRows());
    this.find(".controls").hidden = !description.controls.length;
    this.find(".presets").append(...description.presets.map((preset) => this.presetButton(preset)));
    this.find(".lessons").append(...description.lessons.map((lesson) => this.lessonButton(lesson)));
    this.find(".lessons").hidden = !description.lessons.length;
    this.listen();
    components.tip({ ...this.component(".glossary-place"), data: { terms: description.terms } });
    this.read();
  }

  /** @param {string} selector @returns {HTMLElement} */
  find(selector) {
    return document.querySelector(selector);
  }

  /** Return what each component of the app gets from Streamlit. @param {string} place */
  component(place) {
    return { parentElement: this.find(place), setStateValue: () => {}, setTriggerValue: () => {} };
  }

  listen() {
    window.addEventListener("hashchange", () => this.read());
    onChange(() => this.showLook());
    this.find(".to-theme").onclick = () => this.changeTheme();
    this.find(".to-projector").onclick = () => this.toggleProjector();
    this.find(".leave-projector").onclick = () => this.toggleProjector();
    this.find(".to-numbers").onclick = () => this.guard(this.sections.saveNumbers());
    this.find(".skip").onclick = (event) => {
      event.preventDefault(); // the fragment holds the settings
      this.find("main").focus();
    };
  }

  // --- the link -----------------------------------------------------------------------------------------------------

  /** Show what the link asks for. */
  read() {
    const { description } = this;
    this.link = settingsOf(location);
    const lesson = description.lessons.find(({ key }) => key === this.link.lesson);
    const step = Math.min(Math.max(Math.round(Number(this.link.step)) || 1, 1), lesson?.steps.length ?? 1);
    this.place = lesson ? { lesson, step, answer: null } : null;
    const named = Object.entries(this.link).filter(([key]) => key in description.defaults);
    const lessonSettings = lesson ? lesson.steps[step - 1].before : {};
    this.settings = { ...description.defaults, ...lessonSettings, ...Object.fromEntries(named) };
    for (const [key, values] of Object.entries(description.sliders)) {
      this.settings[key] = nearestValue(values, Number(this.settings[key]));
    }
    for (const { key, values, scale } of description.controls) {
      const asked = Number(this.settings[key]);
      if (scale) this.settings[key] = Number.isNaN(asked) ? description.defaults[key] : nearestValue(values, asked);
    }
    this.showLook();
    this.show();
  }

  /** Settings, place and modes, as a link has them. @returns {Settings} */
  get linked() {
    const modes = MODES.map((name) => [name, this.link[name] ?? ""]);
    const { place } = this;
    const at = place ? { lesson: place.lesson.key, step: String(place.step) } : {};
    const picks = this.settings.how === "clicked" ? this.settings.picks : "";
    return { ...this.settings, ...(this.description.clicks ? { picks } : {}), ...at, ...Object.fromEntries(modes) };
  }

  /** Write the link; with a new entry of the history, Back undoes a change. @param {boolean} entry */
  write(entry) {
    const fragment = fragmentOf(this.linked, this.description.defaults);
    const url = `${location.href.replace(/[?#].*/, "")}${fragment ? `#${fragment}` : ""}`;
    if (url === location.href) return;
    history[entry ? "pushState" : "replaceState"](null, "", url);
    this.link = settingsOf(location);
  }

  // --- look ---------------------------------------------------------------------------------------------------------

  showLook() {
    const theme = themeOf(this.link) || chosenTheme();
    applyTheme(theme);
    applyModes(this.link);
    this.find(".to-theme").textContent = `Theme: ${theme || "system"}`;
    this.mountView();
    this.guard(this.sections.repaint());
    this.showCard();
  }

  changeTheme() {
    keepTheme(nextTheme(themeOf(this.link) || chosenTheme()));
    delete this.link.theme;
    delete this.link.embed_options;
    this.write(false);
    this.showLook();
  }

  toggleProjector() {
    this.link.projector = this.link.projector === "true" ? "" : "true";
    this.write(true);
    this.showLook();
  }

  // --- controls -----------------------------------------------------------------------------------------------------

  /** Return the rows of the controls, each group below its heading. */
  controlRows() {
    /** @type {HTMLElement[]} */
    const rows = [];
    let heading = "";
    for (const control of this.description.controls) {
      if (control.heading !== heading) rows.push(element("h2", { textContent: control.heading }));
      heading = control.heading;
      rows.push(this.controlRow(control));
    }
    return rows;
  }

  /** @param {Control} control */
  controlRow(control) {
    const { key, label, help } = control;
    const row = element("label", { title: help });
    row.dataset.key = key;
    row.append(
      element("span", { textContent: label }),
      ...(control.scale ? this.scale(control) : [this.menu(control)]),
    );
    return row;
  }

  /** @param {Control} control */
  menu({ key, values }) {
    const select = element("select", { name: key });
    select.append(...values.map((value) => new Option(SWITCHED[value] ?? value, value)));
    select.onchange = () => this.change({ [key]: select.value }, key);
    return select;
  }

  /** Make a slider over values that the browser computes as it moves, and show its value. @param {Control} control */
  scale({ key, label, values }) {
    const input = element("input", { type: "range", name: key, ariaLabel: label, max: String(values.length - 1) });
    input.oninput = (event) => this.slide(key, values[Number(input.value)], event.timeStamp);
    input.onchange = () => this.change({ [key]: values[Number(input.value)] }, key);
    return [element("output"), input];
  }

  /** Follow a slider that is still held. @param {string} key @param {string} value @param {number} time of the input */
  slide(key, value, time) {
    this.settings[key] = value;
    this.showScale(key);
    if (this.scene && key in this.scene.settings) return; // of which there are some values only
    if (this.liveView) this.liveView.inputTime ??= time;
    if (!this.mounting) requestAnimationFrame(() => this.mountView());
    this.mounting = true;
  }

  /** @param {string} key */
  showScale(key) {
    const row = this.find(`.controls [data-key="${key}"]`);
    const { values } = this.description.controls.find((control) => control.key === key);
    const input = row.querySelector("input");
    input.value = String(values.indexOf(this.settings[key]));
    input.setAttribute("aria-valuetext", this.settings[key]);
    row.querySelector("output").textContent = this.settings[key];
  }

  /** Take what the reader clicked or moved in the live view. @param {any} value */
  take(value) {
    const { clicks, chooses, choices, codes } = this.description;
    if (clicks) this.pick(value);
    else if (chooses) this.change({ [chooses]: choices[value] ?? value }, chooses);
    else if (codes.length) this.change({ [codes[0]]: value });
  }

  /** Make these points the landmarks, if they are not too many. @param {number[]} rows */
  pick(rows) {
    const { most, too_many } = this.description.clicks;
    if (rows.length > most) this.find(".changes").textContent = too_many;
    else this.change({ how: "clicked", picks: rows.join("-") }, "how");
  }

  /** Take settings that the reader chose. @param {Settings} settings @param {string} [moved] */
  change(settings, moved) {
    Object.assign(this.settings, settings);
    this.show(moved).then(() => this.write(true));
  }

  /** Take the values of sliders that the reader has left. @param {Record<string, number>} settled */
  settle(settled) {
    for (const [key, value] of Object.entries(settled)) {
      const values = this.description.sliders[key];
      if (values) this.settings[key] = nearestValue(values, value);
    }
    this.write(false);
    this.mountView();
    this.guard(this.sections.show(this.settings));
    this.showSettings();
  }

  /** The live view, once it has been mounted. @returns {LiveView | undefined} */
  get liveView() {
    return /** @type {HTMLElement & { view?: LiveView }} */ (this.find(".live"))?.view;
  }

  // --- presets and lessons ------------------------------------------------------------------------------------------

  /** @param {Preset} preset */
  presetButton({ name, help, settings }) {
    const button = element("button", { type: "button", textContent: name, title: help });
    button.onclick = () => this.change(settings);
    return button;
  }

  /** The preset whose settings the page has; what no preset sets, such as beta, does not count. */
  get preset() {
    const { presets, defaults } = this.description;
    if (this.linked.picks) return undefined; // clicked landmarks are no preset's
    const keys = new Set(
      presets.flatMap(({ settings }) => Object.keys(settings).filter((key) => settings[key] !== defaults[key])),
    );
    return presets.find(({ settings }) => [...keys].every((key) => settings[key] === this.settings[key]));
  }

  /** @param {Lesson} lesson */
  lessonButton(lesson) {
    const button = element("button", { type: "button", textContent: lesson.title, title: lesson.takeaway });
    button.onclick = () => this.enter(lesson, 1);
    return button;
  }

  /** @param {Lesson} lesson @param {number} step */
  enter(lesson, step) {
    this.place = { lesson, step, answer: null };
    this.change({ ...this.description.defaults, ...lesson.steps[step - 1].before });
  }

  /** Handle a button of the card. @param {{ name: string, answer?: number }} action */
  act({ name, answer }) {
    const { lesson, step } = this.place;
    const following = this.description.following[lesson.key];
    if (name === "answer") {
      this.place.answer = answer;
      this.change(lesson.steps[step - 1].after);
    } else if (name === "back") this.enter(lesson, Math.max(step - 1, 1));
    else if (name === "next" && step < lesson.steps.length) this.enter(lesson, step + 1);
    else if (name === "next" && following) location.href = following.page;
    else this.leave();
  }

  leave() {
    this.place = null;
    this.write(true);
    this.showCard();
  }

  showCard() {
    const place = this.find(".st-key-lesson_card");
    if (!this.place) return place.replaceChildren();
    const { lesson, step, answer } = this.place;
    const { before, after, card } = lesson.steps[step - 1];
    if (!place.firstElementChild) {
      const template = /** @type {HTMLTemplateElement} */ (this.find("template.lesson-card"));
      place.append(template.content.cloneNode(true));
    }
    const moved = Object.entries(answer === null ? before : after).some(([key, value]) => this.settings[key] !== value);
    const words = Object.fromEntries(["text", "question", "outcome"].map((name) => [name, wordsFor(card[name])]));
    const answers = card.answers.map(wordsFor);
    const next = this.description.following[lesson.key]?.title ?? "";
    this.components.card({
      ...this.component(".st-key-lesson_card"),
      data: { ...card, ...words, answers, next, answer, moved },
      setTriggerValue: (/** @type {string} */ _name, /** @type {any} */ action) => this.act(action),
    });
  }

  // --- what is shown ------------------------------------------------------------------------------------------------

  /** Show the settings, or the nearest that were exported. @param {string} [moved] the control that the reader moved */
  async show(moved) {
    const scene = nearestScene(this.description.scenes, this.settings, moved);
    const request = ++this.request;
    const dropped = this.description.clicks ? this.keepPicks(Number(scene.settings.n)) : "";
    this.tellChanges(scene, moved, dropped);
    this.scene = scene;
    Object.assign(this.settings, scene.settings);
    document.documentElement.dataset.loading = "true";
    await this.guard(this.showScene(scene, request));
    if (request !== this.request) return;
    delete document.documentElement.dataset.loading;
    this.showSettings();
    this.showCard();
    this.sections.begin((shown) => this.guard(shown));
  }

  /** Show the live view with the words around it, and then the sections. @param {Shown} scene @param {number} request */
  async showScene(scene, request) {
    const shown = await (this.description.computes ? this.loadDraws(scene) : this.loadView(scene));
    if (request !== this.request) return;
    this.shown = shown;
    this.writeWords();
    this.mountView();
    this.find(".problem").hidden = true;
    this.guard(this.sections.show(this.settings));
  }

  /** Keep the clicked points that a sample of n has, and return a sentence on the others. @param {number} n */
  keepPicks(n) {
    const { picks } = this.settings;
    const kept = rowsNamed(picks, n);
    this.settings.picks = kept.join("-");
    if (kept.length === picks.split("-").filter(Boolean).length) return "";
    const { most } = this.description.clicks;
    return `The link names the points ${picks}; kept are at most ${most} different ones below n = ${n}.`;
  }

  /** @param {Shown} scene */
  async loadView(scene) {
    const file = await load(this.description.page, scene.file);
    return { view: file.view, words: file.scenes[this.description.scenes.indexOf(scene)] };
  }

  /** Do the same where the browser computes the view; the words around it are the page's. @param {Shown} scene */
  async loadDraws(scene) {
    const draws = await loadDraws(this.description.computes, scene);
    return { draws, words: { texts: {}, chosen: /** @type {string | object | null} */ (null) } };
  }

  /** Say what went wrong, if anything does. @param {Promise<void>} shown */
  async guard(shown) {
    try {
      await shown;
    } catch (error) {
      this.find(".problem").textContent = /** @type {Error} */ (error).message;
      this.find(".problem").hidden = false;
    }
  }

  /** Say which other settings had to change. @param {Shown} scene @param {string} moved @param {string} dropped */
  tellChanges({ settings }, moved, dropped) {
    const others = this.description.controls.filter(
      ({ key }) => key in settings && settings[key] !== this.settings[key],
    );
    const changed = others.map(({ key, label }) => `${label}: ${SWITCHED[settings[key]] ?? settings[key]}`);
    const words = changed.length
      ? `This static edition has no ${moved ? "such combination" : "such settings"}; changed too: ${changed.join("; ")}.`
      : "";
    const { how, picks } = this.settings;
    const none = this.description.clicks && how === "clicked" && !picks ? this.description.clicks.none : "";
    this.find(".changes").textContent = [words, dropped, none].filter(Boolean).join(" ");
  }

  writeWords() {
    const other = this.description.words[this.settings.N] ?? this.shown.words.texts;
    /** @type {NodeListOf<HTMLElement>} */
    const texts = document.querySelectorAll("[data-text]");
    for (const text of texts) {
      text.dataset.own ??= text.innerHTML;
      text.innerHTML = other[text.dataset.text] ?? text.dataset.own;
    }
  }

  mountView() {
    this.mounting = false;
    if (!this.shown) return;
    const { description, settings } = this;
    const sliders = Object.keys(description.sliders);
    this.components.live({
      parentElement: this.find(".live-place"),
      data: {
        ...(this.shown.view ?? this.shown.draws.view(settings)),
        settings: Object.fromEntries(sliders.map((key) => [key, Number(settings[key])])),
        clickable: Boolean(description.clicks) || Boolean(description.chooses),
        chosen: this.shown.words.chosen,
        ...Object.fromEntries(description.codes.map((key) => [key, settings[key]])),
      },
      setStateValue: (/** @type {string} */ _name, /** @type {any} */ value) => this.settle(value),
      setTriggerValue: (/** @type {string} */ _name, /** @type {any} */ value) => this.take(value),
    });
  }

  /** Show the settings in controls, presets, card and the row of links. */
  showSettings() {
    const { description, settings } = this;
    for (const { key, scale } of description.controls) {
      /** @type {HTMLElement} */
      const row = this.find(`.controls [data-key="${key}"]`);
      if (scale) this.showScale(key);
      else row.querySelector("select").value = settings[key];
      row.hidden = !this.applies(key, scale);
    }
    const active = this.preset;
    for (const [k, button] of this.find(".presets").querySelectorAll("button").entries()) {
      button.setAttribute("aria-pressed", String(description.presets[k] === active));
    }
    this.find(".preset-line").innerHTML = active?.line ?? "";
    this.components.row({
      ...this.component(".row-place"),
      data: { page: description.page, query: this.query, code: null, mark: "#" },
    });
  }

  /** Return whether a control applies to what is shown. @param {string} key @param {boolean} [scale] */
  applies(key, scale) {
    if (!scale) return key in this.scene.settings;
    return this.settings.how !== "clicked" || !this.description.clicks.gone.includes(key);
  }

  /** @returns {[string, string][]} */
  get query() {
    return [...new URLSearchParams(fragmentOf(this.linked, this.description.defaults))];
  }
}

/** Words for a switch. @type {Record<string, string>} */
const SWITCHED = { true: "on", false: "off" };
/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name @param {Partial<HTMLElementTagNameMap[K]>} [properties]
 */
function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

/** @param {Record<string, Component>} components of the app, by their names */
export default function (components) {
  const description = JSON.parse(document.querySelector("#description").textContent);
  new Page(description, components);
}
