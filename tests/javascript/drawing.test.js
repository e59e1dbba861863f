// @ts-check
// What is drawn, without a browser: colours, the scales of a chart, and the SVG of a saved picture.

import assert from "node:assert/strict";
import { test } from "node:test";

import { apart, paintChart, tickStep } from "../../pages/shared/live/charts.js";
import { colourAt, colourTable, cssColour } from "../../pages/shared/live/colours.js";
import { SvgContext } from "../../pages/shared/live/svg.js";
import { assertClose } from "./engine.js";

/** A context whose letters are six pixels wide. */
class MeasuredContext extends SvgContext {
  /** @param {string} text */
  measureText(text) {
    return /** @type {TextMetrics} */ ({ width: 6 * text.length });
  }
}

test("a colour table runs through its stops", () => {
  const table = colourTable(["#000000", "#ff8000", "#0000ff"]);
  assert.equal(table.length, 256);
  assert.equal(cssColour(table[0]), "rgb(0, 0, 0)");
  assert.equal(cssColour(table[255]), "rgb(0, 0, 255)");
  assert.equal(cssColour(table[51]), "rgb(102, 51, 0)");
});

test("values outside a scale take its end colours", () => {
  const table = colourTable(["#000000", "#ffffff"]);
  assert.deepEqual(
    [-3, 0, 127.4, 127.5, 255, 300].map((level) => colourAt(table, level) & 255),
    [0, 0, 127, 128, 255, 255],
  );
});

test("ticks are at round steps, as many as fit", () => {
  assertClose(
    [tickStep(10, 2), tickStep(10, 4), tickStep(7, 4), tickStep(1, 4), tickStep(0.05, 2)],
    [5, 2, 1, 0.2, 0.02],
  );
});

test("the scales of a chart map its axes to its frame", () => {
  const c = new MeasuredContext();
  const axis = (/** @type {number} */ high) => ({
    low: -1,
    high,
    ticks: /** @type {[number, string][]} */ ([[0, "0"]]),
  });
  let drawn = 0;
  const { left, right } = paintChart(c, 400, 300, {
    x: axis(3),
    y: axis(1),
    xTitle: "x",
    yTitle: "y",
    ink: "black",
    size: 10,
    inside: (px, py, frame) => {
      drawn++;
      assertClose([px(-1), px(3), px(1)], [frame.left, frame.right, (frame.left + frame.right) / 2]);
      assertClose([py(-1), py(1)], [frame.bottom, frame.top]);
    },
  });
  assert.equal(drawn, 1);
  assert.ok(left > 0 && right < 400);
});

test("the axis leaves room for its widest tick", () => {
  const chart = { xTitle: "", yTitle: "", ink: "black", size: 10, inside: () => {} };
  const x = { low: 0, high: 1, ticks: /** @type {[number, string][]} */ ([]) };
  const left = (/** @type {string} */ text) =>
    paintChart(new MeasuredContext(), 400, 300, { ...chart, x, y: { low: 0, high: 1, ticks: [[0, text]] } }).left;
  assertClose([left("0")], [34]);
  assertClose([left("1234567890")], [66]);
});

test("SVG has the paths, attributes and clips that were drawn", () => {
  const c = new MeasuredContext();
  c.save();
  c.beginPath();
  c.rect(1, 2, 3.456, 4);
  c.clip();
  c.beginPath();
  c.moveTo(0, 0);
  c.lineTo(1.005, -2);
  c.closePath();
  c.strokeStyle = "red";
  c.lineWidth = 2;
  c.setLineDash([2, 4]);
  c.stroke();
  c.restore();
  const svg = c.parts.join("");
  assert.match(
    svg,
    /^<clipPath id="clip\d+"><path d="M1,2h3\.46v4h-3\.46Z"\/><\/clipPath><g clip-path="url\(#clip\d+\)">/,
  );
  assert.match(
    svg,
    /<path d="M0 0L1 -2Z" fill="none" stroke="red" stroke-width="2" opacity="1" stroke-dasharray="2 4"\/>/,
  );
  assert.ok(svg.endsWith("</g>"));
});

test("SVG has whole circles", () => {
  const c = new MeasuredContext();
  c.beginPath();
  c.arc(5, 6, 2, 0, 2 * Math.PI);
  c.fillStyle = "blue";
  c.fill();
  assert.equal(c.parts[0], '<path d="M3 6a2 2 0 1 0 4 0a2 2 0 1 0 -4 0" fill="blue" opacity="1"/>');
});

test("text in SVG is escaped, aligned, and condensed to its room", () => {
  const c = new MeasuredContext();
  Object.assign(c, { font: "bold 12.5px sans-serif", fillStyle: "black", textAlign: "center", textBaseline: "middle" });
  c.fillText('a<b & "c"', 1, 2);
  c.fillText("too long", 1, 2, 20);
  assert.ok(c.parts[0].endsWith(">a&#60;b &#38; &#34;c&#34;</text>"));
  assert.match(c.parts[0], /font-size="12.5" text-anchor="middle" font-weight="bold" dominant-baseline="central"/);
  assert.ok(!c.parts[0].includes("textLength"));
  assert.match(c.parts[1], /textLength="20" lengthAdjust="spacingAndGlyphs"/);
});

test("labels keep their distance and stay below the top", () => {
  assert.deepEqual(apart([90, 60, 30], 10, 20), [90, 60, 30]);
  assert.deepEqual(apart([90, 85, 30], 10, 20), [90, 70, 30]);
  // all of them above the figure: the lowest is moved down most
  assert.deepEqual(apart([-500, -600, -900], 10, 20), [50, 30, 10]);
  assert.deepEqual(apart([200, 15, 5], 10, 20), [200, 30, 10]);
});
