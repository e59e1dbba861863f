// @ts-check
// The room of a class on a lesson's card: predictions as bars, the lecturer's buttons, and a board for the projector.

/** @import { Act, Data } from "./card.js" */
/**
 * @typedef {object} Room
 * @property {string} code in two halves, for readers
 * @property {string} name the code in links
 * @property {number} step at which the lecturer is
 * @property {boolean} waits whether the reader has predicted and the outcome is not revealed yet
 * @property {boolean} revealed
 * @property {boolean} [missed] whether it was revealed before the reader predicted
 * @property {number[] | null} counts predictions of each answer, for whoever may see them
 * @property {string | null} secret of the lecturer, by which it is known again after a reload
 * @property {number} lifetime seconds
 * @property {{ link: string, picture?: string, problem?: string } | null} picture QR code
 */

const STORED = "rff-room-"; // and the code: where the browser keeps the lecturer's secret
const OWN_HOST = /^(localhost|127\..*|\[::1\])$/;
const CLOSE = "Close the room";
const PAUSE = 1000; // milliseconds
const SURE = "Delete its predictions?";

export class Board {
  /** @type {Data} */
  data;

  /** Whether the picture is beside the board: from the first reveal on, or as the lecturer chooses. */
  beside = false;

  /** Code of the room whose secret was sent to the session. */
  sent = "";

  /** @param {HTMLElement} root @param {Act} act */
  constructor(root, act) {
    this.root = root;
    this.act = act;
    /** @type {HTMLDialogElement} */
    this.dialog = root.querySelector(".board");
    /** @type {HTMLInputElement} */
    this.early = root.querySelector(".early");
    this.early.onchange = () => this.write();
    this.find(".show-board").onclick = () => this.open();
    this.find(".close-board").onclick = () => this.dialog.close();
    this.dialog.onkeydown = ({ key }) => {
      if (key === "Escape") this.dialog.close(); // browsers do so for modal dialogs only
    };
    this.find(".board-picture").onclick = () => {
      this.beside = !this.beside;
      this.write();
    };
    this.find(".open-room").onclick = () => this.act("open room");
    for (const button of this.reveals) button.onclick = () => this.act("reveal");
    this.find(".follow").onclick = () => this.act("follow");
    this.find(".board-back").onclick = () => this.act("back");
    this.find(".board-next").onclick = () => this.act(this.atEnd ? "summary" : "next");
    const close = this.find(".close-room");
    close.onclick = () => this.close(close);
    close.onblur = () => (close.textContent = CLOSE);
    forgetExpired();
  }

  /** @param {string} selector @returns {HTMLElement} */
  find(selector) {
    return this.root.querySelector(selector);
  }

  /** @returns {Room | null} */
  get room() {
    return this.data.app?.room ?? null;
  }

  /** @returns {NodeListOf<HTMLButtonElement>} */
  get reveals() {
    return this.root.querySelectorAll(".reveal, .board-reveal");
  }

  /** Whether this is the last step. */
  get atEnd() {
    return this.data.step === this.data.steps;
  }

  /** Whether this is the lecturer. */
  get leads() {
    return Boolean(this.room?.secret);
  }

  /**
   * Show the room, and return whether the session was asked to let the lecturer lead.
   *
   * @param {Data} data
   */
  update(data) {
    if (this.data?.step !== data.step) this.rest();
    this.data = data;
    const { room } = this;
    this.find(".open-room").hidden = !data.app?.rooms || room !== null;
    this.find(".room").hidden = room === null;
    this.find(".leading").hidden = !this.leads;
    if (!this.leads) this.dialog.close();
    const asks = room !== null && this.identify(room);
    this.write();
    return asks;
  }

  /** Let a second press of Next, which is where Reveal appears, do nothing. */
  rest() {
    for (const button of this.reveals) {
      button.disabled = true;
      setTimeout(() => (button.disabled = false), PAUSE);
    }
  }

  /** Keep a lecturer's secret, or send the kept one and return whether there is one. @param {Room} room */
  identify({ name, secret, lifetime }) {
    const kept = stored(name);
    if (secret && !kept) keep(name, { secret, until: Date.now() + 1000 * lifetime });
    if (secret) this.sent = "";
    if (secret || !kept || this.sent === name) return false;
    this.sent = name;
    this.act("lead", { secret: kept.secret });
    return true;
  }

  write() {
    const { room, data } = this;
    const counts = this.shownCounts();
    this.bars(this.find(".lesson-body .bars"), counts);
    if (!room) return;
    this.find(".room-name").textContent = `Room ${room.code}${this.leads ? ":" : ""}`;
    this.find(".room-tally").textContent = this.tally();
    for (const button of this.reveals) button.hidden = room.revealed;
    this.early.closest("label").hidden = room.revealed;
    this.find(".follow").hidden = this.leads || room.step === data.step;
    this.find(".follow").textContent = `Go to step ${room.step}, where the class is`;
    if (!this.dialog.open) return;
    if (room.revealed) this.beside = true;
    this.place();
    this.find(".board-picture").textContent = this.beside ? "Join" : "Picture";
    for (const name of [".board-picture", ".join"]) this.find(name).hidden = room.revealed;
    this.find("#board-title").textContent = data.title;
    this.find(".board-count").textContent = `step ${data.step} of ${data.steps}`;
    this.find(".board-text").textContent = data.text;
    this.find(".board-text").hidden = !data.text;
    this.find(".board-question").textContent = data.question;
    this.bars(this.find(".board-bars"), counts ?? Array(data.answers.length).fill(null));
    this.find(".board-outcome").textContent = data.outcome;
    this.find(".board-tally").textContent = this.tally();
    this.find(".board-back").hidden = data.step === 1;
    this.find(".board-next").hidden = !room.revealed;
    this.find(".board-next").textContent = this.atEnd ? "Summary" : "Next ›";
    this.writeJoin(room);
    if (!this.dialog.contains(document.activeElement)) this.find(".close-board").focus();
  }

  /** The lecturer's number of predictions. */
  tally() {
    const { counts } = this.room;
    if (!this.leads || !counts) return "";
    const total = sum(counts);
    return `${total} prediction${total === 1 ? "" : "s"}`;
  }

  /** The counts that are shown, or null. */
  shownCounts() {
    const { room, leads, data, early } = this;
    const revealed = room?.revealed && (leads || (data.answer ?? null) !== null); // a latecomer predicts first
    return room?.counts && (revealed || early.checked) ? room.counts : null;
  }

  /** @param {HTMLElement} list @param {(number | null)[] | null} counts null for an answer alone */
  bars(list, counts) {
    list.hidden = !counts;
    const { answers, right, outcome } = this.data;
    const total = Math.max(sum(counts ?? []), 1);
    const rows = (counts ?? []).map((count, k) => {
      const row = document.createElement("li");
      const mark = outcome && k === right;
      row.classList.toggle("right", Boolean(mark));
      row.append(span("bar-answer", mark ? `✓ ${answers[k]}` : answers[k]));
      if (count === null) return row;
      const share = Math.round((100 * count) / total);
      row.append(span("bar-count", `${count} (${share} %)`), span("bar", ""));
      row.style.setProperty("--share", `${share}%`);
      return row;
    });
    list.replaceChildren(...rows);
  }

  // --- the board ----------------------------------------------------------------------------------------------------

  open() {
    this.place();
    this.write();
  }

  /** Fill the window with the board, to join by, or leave the picture visible that the step is about. */
  place() {
    const { dialog, beside } = this;
    if (dialog.open && dialog.classList.contains("beside") === beside) return;
    dialog.close();
    dialog.classList.toggle("beside", beside);
    if (beside) dialog.show();
    else dialog.showModal();
  }

  /** The link that the class opens: the lecturer's step, without settings. */
  link() {
    const { lesson, step } = this.data;
    const query = new URLSearchParams({ lesson, step: String(step), room: this.room.name });
    return `${location.origin}${location.pathname}?${query}`;
  }

  /** @param {Room} room */
  writeJoin({ code, picture }) {
    const link = this.link();
    const known = picture?.link === link;
    if (!known) this.act("show code", { link });
    const image = this.dialog.querySelector("img");
    image.hidden = !(known && picture.picture);
    if (known && picture.picture) Object.assign(image, { src: picture.picture, alt: `QR code of ${link}` });
    this.find(".join-place").textContent = `${location.host}${location.pathname.replace(/[^/]*$/, "")}`;
    this.find(".join-code").textContent = code;
    const own = OWN_HOST.test(location.hostname)
      ? "This address is that of your own machine: other devices cannot open it."
      : "";
    this.find(".join-advice").textContent = (known && picture.problem) || own;
  }

  /** Close the room at the second press. @param {HTMLElement} button */
  close(button) {
    if (button.textContent !== SURE) {
      button.textContent = SURE;
      return;
    }
    forget(this.room.name);
    this.act("close room");
  }
}

/** @param {(number | null)[]} counts */
function sum(counts) {
  return counts.reduce((total, count) => total + (count ?? 0), 0);
}

/** @param {string} className @param {string} textContent */
function span(className, textContent) {
  return Object.assign(document.createElement("span"), { className, textContent });
}

// A browser may forbid a frame of another site to store: then a reload ends the lecturer's lead.

/** @param {string} name @returns {{ secret: string, until: number } | null} */
function stored(name) {
  try {
    return JSON.parse(localStorage.getItem(STORED + name));
  } catch {
    return null;
  }
}

/** @param {string} name @param {{ secret: string, until: number }} value */
function keep(name, value) {
  try {
    localStorage.setItem(STORED + name, JSON.stringify(value));
  } catch {
    // see above
  }
}

/** @param {string} name */
function forget(name) {
  try {
    localStorage.removeItem(STORED + name);
  } catch {
    // see above
  }
}

function forgetExpired() {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(STORED));
    for (const name of names.map((full) => full.slice(STORED.length)))
      if (!(stored(name)?.until > Date.now())) forget(name);
  } catch {
    // see above
  }
}
