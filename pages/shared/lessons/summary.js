// @ts-check
// A lesson's summary: questions, predictions, answers and reasons, to print or to save as a file.

import { Predictions } from "./predictions.js";

/**
 * @typedef {object} SummaryStep
 * @property {string} text
 * @property {string} question
 * @property {string[]} answers
 * @property {number} right
 * @property {number | null} answer that the reader predicted
 * @property {string} of_class how many of the class were right, if that is known
 * @property {string} outcome
 */
/**
 * @typedef {object} SummaryData
 * @property {string} lesson
 * @property {string} title
 * @property {string} takeaway
 * @property {SummaryStep[]} steps
 * @property {string | null} predicted
 * @property {string} problem
 */
/** @typedef {HTMLElement & { summary?: Summary }} SummaryRoot */

const FILE_STYLE = `body {font: 11pt/1.4 sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem}
.asked {font-weight: bold} li {margin-bottom: 1rem; break-inside: avoid} li p {margin: .25rem 0}
dl {display: grid; grid-template-columns: auto 1fr; gap: .1rem .8rem; margin: .3rem 0} dd {margin: 0}`;

class Summary {
  /** @type {SummaryData} */
  data;

  /** @type {(action: object) => void} */
  report;

  /** @param {SummaryRoot} root */
  constructor(root) {
    this.root = root;
    this.predictions = new Predictions();
    this.timer = setInterval(() => (root.isConnected ? this.predictions.write() : clearInterval(this.timer)), 100);
    this.find(".return").onclick = () => this.report({ name: "return", lesson: this.data.lesson });
    this.find(".print").onclick = () => window.print();
    this.find(".save-summary").onclick = () => this.save();
    this.find(".summary-date").textContent = new Date().toLocaleDateString("en-GB", { dateStyle: "long" });
  }

  /** @param {string} selector @returns {HTMLElement} */
  find(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {SummaryData} data @param {(action: object) => void} report */
  update(data, report) {
    this.data = data;
    this.report = report;
    this.predictions.update(data.lesson, data.predicted, (predicted) =>
      report({ name: "restore", lesson: data.lesson, predicted }),
    );
    const made = data.steps.filter(({ answer }) => answer !== null);
    const hits = made.filter(({ answer, right }) => answer === right).length;
    this.find(".summary-problem").textContent = data.problem;
    this.find(".summary-problem").hidden = !data.problem;
    this.find(".summary-takeaway").textContent = data.takeaway;
    this.find(".summary-score").hidden = made.length === 0;
    this.find(".summary-score").textContent =
      `${hits} of ${data.steps.length} right` +
      (made.length < data.steps.length ? `; ${data.steps.length - made.length} not predicted.` : ".");
    this.find("ol").replaceChildren(...data.steps.map(stepItem));
  }

  /** Save the summary as a separate page. */
  save() {
    const page = document.implementation.createHTMLDocument(this.data.title);
    const meta = page.createElement("meta");
    meta.setAttribute("charset", "utf-8");
    page.head.prepend(meta, textElement("style", FILE_STYLE));
    const name = this.root.querySelector("input").value.trim();
    const made = this.find(".summary-date").textContent;
    page.body.append(
      textElement("h1", this.data.title),
      textElement("p", name ? `${name}, ${made}` : made),
      ...[".summary-takeaway", ".summary-score", "ol"].map((part) => this.find(part).cloneNode(true)),
    );
    const file = new Blob(["<!doctype html>\n", page.documentElement.outerHTML], { type: "text/html" });
    const link = Object.assign(document.createElement("a"), {
      href: URL.createObjectURL(file),
      download: `${this.data.lesson}.html`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}

/** @param {SummaryStep} step */
function stepItem({ text, question, answers, right, answer, of_class, outcome }) {
  const item = document.createElement("li");
  const list = document.createElement("dl");
  const own = answer === null ? "none" : `${answers[answer]}${answer === right ? " ✓" : ""}`;
  const rows = [
    ["Your prediction:", own],
    ["Answer:", answers[right]],
    ["The class:", of_class],
  ];
  const shown = rows.slice(answer === null && of_class ? 1 : 0, of_class ? 3 : 2); // a lecturer predicts nothing
  for (const [name, value] of shown) list.append(textElement("dt", name), textElement("dd", value));
  item.append(textElement("p", text), textElement("p", question, "asked"), list, textElement("p", outcome));
  return item;
}

/** @param {string} tag @param {string} textContent @param {string} [className] */
function textElement(tag, textContent, className = "") {
  return Object.assign(document.createElement(tag), { textContent, className });
}

/**
 * @param {{ parentElement: HTMLElement, data: SummaryData, setTriggerValue: (name: string, value: object) => void }} component
 */
export default function (component) {
  /** @type {SummaryRoot} */
  const root = component.parentElement.querySelector(".summary");
  root.summary ??= new Summary(root);
  root.summary.update(component.data, (action) => component.setTriggerValue("act", action));
}
