// @ts-check
// The panel that composes a link, shows its QR code and copies it. The server makes the code.

import { composedQuery, frameOf } from "./link.js";

/** @import { Composed, Query } from "./link.js" */
/** @typedef {{ link: string, picture?: string, problem?: string }} Code */
/**
 * @typedef {object} Choices
 * @property {[key: string, label: string][]} controls
 * @property {[key: string, title: string, steps: number][]} lessons
 * @property {[name: string, label: string][]} pictures
 */

const ALL = "all"; // controls of the sidebar
const OWN_MACHINE = /^(localhost|127\..*|\[::1\])$/; // names of hosts
const PAUSE = 150; // milliseconds without a change after which a code is asked for

export class Panel {
  /** @type {Query} */
  query;

  /** @type {Choices} */
  choices;

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
    this.form = dialog.querySelector("form");
    this.image = dialog.querySelector("img");
    /** @type {HTMLElement} */
    this.advice = dialog.querySelector(".advice");
    this.field = dialog.querySelector("textarea");
    this.form.onchange = () => this.compose();
    this.form.onsubmit = (event) => event.preventDefault();
    this.button(".close").onclick = () => dialog.close();
    dialog.onclick = (event) => {
      if (event.target === dialog) dialog.close(); // beside the panel
    };
    this.button(".copy-composed").onclick = (event) => copy(buttonOf(event), this.link, this.field);
    this.button(".copy-frame").onclick = (event) =>
      copy(buttonOf(event), frameOf(this.link, document.title), this.field);
    this.button(".enlarge").onclick = () => this.enlarge(!dialog.classList.contains("large"));
    this.part(".own-machine", dialog).hidden = !OWN_MACHINE.test(location.hostname);
    this.field.onfocus = () => this.field.select();
  }

  /** @param {string} selector @returns {HTMLButtonElement} */
  button(selector) {
    return this.dialog.querySelector(selector);
  }

  /** @param {string} name @returns {HTMLSelectElement} */
  list(name) {
    return this.form.querySelector(`select[name=${name}]`);
  }

  /** @param {string} name @returns {HTMLInputElement} */
  box(name) {
    return this.form.querySelector(`input[name=${name}]`);
  }

  /**
   * Take what the page is and offers now.
   *
   * @param {Query} query @param {Choices} choices @param {Code | null} code
   */
  update(query, choices, code) {
    this.query = query;
    if (JSON.stringify(choices) !== JSON.stringify(this.choices)) this.offer(choices);
    this.code = code;
    if (this.dialog.open) this.compose();
  }

  /** @param {Choices} choices */
  offer(choices) {
    this.choices = choices;
    const { controls, lessons, pictures } = choices;
    fill(this.list("picture"), [["", "the whole page"], ...pictures]);
    fill(this.list("lesson"), [
      ["", "none"],
      ...lessons.map(([key, title]) => /** @type {[string, string]} */ ([key, title])),
    ]);
    const names = controls.length ? [[ALL, "All controls of the sidebar"], ...controls] : [];
    this.form.querySelector(".hide div").replaceChildren(
      ...names.map(([value, text]) => {
        const label = document.createElement("label");
        label.append(
          Object.assign(document.createElement("input"), { type: "checkbox", name: "hide", value }),
          ` ${text}`,
        );
        return label;
      }),
    );
    this.part(".picture").hidden = !pictures.length;
    this.part(".lesson-field").hidden = !lessons.length;
    this.part(".hide").hidden = !controls.length;
  }

  /** @param {string} selector @param {HTMLElement} within @returns {HTMLElement} */
  part(selector, within = this.form) {
    return within.querySelector(selector);
  }

  /** Open at the page's own place in a lesson, with the controls hidden that are. */
  open() {
    const here = Object.fromEntries(this.query);
    const hidden = (here.hide ?? "").split(",");
    this.form.reset();
    this.list("lesson").value = here.lesson ?? "";
    this.offerSteps();
    if (here.step) this.list("step").value = here.step;
    for (const box of this.boxes()) box.checked = hidden.includes(box.value);
    this.enlarge(false);
    this.dialog.showModal();
    this.compose();
  }

  /** Checkboxes of the controls. */
  boxes() {
    /** @type {NodeListOf<HTMLInputElement>} */
    const boxes = this.form.querySelectorAll("input[name=hide]");
    return [...boxes];
  }

  /** List the steps of the chosen lesson. */
  offerSteps() {
    const lesson = this.list("lesson").value;
    const steps = this.choices.lessons.find(([key]) => key === lesson)?.[2] ?? 0;
    this.part(".step").hidden = !steps;
    if (this.list("step").length === steps) return;
    fill(
      this.list("step"),
      Array.from({ length: steps }, (_, k) => [String(k + 1), `${k + 1} of ${steps}`]),
    );
  }

  /** @returns {Composed} */
  composed() {
    return {
      picture: this.list("picture").value,
      lesson: this.list("lesson").value,
      step: this.list("step").value || "1",
      hidden: this.boxes()
        .filter((box) => box.checked)
        .map((box) => box.value),
      theme: this.list("theme").value,
      projector: this.box("projector").checked,
      embed: this.box("embed").checked,
    };
  }

  /** Write the link, and ask for its code. */
  compose() {
    const alone = Boolean(this.list("picture").value);
    this.list("lesson").disabled = this.list("step").disabled = alone;
    this.offerSteps();
    const query = composedQuery(this.query, this.composed());
    const link = `${location.origin}${location.pathname}${query ? `?${query}` : ""}`;
    this.link = this.field.value = link;
    clearTimeout(this.timer);
    const known = this.code?.link === link;
    this.image.classList.toggle("stale", !known); // it is the code of another link
    if (known) this.show(this.code);
    else this.timer = setTimeout(() => this.ask(link), PAUSE);
  }

  /** @param {Code} code */
  show({ link, picture, problem }) {
    this.image.hidden = !picture;
    if (picture) Object.assign(this.image, { src: picture, alt: `QR code of ${link}` });
    this.advice.textContent = problem ? `${problem} Copy the link instead.` : "";
    this.button(".enlarge").hidden = !picture;
    if (!picture) this.enlarge(false);
  }

  /**
   * Show the code as large as the window, or next to the choices.
   *
   * @param {boolean} large
   */
  enlarge(large) {
    this.dialog.classList.toggle("large", large);
    this.button(".enlarge").setAttribute("aria-pressed", String(large));
    this.button(".enlarge span").textContent = large ? "Smaller code" : "Large code";
  }
}

/** @param {Event} event */
function buttonOf(event) {
  return /** @type {HTMLButtonElement} */ (event.currentTarget);
}

/** @param {HTMLSelectElement} list @param {[value: string, text: string][]} options */
function fill(list, options) {
  list.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
}
