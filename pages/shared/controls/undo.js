// @ts-check
// Undo and redo by keys, and the browser's history: one entry a gesture.

import { askedBy } from "./undo_keys.js";

/** @typedef {{ page: string, runs: number }} Data of every run of the page */
/** @typedef {{ steps?: StepEntries }} Holder */

class StepEntries {
  /** The address of the current entry.
   * @type {string} */
  address = location.href;

  /** @type {string | undefined} */
  page;

  /** Whether the next settings belong to another entry, to which the reader went. */
  travelling = false;

  constructor() {
    this.push = history.pushState.bind(history);
    // Streamlit adds an entry for every parameter that the server changes: a preset of six would take six times Back.
    history.pushState = (state, unused, url) => {
      if (samePage(url)) history.replaceState(state, unused, url);
      else this.leave(() => this.push(state, unused, url));
    };
    window.addEventListener("popstate", () => (this.travelling = true));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * Go to another page. Streamlit takes the settings out of the address on the way; put them back.
   *
   * @param {() => void} go
   */
  leave(go) {
    if (samePage(this.address)) history.replaceState(history.state, "", this.address);
    go();
  }

  /** @param {Data} data */
  update(data) {
    const { href } = location;
    // In a frame, entries would keep the reader from leaving the page around it.
    const moved = withoutFragment(href) !== withoutFragment(this.address);
    if (this.page === data.page && moved && !this.travelling && window.top === window) {
      // The gesture has replaced the address of the entry: restore it.
      history.replaceState(history.state, "", this.address);
      this.push({}, "", href);
    }
    this.address = href;
    this.travelling = false;
    this.page = data.page;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const name = askedBy(event);
    if (!name) return;
    /** @type {HTMLButtonElement | null} */
    const button = document.querySelector(`.st-key-${name} button`);
    if (!button) return;
    event.preventDefault();
    button.click();
  }
}

/**
 * A lesson writes predictions into the fragment: no setting.
 *
 * @param {string} url
 */
function withoutFragment(url) {
  return url.replace(/#.*/, "");
}

/** @param {string | URL | null | undefined} url */
function samePage(url) {
  return Boolean(url) && new URL(url, location.href).pathname === location.pathname;
}

/** @param {{ data: Data }} component */
export default function (component) {
  const holder = /** @type {Holder} */ (/** @type {unknown} */ (history));
  holder.steps ??= new StepEntries();
  holder.steps.update(component.data);
}
