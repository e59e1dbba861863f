// The guide's card, and the frame around the part of the picture that it speaks of.

/** How long the part to look at is kept in sight while pictures come in, in milliseconds. */
const SEEK = 4000;
/** Room for the frame and its label above the part, in pixels. */
const LABEL = 36;
/** What tells that the reader moves the page himself. */
const HANDS = ["wheel", "touchmove", "keydown"];

class Guide {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.frame = Object.assign(document.createElement("div"), { className: "look-here", hidden: true });
    this.frame.setAttribute("aria-hidden", "true");
    for (const name of ["leave", "back", "next"]) this.find(`.${name}`).onclick = () => this.act(name);
    // Pictures come late, move and are made anew: the frame follows what is there.
    this.timer = setInterval(() => this.follow(), 100);
    // Who scrolls himself wants to look elsewhere.
    this.letGo = () => (this.seekUntil = 0);
    for (const name of HANDS) document.addEventListener(name, this.letGo, { passive: true });
  }

  end() {
    clearInterval(this.timer);
    this.frame.remove();
    for (const name of HANDS) document.removeEventListener(name, this.letGo);
  }

  update(data, report) {
    this.report = report;
    const turn = `${data.lesson} ${data.step} ${data.answer}`;
    const moved = this.turn !== turn;
    this.data = data;
    this.find(".guide-note").hidden = !data.moved;
    if (!moved) return;
    this.turn = turn;
    this.seekUntil = null; // until the part is there, which may take a while
    this.found = null;
    this.write();
  }

  act(name, answer) {
    this.report({ name, answer, lesson: this.data.lesson, step: this.data.step });
  }

  // --- the card -----------------------------------------------------------------------------------------------------

  write() {
    const { title, step, steps, text, question, answers, right, answer, outcome, next } = this.data;
    const asking = answer === null || answer === undefined, focused = this.root.contains(document.activeElement);
    this.find(".guide-title").textContent = title;
    this.find(".guide-count").textContent = `step ${step} of ${steps}`;
    this.find(".guide-text").textContent = text;
    this.find(".guide-text").hidden = !asking;
    this.find(".guide-question").textContent = question;
    this.find(".answers").hidden = !asking;
    this.find(".answers").replaceChildren(...answers.map((words, k) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: words });
      button.onclick = () => this.act("answer", k);
      return button;
    }));
    const paragraph = (className, textContent) => Object.assign(document.createElement("p"), { className, textContent });
    const said = answer === right ? [] : [paragraph("said", `Your guess: ${answers[answer]}`)];
    const verdict = paragraph("verdict", `${answer === right ? "✓ Right:" : "→"} ${answers[right]}`);
    this.find(".guide-outcome").replaceChildren(...(asking ? [] : [...said, verdict, paragraph("told", outcome)]));
    this.find(".back").hidden = step === 1;
    const last = step === steps;
    this.find(".next").textContent = last ? (next ? `Next lesson: ${next} ›` : "Done") : asking ? "Skip ›" : "Next ›";
    this.find(".next").hidden = last && asking;
    this.find(".next").classList.toggle("primary", !asking);
    // The button that was pressed is gone: go on from the one that leads on.
    if (focused) (asking ? this.find(".answers button") : this.find(".next")).focus({ preventScroll: true });
  }

  // --- the pointer --------------------------------------------------------------------------------------------------

  /** The part to look at: the first selector that the page shows. */
  part() {
    for (const selector of this.data?.look ?? []) {
      for (const element of document.querySelectorAll(selector)) {
        const box = element.getBoundingClientRect();
        if (box.width > 0 && box.height > 0) return element;
      }
    }
    return null;
  }

  follow() {
    if (!this.root.isConnected) return this.end();
    const part = this.part(), page = this.root.closest("[data-testid=stMainBlockContainer]");
    this.frame.hidden = !part || !page;
    if (this.frame.hidden) return;
    if (this.frame.parentElement !== page) page.append(this.frame);
    const box = part.getBoundingClientRect(), home = page.getBoundingClientRect(), gap = 4;
    const place = [box.left - home.left - gap, box.top - home.top - gap, box.width + 2 * gap, box.height + 2 * gap];
    const now = place.map((v) => Math.round(v)).join(" ");
    this.seekUntil ??= performance.now() + SEEK;
    if (now !== this.place) {
      this.place = now;
      ["left", "top", "width", "height"].forEach((side, k) => (this.frame.style[side] = `${Math.round(place[k])}px`));
    } else if (now !== this.found && performance.now() < this.seekUntil) {
      this.found = now; // where it is, once it has come to rest there; it may be pushed on by what is still to come
      this.bringIntoSight(part, box);
    }
  }

  /** Scroll only as far as needed, into what neither the header, nor the card, nor the picture's own sliders cover. */
  bringIntoSight(part, box) {
    const card = this.root.getBoundingClientRect(), scroller = this.root.closest("[data-testid=stMain]");
    const header = document.querySelector("[data-testid=stHeader]")?.getBoundingClientRect().bottom ?? 0;
    // A card above the part will be at the header, wherever it is now.
    const covered = card.left < box.right && card.right > box.left ? card.height : 0;
    // Sliders that the part does not hold stay above it; the card covers them.
    const sliders = part.parentElement.closest(".live")?.querySelector(".scrubbers")?.offsetHeight ?? 0;
    const top = header + Math.max(covered, sliders) + LABEL, bottom = window.innerHeight - 10;
    let by = 0;
    if (box.top < top || box.height > bottom - top) by = box.top - top;
    else if (box.bottom > bottom) by = box.bottom - bottom;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (Math.abs(by) > 1) scroller.scrollBy({ top: by, behavior: still ? "auto" : "smooth" });
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".guide");
  root.view ??= new Guide(root);
  root.view.update(component.data, (act) => component.setTriggerValue("act", act));
}
