// @ts-check
// Shows a term's meaning next to it: while the pointer is on it, while it has the focus, and after a click or tap.

/** @typedef {{ terms: Record<string, [name: string, meaning: string]> }} Data */
/** @typedef {{ parentElement: HTMLElement & { tip?: Tip }, data: Data }} Component of Streamlit */

const TERM = 'a[href^="glossary#"], a[href^="glossary.html#"]'; // the second in the static edition
const LEAVE = 250; // milliseconds for the pointer to move from the term to its meaning
const GAP = 6; // pixels between the two, and at the edge of the window

class Tip {
  /** @type {Data} */
  data;

  /** The term whose meaning is shown.
   * @type {HTMLAnchorElement | null} */
  term = null;

  /** Whether a click keeps the meaning on screen. */
  kept = false;

  /** @type {ReturnType<typeof setTimeout>} */
  timer;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.setAttribute("popover", "manual"); // above everything, also where a dialog is open
    this.listening = new AbortController();
    this.on("pointerover", (event) => this.point(event));
    this.on("focusin", (event) => this.show(termAt(event.target)));
    this.on("focusout", () => this.hide());
    this.on("click", (event) => this.click(event), true);
    this.on("keydown", (event) => event.key === "Escape" && this.hide());
    this.on("scroll", () => this.hide(), true);
  }

  /**
   * Listen to the whole page, for as long as the component is part of it.
   *
   * @template {keyof DocumentEventMap} K
   * @param {K} name @param {(event: DocumentEventMap[K]) => void} act
   * @param {boolean} capture
   */
  on(name, act, capture = false) {
    const { signal } = this.listening;
    const listen = (/** @type {DocumentEventMap[K]} */ event) => {
      if (this.root.isConnected) act(event);
      else this.listening.abort();
    };
    document.addEventListener(name, listen, { capture, signal });
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (event.pointerType !== "mouse") return;
    const term = termAt(event.target);
    if (term || (event.target instanceof Node && this.root.contains(event.target))) clearTimeout(this.timer);
    if (term && term !== this.term) this.show(term);
    if (term || !this.term || this.kept || this.term === document.activeElement) return;
    if (event.target instanceof Node && this.root.contains(event.target)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), LEAVE);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const term = termAt(event.target);
    if (!term) {
      if (!(event.target instanceof Node && this.root.contains(event.target))) this.hide();
      return;
    }
    // Enter on a term whose meaning is shown follows the link to the list, as a click with Ctrl does.
    if (event.ctrlKey || event.metaKey || event.shiftKey || (event.detail === 0 && this.term === term)) return;
    event.preventDefault();
    if (this.kept && this.term === term) {
      this.hide();
      return;
    }
    this.show(term);
    this.kept = true;
  }

  /** @param {HTMLAnchorElement | null} term */
  show(term) {
    const [name, meaning] = this.data.terms[decodeURIComponent(term?.hash.slice(1) ?? "")] ?? [];
    if (!meaning || term === this.term) return;
    this.hide();
    this.term = term;
    term.setAttribute("aria-describedby", this.root.id);
    this.root.replaceChildren(Object.assign(document.createElement("strong"), { textContent: name }), meaning);
    this.root.showPopover();
    this.place(term);
  }

  /** Put the meaning below its term, or above where there is no space; inside the window. @param {HTMLElement} term */
  place(term) {
    const { left, top, bottom } = term.getClientRects()[0];
    const { offsetWidth: width, offsetHeight: height, style } = this.root;
    const below = bottom + GAP;
    const fits = below + height + GAP <= window.innerHeight;
    style.left = `${Math.max(GAP, Math.min(left, document.documentElement.clientWidth - width - GAP))}px`;
    style.top = `${fits ? below : Math.max(GAP, top - GAP - height)}px`;
  }

  hide() {
    clearTimeout(this.timer);
    this.kept = false;
    if (!this.term) return;
    this.term.removeAttribute("aria-describedby");
    this.term = null;
    this.root.hidePopover();
  }
}

/** @param {EventTarget | null} target @returns {HTMLAnchorElement | null} */
function termAt(target) {
  return target instanceof Element ? target.closest(TERM) : null;
}

/** @param {Component} component */
export default function ({ parentElement, data }) {
  /** @type {HTMLElement} */
  const root = parentElement.querySelector(".glossary-tip");
  parentElement.tip ??= new Tip(root);
  parentElement.tip.data = data;
}
