// @ts-check
// Tune the radio: a star, the plane of frequencies, and a search for waves that agree with the labels around the star.

import { askedBy } from "../shared/controls/undo_keys.js";
import { INK, colourAt, colourTable, cssColour } from "../shared/live/colours.js";
import { GRID, PALETTE, PLANE_CELLS } from "../shared/live/constants.js";
import {
  circle,
  classColour,
  fillAndOutline,
  paintPoints,
  paintStar,
  place,
  pointerIn,
  stroke,
} from "../shared/live/marks.js";
import { cellCentres, nearestPoint, percent, pseudoPosterior, roundedPower } from "../shared/live/maths.js";
import { countClasses, decodePoints, encodePoints, nearestCell, without } from "../shared/live/point_code.js";
import { Raster, paintBoundary, paintWave } from "../shared/live/rasters.js";
import { fontOf } from "../shared/live/typeface.js";
import { LiveView, REST, mounting } from "../shared/live/view.js";
import { Station, codeOf, settingOf } from "./radio.js";

/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Report, Root } from "../shared/live/view.js" */
/** @import { Points, Worth } from "./radio.js" */

const FASTEST = 14; // half the side of the card, in radians per unit of x
const SCRATCH = 1.4; // radius that a finger reveals, likewise
const STEP = 0.5; // of an arrow key, likewise
const STRONG = 0.45; // agreement at the end of the colours
const DIAL = 0.7; // at the end of the dial: no wave of the data sets agrees better
const SEGMENTS = 48; // of the dial
const STEADY = 8; // pixels that a finger may move in a tap
const GRIP = 22; // pixels around the star at which it is taken
const MOST = 20; // waves that may be kept
const STAR_STEP = 0.05; // of an arrow key
const OWN = "own."; // before the code of points drawn by hand
const APART = 0.12; // least distance of points that one stroke draws
const GROUND = "#11151f";
const AGREEMENT = colourTable(PALETTE.similarityInDark);
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

class LiveRadio extends LiveView {
  /** Number of the candidate whose wave is heard.
   * @type {{ candidate?: number }} */
  focus = {};

  /** @type {Points[]} */
  sets = [];

  /** @type {Points} */
  points;

  /** Numbers of the candidates that are kept.
   * @type {number[]} */
  kept = [];

  /** Where the star was moved.
   * @type {number[] | null} */
  placed = null;

  /** Whether the posterior is shown, and whether it was. */
  posterior = false;

  compared = false;

  /** Codes that the server has not answered yet.
   * @type {string[]} */
  told = [];

  /** Codes that Ctrl+Z returns to, one a gesture, and those that it came from.
   * @type {string[]} */
  past = [];

  /** @type {string[]} */
  undone = [];

  /** The code of the default.
   * @type {string} */
  first;

  /** Cells of the card that are revealed. */
  mask = new Uint8Array(PLANE_CELLS ** 2);

  /** Where the keyboard searches. */
  cursor = { x: 0, y: 0 };

  /** Where a finger went down on the card; undefined while it is up.
   * @type {{ x: number, y: number, still: boolean } | undefined} */
  down;

  holdsStar = false;

  /** What a press on drawn points adds: a class, or 0 to take points away; undefined while the hand is up.
   * @type {number | undefined} */
  painting;

  brush = 1;

  /** @type {Station | undefined} */
  station;

  /** Settings of the numbers below. */
  computed = { station: "", yours: "", its: "", cover: "" };

  /** @type {Worth} */
  yours;

  /** @type {Worth | undefined} */
  its;

  /** @param {Root} root */
  constructor(root) {
    super(root);
    this.grid = cellCentres(FASTEST, PLANE_CELLS);
    this.raster = new Raster(GRID);
    this.cover = new Raster(PLANE_CELLS);
    this.ownMap = new Float32Array(GRID ** 2);
    this.itsMap = new Float32Array(GRID ** 2);
    this.listenToPoints(this.panel("canvas.heard", (c, w) => this.paintHeard(c, w)).canvas);
    this.listenToCard(this.panel("canvas.card", (c, w) => this.paintCard(c, w)).canvas);
    this.panel("canvas.needle", (c, w, h) => this.paintNeedle(c, w, h));
    this.find(".keep").onclick = () => this.toggle(this.focus.candidate);
    this.find(".turn").onclick = () => this.turn(!this.posterior);
    this.find(".again").onclick = () => {
      this.moveTo({ beta: 1, D: this.draws.length / 2 }, false);
      this.choose(this.points);
    };
    this.find(".take-back").onclick = () => this.travel(this.past, this.undone);
    document.addEventListener("keydown", (event) => this.undo(event), { capture: true });
    for (const button of this.brushes) {
      button.onclick = () => {
        this.brush = Number(button.dataset.label);
        this.request();
      };
    }
  }

  // --- settings -----------------------------------------------------------------------------------------------------

  /** @returns {NodeListOf<HTMLElement>} */
  get brushes() {
    return this.root.querySelectorAll(".brush");
  }

  /** Sliders do not depend on the page. */
  hide() {}

  get D() {
    return Math.round(Number(this.value("D").toPrecision(3)));
  }

  get strength() {
    return roundedPower(Number(this.inputs.beta.value));
  }

  get star() {
    return this.placed ?? this.points.star;
  }

  get code() {
    const { posterior, kept, placed: star, points, strength: beta, D, sigma } = this;
    const code = codeOf({ name: points.name, kept, posterior, star, sliders: { beta, D, sigma } });
    return code === this.first ? "" : code;
  }

  /** @param {Data} data */
  receive(data) {
    this.sets = data.sets.map((/** @type {any} */ set) => ({
      ...set,
      X: this.array("points", Float64Array, set),
      y: this.array("labels", Int8Array, set),
      testX: this.array("test_points", Float32Array, set),
      testY: this.array("test_labels", Int8Array, set),
    }));
    this.draws = this.array("candidates", Float32Array);
    const [{ name, sigma }] = this.sets;
    this.first = `${name}~~1~${this.draws.length / 2}~${sigma}`;
    this.layOutSets();
    this.take(data.radio);
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    super.update(data, report);
    const answered = this.told.indexOf(data.radio);
    if (answered >= 0) this.told.splice(0, answered + 1);
    else if (!this.told.length && data.radio !== this.code) this.take(data.radio);
  }

  /** Take the setting of a code. @param {string} code */
  take(code) {
    const { name, kept, posterior, star, sliders } = settingOf(code || this.first);
    const points = name.startsWith(OWN) ? this.drawn(name) : this.sets.find((set) => set.name === name);
    if (points.name !== this.points?.name) {
      this.mask.fill(0);
      this.compared = false;
    }
    Object.assign(this, { points, kept, posterior, placed: star });
    this.compared ||= posterior;
    this.moveTo(sliders, false);
    for (const m of kept) this.reveal(this.draws[2 * m] / this.sigma, this.draws[2 * m + 1] / this.sigma);
    this.request();
  }

  /** Points drawn by hand; without fresh ones, errors are those on the points. @param {string} name with their code @returns {Points} */
  drawn(name) {
    const { extent, cells, star, sigma } = this.data.own;
    const points = decodePoints(name.slice(OWN.length), cells);
    const X = Float64Array.from(points.flatMap(({ x, y }) => [x, y].map((cell) => 2 * extent * (cell / cells - 0.5))));
    const y = Int8Array.from(points, ({ label }) => label);
    return { name, X, y, testX: X, testY: y, extent, star, sigma, byHand: true };
  }

  settle() {
    clearTimeout(this.restTimer);
    this.dragging = false;
    this.tell();
  }

  /** Report the setting to the server. */
  tell() {
    const { code } = this;
    const before = this.told.at(-1) ?? this.given.radio;
    if (code === before) return;
    this.past.push(before);
    this.undone = [];
    this.send(code);
  }

  /** @param {string} code */
  send(code) {
    this.told.push(code);
    this.report("clicked", code);
  }

  /** Take back the last gesture, or do it again. @param {KeyboardEvent} event */
  undo(event) {
    const asked = askedBy(event);
    const [from, to] = asked === "redo" ? [this.undone, this.past] : [this.past, this.undone];
    if (!asked || !from.length || !this.root.isConnected) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // the steps of the page do not have it
    this.travel(from, to);
  }

  /** Go to the last setting of one list, and note this one in the other. @param {string[]} from @param {string[]} to */
  travel(from, to) {
    to.push(this.code);
    this.take(from.pop());
    this.send(this.code);
  }

  // --- input --------------------------------------------------------------------------------------------------------

  /** Choose a data set, and start again with it. @param {Points} points */
  choose(points) {
    this.mask.fill(0);
    this.computed.cover = "";
    Object.assign(this, { points, kept: [], placed: null, posterior: false, compared: false, focus: {} });
    this.moveTo({ sigma: points.sigma }, false);
    this.request();
    this.tell();
  }

  /** @param {Event} event */
  moved(event) {
    if (event.target === this.beta) this.posterior = this.compared = true;
    super.moved(event);
  }

  play() {
    this.posterior = this.compared = true;
    super.play();
  }

  /** Show the posterior or what is kept. @param {boolean} posterior */
  turn(posterior) {
    this.posterior = posterior;
    this.compared ||= posterior;
    this.focus = {};
    this.request();
    this.tell();
  }

  /** Keep a candidate, or let it go. @param {number | undefined} m */
  toggle(m) {
    if (m === undefined) return;
    const others = this.kept.filter((one) => one !== m);
    if (others.length === this.kept.length && others.length < MOST) others.push(m);
    this.kept = others;
    this.posterior = false;
    this.focus = {};
    this.request();
    this.tell();
  }

  /** Hear the candidate nearest to a place of the card. @param {number} x @param {number} y @param {number} time of the input */
  search(x, y, time) {
    this.cursor = { x, y };
    this.inputTime ??= time;
    this.reveal(x, y);
    this.setFocus({ candidate: nearestPoint(this.station.omega.subarray(0, 2 * this.D), x, y, Infinity) });
    this.request();
  }

  /** Reveal the card around a place. @param {number} x @param {number} y */
  reveal(x, y) {
    const [a, b, radius] = [x, y, SCRATCH].map((length) => (length * PLANE_CELLS) / (2 * FASTEST));
    const [left, bottom] = [a, b].map((middle) => middle + PLANE_CELLS / 2);
    for (let k = Math.max(0, Math.floor(bottom - radius)); k < Math.min(PLANE_CELLS, bottom + radius); k++) {
      for (let i = Math.max(0, Math.floor(left - radius)); i < Math.min(PLANE_CELLS, left + radius); i++) {
        if (Math.hypot(i + 0.5 - left, k + 0.5 - bottom) < radius) this.mask[k * PLANE_CELLS + i] = 1;
      }
    }
    this.computed.cover = "";
  }

  /** @param {HTMLCanvasElement} canvas */
  listenToCard(canvas) {
    const follow = (/** @type {PointerEvent} */ event) => {
      const { x, y } = pointerIn(event, canvas, FASTEST);
      this.search(x, y, event.timeStamp);
    };
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.down = { x: event.clientX, y: event.clientY, still: true };
      follow(event);
    };
    canvas.onpointermove = (event) => {
      if (this.down && Math.hypot(event.clientX - this.down.x, event.clientY - this.down.y) > STEADY) {
        this.down.still = false;
      }
      follow(event);
    };
    canvas.onpointerup = () => {
      if (this.down?.still) this.toggle(this.focus.candidate);
      this.down = undefined;
    };
    canvas.onpointercancel = () => (this.down = undefined);
    // A finger that is lifted leaves its wave, to be kept by the button.
    canvas.onpointerleave = (event) => event.pointerType === "mouse" && this.setFocus({});
    canvas.onkeydown = (event) => {
      const { x, y } = this.cursor;
      const arrow = ARROWS[/** @type {keyof typeof ARROWS} */ (event.key)];
      if (arrow) {
        const [a, b] = [x + STEP * arrow[0], y + STEP * arrow[1]];
        if (Math.max(Math.abs(a), Math.abs(b)) <= FASTEST) this.search(a, b, event.timeStamp);
      } else if (event.key === " " || event.key === "Enter") this.toggle(this.focus.candidate);
      else if (event.key === "Escape") this.setFocus({});
      else return;
      event.preventDefault();
    };
  }

  /** @param {HTMLCanvasElement} canvas */
  listenToPoints(canvas) {
    const grips = (/** @type {PointerEvent} */ event) => {
      const { x, y, scale } = pointerIn(event, canvas, this.points.extent);
      return Math.hypot(x - this.star[0], y - this.star[1]) < GRIP * scale;
    };
    canvas.onpointerdown = (event) => {
      this.holdsStar = grips(event);
      if (!this.holdsStar && this.points.byHand) this.painting = this.brush;
      if (this.holdsStar || this.points.byHand) canvas.setPointerCapture(event.pointerId);
      if (this.painting !== undefined) this.draw(pointerIn(event, canvas, this.points.extent), event.timeStamp);
    };
    canvas.onpointermove = (event) => {
      canvas.classList.toggle("at-handle", this.holdsStar || grips(event));
      const { x, y } = pointerIn(event, canvas, this.points.extent);
      if (this.holdsStar) this.moveStar(x, y, event.timeStamp);
      else if (this.painting !== undefined) this.draw({ x, y }, event.timeStamp);
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (this.holdsStar || this.painting !== undefined) this.tell();
      this.holdsStar = false;
      this.painting = undefined;
    };
    canvas.onkeydown = (event) => {
      const arrow = ARROWS[/** @type {keyof typeof ARROWS} */ (event.key)];
      if (!arrow) return;
      event.preventDefault();
      this.moveStar(this.star[0] + STAR_STEP * arrow[0], this.star[1] + STAR_STEP * arrow[1], event.timeStamp);
      clearTimeout(this.restTimer);
      this.restTimer = setTimeout(() => this.settle(), REST);
    };
  }

  /** Add a point of the brush's class, apart from others, or take points away. @param {{ x: number, y: number }} at @param {number} time of the input */
  draw({ x, y }, time) {
    const { cells, most, extent } = this.data.own;
    const points = decodePoints(this.points.name.slice(OWN.length), cells);
    const [a, b] = [x, y].map((value) => Math.round((value / (2 * extent) + 0.5) * cells));
    const near = nearestCell(points, a, b, (APART * cells) / (2 * extent));
    if (Math.min(a, b) < 0 || Math.max(a, b) > cells) return;
    if (this.painting === 0 ? near < 0 : near >= 0 || points.length === most) return;
    const next = this.painting === 0 ? without(points, near) : [...points, { x: a, y: b, label: this.painting }];
    const { negative, positive } = countClasses(next);
    if (Math.min(negative, positive) < 2) return;
    this.points = this.drawn(OWN + encodePoints(next, cells));
    this.inputTime ??= time;
    this.request();
  }

  /** @param {number} x @param {number} z @param {number} time of the input */
  moveStar(x, z, time) {
    const { extent } = this.points;
    this.placed = [x, z].map((value) => Number(Math.max(-extent, Math.min(value, extent)).toFixed(2)));
    this.inputTime ??= time;
    this.request();
  }

  // --- numbers ------------------------------------------------------------------------------------------------------

  /** The waves that are kept and on the card. */
  get own() {
    return this.kept.filter((m) => m < this.D);
  }

  compute() {
    const { points, star, sigma, D, own, posterior, compared, strength } = this;
    const of = [points.name, ...star, sigma].join(" ");
    if (this.computed.station !== of) {
      this.station = new Station(points, star, sigma, this.draws, GRID, this.station);
      this.agreements = this.station.agreements(this.grid);
      this.Q = new Float64Array(this.station.N);
      this.computed = { station: of, yours: "", its: "", cover: "" };
      this.its = undefined;
    }
    const { station } = this;
    const yours = [D, ...own].join(" ");
    if (this.computed.yours !== yours) {
      this.computed.yours = yours;
      this.yours = own.length ? this.weigh(own, this.ownMap) : station.kernel;
      if (!own.length) this.ownMap.set(station.kernelMap);
    }
    const its = compared ? [D, strength].join(" ") : "";
    if (this.computed.its !== its) {
      this.computed.its = its;
      this.its = compared ? this.weighAll() : undefined;
    }
    if (this.computed.cover !== String(posterior)) {
      this.computed.cover = String(posterior);
      this.colourCover();
    }
  }

  /** Worth of the posterior; its map goes to `itsMap`. */
  weighAll() {
    const { station, D, strength, Q, points } = this;
    pseudoPosterior(station.loss, 1, station.N, D, strength, points.y.length, Q);
    station.map(Q, D, this.itsMap);
    return station.worthOf(Q, D);
  }

  /** Worth of the mean of some waves; their map goes to `out`. @param {number[]} own @param {Float32Array} out */
  weigh(own, out) {
    const Q = new Float64Array(this.station.N);
    for (const m of own) Q[m] = 1 / own.length;
    this.station.map(Q, this.D, out);
    return this.station.worthOf(Q, this.D);
  }

  /** Colours of the card where it is revealed; the posterior turns all of it over. */
  colourCover() {
    const { cover, mask, posterior, agreements } = this;
    for (let k = 0; k < mask.length; k++) {
      const [row, column] = [PLANE_CELLS - 1 - Math.floor(k / PLANE_CELLS), k % PLANE_CELLS];
      const shown = posterior || mask[k];
      cover.pixels[row * PLANE_CELLS + column] = shown ? colourAt(AGREEMENT, levelOf(agreements[k])) : 0;
    }
    cover.context.putImageData(cover.image, 0, 0);
  }

  // --- words --------------------------------------------------------------------------------------------------------

  write() {
    const { yours, its, own, posterior, focus } = this;
    const pairs = { your: yours, its };
    for (const [who, worth] of Object.entries(pairs)) {
      this.find(`.${who}-error`).textContent = worth ? percent(worth.error) : "?";
      this.find(`.${who}-kl`).textContent = worth ? `${worth.kl.toFixed(2)} nats` : "?";
      this.find(`.${who}-bound`).textContent = !worth
        ? "?"
        : Number.isNaN(worth.bound)
          ? "none"
          : worth.bound.toFixed(3);
    }
    this.find(".heard-words").textContent = this.heardWords();
    this.find(".verdict").textContent = this.verdict();
    const keep = /** @type {HTMLButtonElement} */ (this.find(".keep"));
    keep.disabled = focus.candidate === undefined;
    keep.textContent = own.includes(focus.candidate) ? "Let this wave go" : "Keep this wave";
    this.find(".take-back").hidden = !this.past.length;
    this.find(".turn").textContent = posterior ? "Show your waves" : "Let the posterior do it";
    this.find(".turn").setAttribute("aria-pressed", String(posterior));
    for (const [k, button] of this.root.querySelectorAll(".set").entries()) {
      button.setAttribute(
        "aria-pressed",
        String(this.points.byHand ? k === this.sets.length : this.sets[k] === this.points),
      );
    }
    this.find(".of-error").textContent = this.points.byHand ? "error on your points" : "test error";
    this.find(".brushes").hidden = !this.points.byHand;
    for (const button of this.brushes) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.label) === this.brush));
    }
  }

  heardWords() {
    const { candidate } = this.focus;
    if (candidate !== undefined) {
      const [a, b] = this.frequency(candidate).map((value) => value.toFixed(1).replace("-", "−"));
      return `The wave (${a}, ${b}): agreement ${signed(this.station.agreement(candidate))}`;
    }
    if (this.posterior) return `Learned map: ${this.D} waves, weighed by the labels`;
    const { length } = this.own;
    if (length) return length === 1 ? "Your map: one wave" : `Your map: the mean of ${length} waves`;
    return "Prior map: similar is what is near the star";
  }

  verdict() {
    const { yours, its, own, placed } = this;
    const waves = own.length === 1 ? "one wave" : `${own.length} waves`;
    const sentences = [
      own.length
        ? `You: ${percent(yours.error)} with ${waves}${its ? `; the posterior: ${percent(its.error)}.` : "."}`
        : its
          ? `The posterior: ${percent(its.error)}. Can you do better?`
          : `Without labels ${percent(yours.error)} are wrong. Green waves agree with the labels: find ${this.points.name === "checkerboard" ? "two" : "some"}.`,
    ];
    if (this.points.byHand) sentences.push("Points drawn by hand are no random sample, so no bound holds for them.");
    else if (placed) sentences.push("The star was moved after a look at the labels, so no bound holds for it.");
    return sentences.join(" ");
  }

  /** @param {number} m */
  frequency(m) {
    return [this.station.omega[2 * m], this.station.omega[2 * m + 1]];
  }

  // --- figures ------------------------------------------------------------------------------------------------------

  /** Make a button with a picture for each data set, and one for drawing. */
  layOutSets() {
    if (this.find(".sets").childElementCount) return;
    for (const set of this.sets) {
      const canvas = document.createElement("canvas");
      this.addSet(set.name, canvas, () => this.choose(set));
      this.panel(canvas, (c, w) => paintPoints(c, w, set.extent, set.X, set.y, 1.3, 150), { fixed: true });
    }
    this.addSet("draw your own points", "✎", () => this.choose(this.drawn(this.data.own.start)));
  }

  /** @param {string} title @param {Node | string} content @param {() => void} choose */
  addSet(title, content, choose) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "set", title });
    button.setAttribute("aria-label", `data: ${title}`);
    button.onclick = choose;
    button.append(content);
    this.find(".sets").append(button);
  }

  /** @param {Context} c @param {number} w */
  paintHeard(c, w) {
    const { points, focus, posterior, own, raster, station } = this;
    const { extent } = points;
    const [x, z] = this.star;
    if (focus.candidate !== undefined) {
      const [a, b] = this.frequency(focus.candidate);
      paintWave(c, w, raster, [a, b], a * x + b * z, extent, "similarity");
    } else {
      const map = posterior ? this.itsMap : this.ownMap;
      raster.set(map, -1, 1, "similarity");
      raster.paint(c, w, w);
      if (posterior || own.length) paintBoundary(c, w, map, GRID);
    }
    paintPoints(c, w, extent, points.X, points.y, Math.max(2, w / 150));
    paintStar(c, ...place(x, z, extent, w), Math.max(10, w / 28), 0, station.label);
  }

  /** @param {Context} c @param {number} w */
  paintCard(c, w) {
    const { station, D, posterior, own, focus, sigma, Q } = this;
    const { omega } = station;
    c.fillStyle = GROUND;
    c.fillRect(0, 0, w, w);
    this.cover.paint(c, w, w);
    for (const deviations of [1, 2, 3]) {
      circle(c, w / 2, w / 2, (deviations / sigma) * (w / (2 * FASTEST)));
      if (deviations / sigma < 1.5 * FASTEST) stroke(c, "rgba(255, 255, 255, 0.3)", 1);
    }
    const dot = Math.max(1.2, w / 250);
    c.fillStyle = "rgba(255, 255, 255, 0.45)";
    for (let m = 0; m < D; m++) {
      const [x, y] = place(omega[2 * m], omega[2 * m + 1], FASTEST, w);
      if (Math.min(x, y) < 0 || Math.max(x, y) > w) continue; // beyond the card
      if (!posterior) c.fillRect(x - dot / 2, y - dot / 2, dot, dot);
      else if (Q[m] * D > 0.05) {
        circle(c, x, y, Math.max(dot / 2, 0.12 * w * Math.sqrt(Q[m])));
        fillAndOutline(c, "rgba(255, 255, 255, 0.55)", INK, 0.5);
      }
    }
    const radius = Math.max(5, w / 60);
    for (const m of own) {
      circle(c, ...place(omega[2 * m], omega[2 * m + 1], FASTEST, w), radius);
      fillAndOutline(c, classColour(station.label), "white", 2);
    }
    if (focus.candidate === undefined) return;
    circle(c, ...place(omega[2 * focus.candidate], omega[2 * focus.candidate + 1], FASTEST, w), radius + 3);
    stroke(c, "white", 2.5);
  }

  /** Agreement of the wave that is heard, or of the map, on a dial. @param {Context} c @param {number} w @param {number} h */
  paintNeedle(c, w, h) {
    const { focus, posterior, its, yours, station, ink } = this;
    const shown = posterior && its ? its : yours;
    const value = focus.candidate === undefined ? 1 - 2 * shown.loss : station.agreement(focus.candidate);
    const size = 0.8 * this.rem;
    const radius = Math.min(w / 2 - 2, h - 1.6 * size);
    const [x, y] = [w / 2, h - 1.5 * size];
    const at = (/** @type {number} */ turn, /** @type {number} */ r) => {
      const angle = Math.PI * (1 - (Math.max(-DIAL, Math.min(turn, DIAL)) / DIAL + 1) / 2);
      return /** @type {[number, number]} */ ([x + r * radius * Math.cos(angle), y - r * radius * Math.sin(angle)]);
    };
    for (let k = 0; k < SEGMENTS; k++) {
      const [from, middle, to] = [k, k + 0.5, k + 1.2].map((step) => ((2 * step) / SEGMENTS - 1) * DIAL);
      c.beginPath();
      c.moveTo(...at(from, 0.8));
      c.lineTo(...at(from, 1));
      c.lineTo(...at(to, 1));
      c.lineTo(...at(to, 0.8));
      c.closePath();
      c.fillStyle = cssColour(colourAt(AGREEMENT, levelOf(middle)));
      c.fill();
    }
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(...at(value, 0.95));
    stroke(c, ink, 3);
    circle(c, x, y, 4);
    c.fillStyle = ink;
    c.fill();
    c.font = fontOf(size);
    c.textBaseline = "alphabetic";
    const words = w > 12 * this.rem; // room for them
    for (const [text, align, left] of /** @type {[string, CanvasTextAlign, number][]} */ ([
      [words ? "disagrees" : "", "left", x - radius],
      [`${words ? "" : value < 0 ? "disagrees " : "agrees "}${signed(value)}`, "center", x],
      [words ? "agrees" : "", "right", x + radius],
    ])) {
      c.textAlign = align;
      c.fillText(text, left, h - 0.2 * size);
    }
  }
}

/** Place of an agreement in the table of colours. @param {number} agreement */
const levelOf = (agreement) => (agreement / STRONG + 1) * 127.5;

/** A number with its sign and two figures. @param {number} value */
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

export default mounting(LiveRadio);
