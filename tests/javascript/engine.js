// @ts-check
// Numbers of the engine, and how close to them the browser's must be.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function readNumbers() {
  const { ENGINE_NUMBERS, PYTHON } = process.env;
  if (ENGINE_NUMBERS) return readFileSync(ENGINE_NUMBERS, "utf-8");
  const script = ["-m", "tests.javascript.engine_numbers"];
  return execFileSync(PYTHON ?? ".venv/bin/python", script, { cwd: ROOT, encoding: "utf-8", maxBuffer: 2 ** 26 });
}

/** What engine_numbers.py prints: from the file ENGINE_NUMBERS, or else by running it. */
export const engine = JSON.parse(readNumbers());

/**
 * Assert that numbers agree up to a relative tolerance and an absolute one.
 *
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 */
export function assertClose(actual, expected, { relative = 1e-9, absolute = 0 } = {}) {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i] - expected[i]);
    const allowed = absolute + relative * Math.abs(expected[i]);
    assert.ok(error <= allowed, `at ${i}: ${actual[i]} is not ${expected[i]} up to ${allowed}`);
  }
}
