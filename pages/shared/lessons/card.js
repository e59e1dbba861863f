// @ts-check
// The card of a lesson, and the frame around the part of the page to look at.

import { Board } from "./board.js";
import { Predictions } from "./predictions.js";

/** @import { Room } from "./board.js" */
/** @typedef {(action: object) => void} Report */
/** @typedef {(name: string, more?: object) => void} Act */
/**
 * @typedef {object} AppData data of the app alone; the static edition has no sessions
 * @property {string | null} predicted the predictions that the session knows
 * @property {boolean} rooms whether classes may open rooms
 * @property {Room | null} room that the reader is in
 * @property {string} problem
 */
/**
 * @typedef {object} Data
 * @property {string} lesson
 * @property {string} title
 * @property {number} step
 * @property {number} steps
 * @property {string} next title of the next lesson
 * @property {string[]} look selectors of the parts to look at
 * @property {string} text
 * @property {string} question
 * @property {string[]} answers
 * @property {number} right
 * @property {string} outcome
 * @property {number | null} answer
 * @property {boolean} moved whether the page shows other settings than the step's
 * @property {AppData} [app]
 */
/** @typedef {HTMLElement & { card?: LessonCard }} Root */

/** Milliseconds for which the part to look at is kept in sight while figures load. */
const SEEK = 4000;
/** Milliseconds to wait for the part to look at before the rest of the page is asked for. */
const PATIENCE = 700;
/** Pixels above the part for the frame. */
const ABOVE = 12;
/** Pixels between the part and its frame. */
const GAP = 4;
/** Events of a reader who moves the page. */
const READER_EVENTS = ["wheel", "touchmove", "keydown"];

class LessonCard {
  /** @type {Data} */
  data;

  /** @type {Report} */
  report;

  /** Lesson, step and answer that the card shows. */
  shown = "";

  /** The frame's position. */
  position = "";

  /** The position that was brought into sight.
   * @type {string | null} */
  lastPosition = null;

  /** When to stop keeping the part in sight; null until the part is there.
   * @type {number | null} */
  seekUntil = null;

  /** When the part to look at was first missed.
   * @type {number | null} */
  missing = null;

  /** @param {Root} root */
  constructor(root) {
    this.root = root;
    this.frame = Object.assign(document.createElement("div"), { className: "look-here", hidden: true });
    this.frame.setAttribute("aria-hidden", "true");
    this.board = new Board(root, (name, more) => this.act(name, more));
    this.predictions = new Predictions();
    for (const name of ["leave", "back", "next"]) this.find(`.${name}`).onclick = () => this.act(name);
    this.find(".to-summary").onclick = () => this.act("summary");
    // Figures come late, move and are replaced: the frame follows the part.
    this.timer = setInterval(() => this.follow(), 100);
    this.restoring = setInterval(() => this.predictions.write(), 100);
    this.stopSeeking = () => (this.seekUntil = 0);
    for (const name of READER_EVENTS) document.addEventListener(name, this.stopSeeking, { passive: true });
  }

  end() {
    clearInterval(this.timer);
    clearInterval(this.restoring);
    this.frame.remove();
    for (const name of READER_EVENTS) document.removeEventListener(name, this.stopSeeking);
  }

  /** @param {string} selector @returns {HTMLElement} */
  find(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    this.report = report;
    this.data = data;
    this.find(".lesson-note").hidden = !data.moved;
    const asks = this.board.update(data);
    if (data.app) this.takeFromApp(data.app, asks);
    const shown = `${data.lesson} ${data.step} ${data.answer} ${this.waits} ${this.board.leads}`;
    if (this.shown === shown) return;
    this.shown = shown;
    this.missing = null;
    this.seekUntil = null;
    this.lastPosition = null;
    this.write();
  }

  /** @param {AppData} app @param {boolean} asks whether the session has another request already */
  takeFromApp({ predicted, problem }, asks) {
    this.find(".lesson-problem").textContent = problem;
    this.find(".lesson-problem").hidden = !problem;
    const report = (/** @type {string} */ predicted) => this.act("restore", { predicted });
    if (!asks) this.predictions.update(this.data.lesson, predicted, report);
  }

  /** Whether the reader has predicted, and the class's lecturer has not revealed the outcome. */
  get waits() {
    return Boolean(this.data.app?.room?.waits);
  }

  /** Whether the outcome is shown. */
  get decided() {
    return (this.data.answer ?? null) !== null && !this.waits;
  }

  /** @param {string} name @param {object} [more] */
  act(name, more) {
    this.report({ name, ...more, lesson: this.data.lesson, step: this.data.step });
  }

  // --- the card -----------------------------------------------------------------------------------------------------

  write() {
    const { title, step, steps, text, question, next } = this.data;
    const { decided, waits } = this;
    const asking = !decided && !waits && !this.board.leads;
    const focused = this.root.contains(document.activeElement);
    this.find(".lesson-title").textContent = title;
    this.find(".lesson-count").textContent = `step ${step} of ${steps}`;
    this.find(".lesson-text").textContent = text;
    this.find(".lesson-text").hidden = decided;
    this.find(".lesson-question").textContent = question;
    this.find(".answers").hidden = !asking;
    this.find(".answers").replaceChildren(...this.answerButtons());
    this.find(".lesson-outcome").replaceChildren(...(decided ? this.outcome() : waits ? this.waiting() : []));
    this.find(".back").hidden = step === 1;
    const last = step === steps;
    const button = this.find(".next");
    button.textContent = last ? (next ? `Next lesson: ${next} ›` : "Done") : decided || waits ? "Next ›" : "Skip ›";
    const { room, leads } = this.board;
    const together = room !== null && (last || (!leads && step >= room.step)); // the class goes on together
    button.hidden = (last && !decided) || together;
    button.classList.toggle("primary", decided);
    this.find(".to-summary").hidden = !this.data.app || !last || !decided;
    // The pressed button is gone: focus the button that leads on.
    if (focused && !this.board.dialog.open) this.focusOnNext();
  }

  focusOnNext() {
    const names = [".answers button", ".reveal", ".next", ".back", ".leave"];
    const shown = names.map((name) => this.find(name)).find((button) => button?.checkVisibility());
    shown?.focus({ preventScroll: true });
  }

  answerButtons() {
    return this.data.answers.map((textContent, k) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent });
      button.onclick = () => this.act("answer", { answer: k });
      return button;
    });
  }

  /** Paragraphs with the right answer, the reader's where it is another, and what happened. */
  outcome() {
    const { answers, right, answer, outcome } = this.data;
    if (this.board.leads) return [paragraph("outcome", outcome)]; // the bars mark the answer
    if (this.data.app?.room?.missed) {
      return [paragraph("verdict", `Revealed before you predicted: ${answers[right]}`), paragraph("outcome", outcome)];
    }
    const correct = answer === right;
    return [
      ...(correct ? [] : [paragraph("guess", `Your prediction: ${answers[answer]}`)]),
      paragraph("verdict", `${correct ? "✓ Right:" : "Not quite. Right:"} ${answers[right]}`),
      paragraph("outcome", outcome),
    ];
  }

  /** Paragraphs with the reader's prediction, whose outcome the lecturer has not revealed. */
  waiting() {
    const { answers, answer } = this.data;
    return [
      paragraph("guess", `Your prediction: ${answers[answer]}`),
      paragraph("wait", "The outcome appears here when the lecturer reveals it."),
    ];
  }

  // --- the frame ----------------------------------------------------------------------------------------------------

  /**
   * The part to look at: the first one that the page shows.
   *
   * @returns {Element | null}
   */
  part() {
    for (const selector of this.data?.look ?? []) {
      for (const element of document.querySelectorAll(selector)) {
        const box = element.getBoundingClientRect();
        if (box.width > 0 && box.height > 0) return element;
      }
    }
    return null;
  }

  /** Ask for the parts of the page that wait for the reader, if the one to look at does not come by itself. */
  askForParts() {
    const running = document.querySelector("[data-test-script-state=running]");
    if (running || !this.data?.look.length) this.missing = null;
    this.missing ??= performance.now();
    if (performance.now() - this.missing < PATIENCE) return;
    this.missing = Infinity;
    document.dispatchEvent(new CustomEvent("show-all"));
  }

  /** Put the frame around the part, and bring it into sight once it no longer moves. */
  follow() {
    if (!this.root.isConnected) return this.end();
    const { scrollHeight, scrollTop, clientHeight } = this.root;
    this.find(":scope > footer").classList.toggle("more", scrollHeight - scrollTop - clientHeight > 8);
    const part = this.part();
    if (!part) this.askForParts();
    const page = this.root.closest("[data-testid=stMainBlockContainer]");
    this.frame.hidden = !part || !page;
    if (this.frame.hidden) return;
    if (this.frame.parentElement !== page) page.append(this.frame);
    const box = part.getBoundingClientRect();
    const origin = page.getBoundingClientRect();
    const { style } = this.frame;
    const [left, top] = [Math.round(box.left - origin.left - GAP), Math.round(box.top - origin.top - GAP)];
    const [width, height] = [Math.round(box.width + 2 * GAP), Math.round(box.height + 2 * GAP)];
    const position = `${left} ${top} ${width} ${height}`;
    this.seekUntil ??= performance.now() + SEEK;
    if (position !== this.position) {
      this.position = position;
      style.left = `${left}px`;
      style.top = `${top}px`;
      style.width = `${width}px`;
      style.height = `${height}px`;
    } else if (position !== this.lastPosition && performance.now() < this.seekUntil) {
      this.lastPosition = position; // figures that load later may still move it
      this.bringIntoSight(part, box);
    }
  }

  /**
   * Scroll as little as needed, to where neither the header, nor the card, nor the sliders of a live view cover it.
   *
   * @param {Element} part @param {DOMRect} box
   */
  bringIntoSight(part, box) {
    const card = this.root.getBoundingClientRect();
    const header = document.querySelector("[data-testid=stHeader]")?.getBoundingClientRect().bottom ?? 0;
    // A card above the part will be at the header, wherever it is now.
    const covered = card.left < box.right && card.right > box.left ? card.height : 0;
    // Sliders outside the part stay above it; the card covers them.
    /** @type {HTMLElement | null} */
    const sliders = part.parentElement.closest(".live")?.querySelector(".scrubbers");
    const top = header + Math.max(covered, sliders?.offsetHeight ?? 0) + ABOVE;
    const bottom = window.innerHeight - 10;
    let by = 0;
    if (box.top < top || box.height > bottom - top) by = box.top - top;
    else if (box.bottom > bottom) by = box.bottom - bottom;
    const reduced = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const scroller = this.root.closest("[data-testid=stMain]");
    if (Math.abs(by) > 1) scroller.scrollBy({ top: by, behavior: reduced ? "auto" : "smooth" });
  }
}

/** @param {string} className @param {string} textContent */
function paragraph(className, textContent) {
  return Object.assign(document.createElement("p"), { className, textContent });
}

/**
 * @param {{ parentElement: HTMLElement, data: Data, setTriggerValue: (name: string, value: object) => void }} component
 */
export default function (component) {
  /** @type {Root} */
  const root = component.parentElement.querySelector(".lesson");
  root.card ??= new LessonCard(root);
  root.card.update(component.data, (action) => component.setTriggerValue("act", action));
}
