// @ts-check
// The panel that shows a link with its QR code, which the server makes.

/** @typedef {[name: string, value: string][]} Query */
/** @typedef {{ link: string, picture?: string, problem?: string }} Code */

const PAUSE = 150; // milliseconds without a change after which a code is asked for
const PATIENCE = 2000; // and without an answer after which it is asked for again: Streamlit may drop a report
const OWN_MACHINE = /^(localhost|127\..*|\[::1\])$/; // names of hosts

export class Panel {
  /** @type {Query} */
  query;

  /** @type {ReturnType<typeof setTimeout>} */
  timer;

  /** The link that the panel shows. */
  link = "";

  /** The last code that the server made.
   * @type {Code | null} */
  code = null;

  /**
   * @param {HTMLDialogElement} dialog
   * @param {(button: HTMLButtonElement, text: string, field: HTMLTextAreaElement) => void} copy
   * @param {(link: string) => void} ask for the code of a link
   */
  constructor(dialog, copy, ask) {
    this.dialog = dialog;
    this.ask = ask;
    this.image = dialog.querySelector("img");
    this.field = dialog.querySelector("textarea");
    /** @type {HTMLInputElement} */
    this.projector = dialog.querySelector("input[name=projector]");
    this.projector.onchange = () => this.show();
    this.part(".close").onclick = () => dialog.close();
    dialog.onclick = (event) => {
      if (event.target === dialog) dialog.close(); // outside of the panel
    };
    this.part(".copy-shown").onclick = () => copy(this.part(".copy-shown"), this.link, this.field);
    this.part(".enlarge").onclick = () => this.enlarge(!dialog.classList.contains("large"));
    this.part(".own-machine").hidden = !OWN_MACHINE.test(location.hostname);
    this.field.onfocus = () => this.field.select();
  }

  /** @param {string} selector @returns {HTMLButtonElement} a button, or another part */
  part(selector) {
    return this.dialog.querySelector(selector);
  }

  /**
   * Take the current link and code of the page.
   *
   * @param {Query} query @param {Code | null} code
   */
  update(query, code) {
    this.query = query;
    this.code = code;
    if (this.dialog.open) this.show();
  }

  open() {
    this.projector.checked = false;
    this.enlarge(false);
    this.dialog.showModal();
    this.show();
  }

  /** Show the link, and its code as soon as the server has made it. */
  show() {
    const query = new URLSearchParams(this.query);
    if (this.projector.checked) query.set("projector", "true");
    this.link = this.field.value = `${location.origin}${location.pathname}${query.size ? `?${query}` : ""}`;
    const known = this.code?.link === this.link;
    this.image.classList.toggle("stale", !known); // it is the code of another link
    clearTimeout(this.timer);
    if (!known) {
      this.timer = setTimeout(() => this.request(), PAUSE);
      return;
    }
    const { link, picture, problem } = this.code;
    this.image.hidden = !picture;
    if (picture) Object.assign(this.image, { src: picture, alt: `QR code of ${link}` });
    this.part(".advice").textContent = problem ? `${problem} Copy the link instead.` : "";
    this.part(".enlarge").hidden = !picture;
    if (!picture) this.enlarge(false);
  }

  request() {
    if (!this.dialog.open) return;
    this.ask(this.link);
    this.timer = setTimeout(() => this.request(), PATIENCE);
  }

  /**
   * Show the code as large as the window, or small.
   *
   * @param {boolean} large
   */
  enlarge(large) {
    this.dialog.classList.toggle("large", large);
    this.part(".enlarge").setAttribute("aria-pressed", String(large));
    this.part(".enlarge span").textContent = large ? "Smaller code" : "Large code";
  }
}
