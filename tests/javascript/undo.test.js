// @ts-check
// The browser's history gets one entry a gesture, whatever Streamlit does to the address in between.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import keepEntries from "../../pages/shared/controls/undo.js";

const ORIGIN = "http://host";

/** A window with a history, as far as the module uses it. */
class FakeWindow {
  entries = [`${ORIGIN}/landmarks`];

  at = 0;

  /** @type {Record<string, (event: any) => void>} */
  listeners = {};

  /** @type {string[]} */
  clicked = [];

  top = /** @type {any} */ (this);

  /** @param {string} type @param {(event: any) => void} listener */
  addEventListener(type, listener) {
    this.listeners[type] = listener;
  }

  get location() {
    const { entries, at } = this;
    return {
      get href() {
        return entries[at];
      },
      get pathname() {
        return new URL(entries[at]).pathname;
      },
    };
  }

  history = {
    state: {},
    /** @param {any} _state @param {string} _unused @param {string} url */
    replaceState: (_state, _unused, url) => {
      this.entries[this.at] = new URL(url, this.entries[this.at]).href;
    },
    /** @param {any} _state @param {string} _unused @param {string} url */
    pushState: (_state, _unused, url) => {
      this.entries.splice(this.at + 1, Infinity, new URL(url, this.entries[this.at]).href);
      this.at += 1;
    },
  };

  /** @param {number} by */
  go(by) {
    this.at += by;
    this.listeners.popstate({});
  }
}

/** @type {FakeWindow} */
let fake;
let runs = 0;

/** The end of a run of the page. */
const run = (page = "landmarks") => keepEntries({ data: { page, runs: (runs += 1) } });
const shown = () => fake.entries.map((url) => url.slice(ORIGIN.length));

beforeEach(() => {
  fake = new FakeWindow();
  Object.assign(globalThis, {
    window: fake,
    history: fake.history,
    document: {
      addEventListener: fake.addEventListener.bind(fake),
      querySelector: (/** @type {string} */ selector) => ({ click: () => fake.clicked.push(selector) }),
    },
    Element: class {},
  });
  Object.defineProperty(globalThis, "location", { get: () => fake.location, configurable: true });
  run();
});

test("a gesture that changes several parameters is one entry", () => {
  for (const query of ["data=xor", "data=xor&D=40", "data=xor&D=40&noise=0.15"]) {
    fake.history.pushState({}, "", `/landmarks?${query}`);
  }
  run();
  assert.deepEqual(shown(), ["/landmarks", "/landmarks?data=xor&D=40&noise=0.15"]);
});

test("a slider, which replaces the address, makes an entry too", () => {
  for (const beta of [10, 100]) {
    fake.history.replaceState({}, "", `/landmarks?beta=${beta}`);
    run();
  }
  assert.deepEqual(shown(), ["/landmarks", "/landmarks?beta=10", "/landmarks?beta=100"]);
});

test("predictions in the fragment make no entry and stay in the one that they are in", () => {
  fake.history.replaceState({}, "", "/landmarks?lesson=hover#predicted=hover.2");
  run();
  fake.history.replaceState({}, "", "/landmarks?lesson=hover#predicted=hover.21");
  run();
  assert.deepEqual(shown(), ["/landmarks", "/landmarks?lesson=hover#predicted=hover.21"]);
  fake.history.replaceState({}, "", "/landmarks?lesson=hover&step=2");
  run();
  const entries = ["/landmarks", "/landmarks?lesson=hover#predicted=hover.21", "/landmarks?lesson=hover&step=2"];
  assert.deepEqual(shown(), entries);
});

test("after Back, the run that follows makes no entry, and the next gesture does", () => {
  fake.history.replaceState({}, "", "/landmarks?beta=10");
  run();
  fake.go(-1);
  fake.history.replaceState({}, "", "/landmarks?"); // Streamlit writes the address anew
  run();
  assert.equal(fake.entries.length, 2);
  fake.history.replaceState({}, "", "/landmarks?beta=3");
  run();
  assert.deepEqual(shown(), ["/landmarks?", "/landmarks?beta=3"]);
});

test("a page that the reader leaves keeps its settings for Back", () => {
  fake.history.replaceState({}, "", "/landmarks?beta=10");
  run();
  fake.history.replaceState({}, "", "/landmarks");
  fake.history.pushState({}, "", "/bounds");
  run("bounds");
  assert.deepEqual(shown(), ["/landmarks", "/landmarks?beta=10", "/bounds"]);
});

test("in a frame, Back leaves the page", () => {
  fake.top = {};
  fake.history.replaceState({}, "", "/landmarks?beta=10");
  run();
  assert.deepEqual(shown(), ["/landmarks?beta=10"]);
});

test("keys press the buttons, but not in a field of text", () => {
  let prevented = 0;
  const press = (/** @type {object} */ event) =>
    fake.listeners.keydown({ target: null, preventDefault: () => (prevented += 1), ...event });
  press({ key: "z", ctrlKey: true });
  press({ key: "Z", metaKey: true, shiftKey: true });
  press({ key: "y", ctrlKey: true });
  press({ key: "z" });
  press({ key: "z", ctrlKey: true, altKey: true });
  press({ key: "a", ctrlKey: true });
  /** @type {any} */
  const Field = globalThis.Element;
  press({ key: "z", ctrlKey: true, target: Object.assign(new Field(), { closest: () => ({}) }) });
  assert.deepEqual(fake.clicked, [".st-key-undo button", ".st-key-redo button", ".st-key-redo button"]);
  assert.equal(prevented, 3);
});
