// @ts-check
// Links that the panel composes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { composedQuery, frameOf } from "../../pages/components/sharing/link.js";

/** @import { Composed, Query } from "../../pages/components/sharing/link.js" */

/** @type {Composed} */
const NOTHING = { picture: "", lesson: "", step: "1", hidden: [], theme: "", projector: false, embed: false };

/** @type {Query} */
const QUERY = [
  ["beta", "10"],
  ["data", "moons"],
  ["methods", "svm"],
  ["methods", "rff"],
  ["plain", "false"],
];

test("with nothing chosen a link has the settings alone", () => {
  assert.equal(
    composedQuery([...QUERY, ["lesson", "move"], ["step", "2"], ["hide", "beta"]], NOTHING),
    "beta=10&data=moons&methods=svm&methods=rff&plain=false",
  );
  assert.equal(composedQuery([], NOTHING), "");
});

test("everything that is chosen is in the link, by the names that pages read", () => {
  const query = composedQuery(QUERY, {
    ...NOTHING,
    hidden: ["all", "beta"],
    theme: "dark_theme",
    projector: true,
    embed: true,
  });
  assert.ok(query.endsWith("&hide=all,beta&projector=true&embed=true&embed_options=dark_theme"));
});

test("the page's own step keeps the settings, another lesson sets its own", () => {
  /** @type {Query} */
  const here = [...QUERY, ["lesson", "move"], ["step", "2"]];
  const own = new URLSearchParams(composedQuery(here, { ...NOTHING, lesson: "move", step: "2" }));
  assert.deepEqual([own.get("beta"), own.get("lesson"), own.get("step")], ["10", "move", "2"]);
  assert.equal(composedQuery(here, { ...NOTHING, lesson: "move", step: "3" }), "lesson=move&step=3");
  assert.equal(composedQuery(QUERY, { ...NOTHING, lesson: "other", hidden: ["D"] }), "lesson=other&step=1&hide=D");
});

test("a picture alone has no lesson, and no plain figures", () => {
  const query = new URLSearchParams(composedQuery(QUERY, { ...NOTHING, picture: "maps", lesson: "move" }));
  assert.deepEqual(
    [query.get("view"), query.has("lesson"), query.has("plain"), query.get("beta")],
    ["maps", false, false, "10"],
  );
});

test("the HTML of a frame is escaped, and as wide as its place", () => {
  const frame = frameOf('https://a.example/landmarks?view=maps&beta=1"', "<b> & c");
  assert.ok(
    frame.startsWith(
      '<iframe src="https://a.example/landmarks?view=maps&#38;beta=1&#34;" title="&#60;b&#62; &#38; c" ',
    ),
  );
  assert.match(frame, /aspect-ratio: 16 \/ 9/);
  assert.match(frameOf("https://a.example/landmarks?beta=1", "x"), /height="800"/);
});
