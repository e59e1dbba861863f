// @ts-check
// The live view of a figure of a paper: for each method the printed curve and its reruns, and a mark along all of them.

import { evenTicks, paintArea, paintCurve, paintMarker, paintVertical, tickStep } from "../shared/live/charts.js";
import { circle, fillAndOutline } from "../shared/live/marks.js";
import { LiveView, mounting } from "../shared/live/view.js";

/** @import { Dash, Scale, Ticks } from "../shared/live/charts.js" */
/** @import { Context } from "../shared/live/svg.js" */
/** @import { Data, Root } from "../shared/live/view.js" */
/** @typedef {(number | null)[]} Errors in %, null where there is no number */
/** @typedef {{ name: string, x: number[], agreement: string[] } & Record<"paper" | "published" | "published_train" | "draw_low" | "draw_high" | "mean" | "spread", Errors>} Curves */

const PRINTED = "#777777";

class LiveReruns extends LiveView {
  played = "x";

  /** @param {Root} root */
  constructor(root) {
    super(root);
    for (const [k, canvas] of /** @type {NodeListOf<HTMLCanvasElement>} */ (
      root.querySelectorAll("figure canvas")
    ).entries()) {
      this.panel(canvas, (c, w, h) => this.data.panels[k] && this.paintErrors(c, w, h, this.data.panels[k]));
      this.draggable(canvas, (fraction) => {
        const { low, high } = this.axis;
        const x = low + fraction * (high - low);
        this.inputs.x.value = String(this.data.by === "D" ? x : Math.log10(Math.max(x, this.counts[0])));
      });
    }
    this.addSwatches((line) => [line === "dash" ? PRINTED : this.ink, /** @type {Dash} */ (line)]);
    /** @type {NodeListOf<HTMLCanvasElement>} */
    const dots = root.querySelectorAll("canvas.dot");
    for (const dot of dots) this.panel(dot, (c, w, h) => this.paintPrinted(c, w / 2, h / 2, dot.dataset.kind, false));
  }

  /** Ends of the horizontal axis. */
  get axis() {
    const most = this.counts[this.counts.length - 1];
    return this.data.by === "D" ? { low: -0.08, high: Math.log10(most) + 0.08 } : { low: 0, high: 1.04 * most };
  }

  /** Nothing on the server depends on the mark. */
  settle() {
    this.dragging = false;
  }

  /** @param {Data} data */
  receive({ by, counts, panels }) {
    this.setCounts(counts, "x");
    this.find(".x-words").textContent = by === "D" ? "Frequencies D" : "Landmarks, % of the training points";
    this.find(".rerun-panels").style.setProperty("--columns", String(panels.length > 3 ? 2 : 3));
    this.find(".bars").hidden = !panels.some((/** @type {Curves} */ { draw_low: lows }) =>
      lows.some((low) => low !== null),
    );
  }

  write() {
    for (const [k, words] of this.root.querySelectorAll("figcaption").entries()) {
      /** @type {Curves | undefined} */
      const one = this.data.panels[k];
      words.parentElement.hidden = !one;
      if (!one) continue;
      const at = one.x.indexOf(this.value("x"));
      const said = (/** @type {string} */ of, /** @type {Errors} */ errors) =>
        typeof errors[at] === "number" ? [`${of} ${errors[at].toFixed(2)}`] : [];
      const known = [...said("paper", one.paper), ...said("rerun", one.published), ...said("splits", one.mean)];
      words.textContent = `${one.name}:\n${[known.join(", ") || "–", ...said("±", one.spread)].join(" ")} %`;
    }
  }

  /** A printed number. @param {Context} c @param {number} x @param {number} y @param {string} kind @param {boolean} marked */
  paintPrinted(c, x, y, kind, marked) {
    circle(c, x, y, marked ? 5.5 : kind === "not known yet" ? 2 : 3.5);
    fillAndOutline(c, this.data.colours[kind], marked ? this.ink : "white", marked ? 1.5 : 0.5);
  }

  /** @param {Context} c @param {number} w @param {number} h @param {Curves} curves */
  paintErrors(c, w, h, curves) {
    const { by, low, top } = this.data;
    const ticks = by === "D" ? [1, 10, 100, 1000].map((D) => [Math.log10(D), String(D)]) : evenTicks(this.axis.high, 5);
    this.frame = this.chart(c, w, h, {
      x: { ...this.axis, ticks: /** @type {Ticks} */ (ticks) },
      y: { low, high: top, ticks: evenTicks(top, tickStep(top - low, 4)).filter(([y]) => y >= low) },
      xTitle: by === "D" ? "number of frequencies D" : "landmarks, % of the training points",
      yTitle: "test error, %",
      inside: (px, py, frame) => {
        /** @type {Scale} */
        const across = (x) => px(by === "D" ? Math.log10(x) : x);
        const known = curves.x.map((x, k) => k).filter((k) => curves.mean[k] !== null);
        const edge = (/** @type {number} */ side) =>
          known.map((k) => [across(curves.x[k]), py(Math.max(0, curves.mean[k] + side * curves.spread[k]))]);
        const line = (/** @type {Errors} */ errors) =>
          curves.x.map((x, k) => [across(x), py(errors[k])]).filter((_, k) => errors[k] !== null);
        paintArea(c, [...edge(1), ...edge(-1).reverse()], this.ink, 0.13);
        paintMarker(c, across(this.value("x")), frame, this.ink);
        c.strokeStyle = this.ink;
        c.globalAlpha = 0.45;
        c.lineWidth = 7;
        for (const [k, x] of curves.x.entries()) {
          if (curves.draw_low[k] === null) continue;
          paintVertical(c, across(x), py(curves.draw_high[k]), py(curves.draw_low[k]));
        }
        c.globalAlpha = 1;
        paintCurve(c, line(curves.mean), this.ink, "dot", 1.5);
        paintCurve(c, line(curves.published_train), this.ink, "dashdot", 1);
        paintCurve(c, line(curves.published), this.ink, "solid", 2.5);
        paintCurve(c, line(curves.paper), PRINTED, "dash", 2);
        for (const [k, x] of curves.x.entries()) {
          if (curves.paper[k] === null) continue;
          this.paintPrinted(c, across(x), py(curves.paper[k]), curves.agreement[k], x === this.value("x"));
        }
      },
    });
  }
}

export default mounting(LiveReruns);
