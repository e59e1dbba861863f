// What live views have in common: sliders that answer at every frame, play, gliding, settling, and a picture to take away.

const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");
const GLIDE = 900; // milliseconds from one setting to another that came from elsewhere
const REST = 150; // milliseconds without a change after which a slider has come to rest
const ECHO = 3000; // milliseconds within which the server answers what it was told

class LiveView {
  /** Sliders are the inputs of the root's `.scrubbers`; one of `data-scale="log"` holds the logarithm of its value. */
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.inputs = Object.fromEntries([...root.querySelectorAll(".scrubbers input")].map((input) => [input.name, input]));
    this.beta = this.inputs.beta;
    this.panels = [];
    for (const scale of root.querySelectorAll("canvas.scale")) {
      this.panel(scale, (c, w, h) => {
        for (let k = 0; k < 64; k++) {
          c.fillStyle = cssColour(TABLES.similarity[k * 4 + 2]);
          c.fillRect((k * w) / 64, 0, w / 64 + 0.5, h);
        }
      });
    }
    this.focus = {}; // what the pointer, or the keyboard, is on
    this.latencies = []; // milliseconds from an input event to its drawn frame
    for (const input of Object.values(this.inputs)) {
      input.oninput = (event) => {
        this.held = true;
        this.halt();
        this.asked ??= event.timeStamp;
        this.request();
      };
      input.onchange = () => {
        clearTimeout(this.resting);
        this.resting = setTimeout(() => this.settle(), REST);
      };
    }
    this.find(".play").onclick = () => (this.playing ? this.stop() : this.play());
    new ResizeObserver(() => this.request()).observe(root);
  }

  panel(selector, painter) {
    const panel = new Panel(typeof selector === "string" ? this.find(selector) : selector, painter);
    this.panels.push(panel);
    return panel;
  }

  value(name) {
    const input = this.inputs[name];
    return input.dataset.scale === "log" ? 10 ** Number(input.value) : Number(input.value);
  }

  /** A slider's value as it is shown, and as it is said to those who cannot see the picture. */
  text(name) {
    return String(Number(this.value(name).toPrecision(3)));
  }

  said(name) {
    return this.text(name);
  }

  /** New data, or settings changed elsewhere. */
  update(data, report) {
    this.report = report;
    const first = !this.data, fresh = data.version !== this.data?.version;
    if (fresh) {
      this.data = data;
      this.focus = {};
      this.receive(data);
    }
    this.hide(data.hidden);
    if (!this.held && !this.playing && !this.outdated(data.settings)) this.moveTo(data.settings, !first && !CALM.matches);
    this.request();
  }

  /** Sliders that a lecturer has hidden by name; where beta is one of them, neither Play nor a chart moves it. */
  hide(names) {
    const bar = this.find(".scrubbers");
    for (const [name, input] of Object.entries(this.inputs)) input.closest("label").hidden = names.includes(name);
    this.still = this.find(".play").hidden = names.includes("beta");
    bar.hidden = [...bar.children].every((part) => part.hidden);
    this.root.classList.toggle("still", this.still);
    if (this.still && this.playing) this.stop();
  }

  /** An array of the data, sent as base64. */
  array(name, Type, from = this.data) {
    return new Type(Uint8Array.from(atob(from[name]), (c) => c.charCodeAt(0)).buffer);
  }

  moveTo(settings, glide) {
    const moves = [];
    for (const [name, value] of Object.entries(settings)) {
      const input = this.inputs[name], to = input.dataset.scale === "log" ? Math.log10(value) : value;
      const span = input.max - input.min, from = Number(input.value);
      // A slider that comes to rest between two values of its scale is not seen to travel.
      if (glide && Math.abs(to - from) > 0.02 * span) moves.push({ input, from, to });
      else input.value = to;
    }
    this.halt();
    if (!moves.length) return;
    const start = performance.now();
    this.gliding = setInterval(() => {
      const part = Math.min((performance.now() - start) / GLIDE, 1), eased = part * part * (3 - 2 * part);
      for (const { input, from, to } of moves) input.value = from + eased * (to - from);
      if (part === 1) this.halt();
      this.request();
    }, 16);
  }

  /** Whether settings from the server are older than what it was last told: its answer to that is still to come. */
  outdated(settings) {
    if (!this.told || performance.now() - this.told.time > ECHO) return false;
    const answered = Object.entries(this.inputs).every(([name, input]) => {
      const position = input.dataset.scale === "log" ? Math.log10(settings[name]) : settings[name];
      return Math.abs(position - this.told.positions[name]) <= 0.02 * (input.max - input.min);
    });
    if (answered) this.told = null;
    return !answered;
  }

  halt() {
    clearInterval(this.gliding);
    this.gliding = null;
  }

  /** Tell the server where the sliders have come to rest. */
  settle() {
    clearTimeout(this.resting);
    this.held = false;
    const positions = Object.fromEntries(Object.entries(this.inputs).map(([name, input]) => [name, Number(input.value)]));
    this.told = { positions, time: performance.now() };
    this.report("settled", Object.fromEntries(Object.keys(this.inputs).map((name) => [name, this.value(name)])));
  }

  /** Run beta from where it is to its end; with reduced motion in few steps. */
  play() {
    const { beta } = this, end = Number(beta.max), step = CALM.matches ? 0.5 : Math.max(0.03, Number(beta.step) || 0);
    this.halt();
    if (Number(beta.value) >= end) beta.value = beta.min;
    this.mark(true);
    const tick = () => {
      beta.value = Math.min(Number(beta.value) + step, end);
      this.request();
      if (Number(beta.value) >= end) this.stop();
    };
    this.playing = setInterval(tick, CALM.matches ? 1000 : (40 * step) / 0.03);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.mark(false);
    this.settle();
  }

  /** What the button shows while it plays, and while it does not. */
  mark(playing) {
    this.find(".play").textContent = playing ? "❚❚" : "▶";
    this.find(".play").setAttribute("aria-pressed", playing);
  }

  /** A chart on which a slider is dragged: `take` moves it to a share of the width of the chart's frame. */
  draggable(canvas, take) {
    const move = (event) => {
      if (this.still) return;
      const { left, right } = this.frame;
      take((event.clientX - canvas.getBoundingClientRect().left - left) / (right - left));
      this.held = true;
      this.halt();
      this.asked ??= event.timeStamp;
      this.request();
    };
    canvas.classList.add("draggable");
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      move(event);
    };
    canvas.onpointermove = (event) => canvas.hasPointerCapture(event.pointerId) && move(event);
    canvas.onpointerup = canvas.onpointercancel = () => this.held && this.settle();
  }

  look(focus) {
    if (JSON.stringify(focus) === JSON.stringify(this.focus)) return;
    this.focus = focus;
    this.request();
  }

  /** Draw once in the next frame, however often it is asked for. */
  request() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      if (!this.data) return;
      const style = getComputedStyle(this.root);
      this.ink = style.color;
      this.rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
      this.compute();
      for (const [name, input] of Object.entries(this.inputs)) {
        this.find(`.${name}-value`).textContent = this.text(name);
        input.setAttribute("aria-valuetext", this.said(name));
      }
      this.write();
      for (const panel of this.panels) panel.redraw();
      if (this.beta) followBeta(this.value("beta"));
      this.find(".waiting")?.remove();
      if (this.asked !== undefined) {
        this.latencies.push(performance.now() - this.asked);
        this.asked = undefined;
      }
    });
  }

  /** The whole picture as one SVG file: the panels where they stand, and the words around them. */
  picture() {
    const bar = this.find(".scrubbers");
    bar.style.position = "static"; // where the reader has scrolled to does not matter
    const edge = 12, whole = this.root.getBoundingClientRect(), c = new SvgContext();
    const from = (box) => [box.left - whole.left + edge, box.top - whole.top + edge];
    const group = (transform, paint) => {
      c.parts.push(`<g transform="${transform}">`);
      paint();
      c.parts.push("</g>");
    };
    const size = [whole.width + 2 * edge, whole.height + 2 * edge];
    c.fillStyle = getComputedStyle(this.root).getPropertyValue("--st-background-color");
    c.fillRect(0, 0, ...size);
    for (const { canvas, painter } of this.panels) {
      const box = canvas.getBoundingClientRect();
      if (box.width) group(`translate(${from(box)})`, () => painter(c, canvas.clientWidth, canvas.clientHeight));
    }
    for (const element of this.root.querySelectorAll("[data-words]")) this.copyWords(c, element, from, group);
    bar.style.position = "";
    const [width, height] = size.map(Math.ceil);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${c.parts.join("")}</svg>`;
  }

  copyWords(c, element, from, group) {
    const box = element.getBoundingClientRect(), style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const kept = [...element.childNodes].filter((node) => !node.matches?.(".advice")); // what to do is no part of a file
    const words = kept.map((node) => node.textContent).join("").trim().split(/\s+/);
    if (!box.width || !words[0]) return;
    c.font = `${Number(style.fontWeight) >= 600 ? "bold " : ""}${size}px sans-serif`;
    Object.assign(c, { fillStyle: style.color, textAlign: "left", textBaseline: "alphabetic" });
    let [x, y] = from(box);
    if (style.writingMode !== "horizontal-tb") { // turned by half a circle in the style sheet: it reads upwards
      c.textAlign = "center";
      group(`translate(${x + box.width / 2 + size / 3} ${y + box.height / 2}) rotate(-90)`, () => c.fillText(words.join(" "), 0, 0, box.height));
      return;
    }
    const lines = [""], oneLine = box.height < 2 * 1.35 * size; // as on the page, though the font may be a wider one
    for (const word of words) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (oneLine || !lines.at(-1) || c.measureText(longer).width <= box.width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    y += box.height - (lines.length - 0.75) * 1.35 * size; // at the foot of its box
    for (const [k, line] of lines.entries()) c.fillText(line, x, y + (k - 0.25) * 1.35 * size, box.width);
  }
}

/**
 * Moves the lines at beta in the Plotly figures of the page, which the server draws only when a slider has come to rest.
 * Plotly draws each shape as a path, and all of them again with the figure.
 */
function followBeta(beta) {
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    for (const [k, { name, xref, x0 }] of (plot.layout?.shapes ?? []).entries()) {
      const axis = plot._fullLayout?.[xref.replace("x", "xaxis")];
      if (name !== "beta" || !axis?.d2p) continue;
      const line = plot.querySelector(`.shapelayer path[data-index="${k}"]`);
      line?.setAttribute("transform", `translate(${axis.d2p(beta) - axis.d2p(x0)} 0)`);
    }
  }
}

/** The default export of a component: one view for as long as its root lives. */
function mounting(View) {
  return (component) => {
    const root = component.parentElement.querySelector(".live");
    root.view ??= new View(root);
    root.view.update(component.data, (name, value) =>
      name === "clicked" ? component.setTriggerValue(name, value) : component.setStateValue(name, value));
  };
}
