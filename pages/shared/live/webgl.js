// @ts-check
// Sums of cosines on the graphics processor, for all maps of a view at once. Without one, or after it is lost, the view
// sums by itself.

/** @import { Waves } from "./maths.js" */

/** The waves of all maps at the centres of their cells: for each map, `D` along both coordinates.
 * @typedef {{ cells: number, D: number, along: Waves[], across: Waves[] }} MapWaves */

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;
const LANES = 4; // neighbouring cells in one texel
const CLOSE = 1e-3; // a fraction of a step of the colours

const VERTICES = `#version 300 es
void main() {
  // One triangle that covers the picture.
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

// A fragment is four cells of a row. The maps lie one above the other, as their waves do.
const SUMS = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform sampler2D weights, alongCos, alongSin, acrossCos, acrossSin;
uniform int cells, stride, used;
out vec4 sums;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  int map = at.y / cells, row = at.y % cells;
  ivec2 u = ivec2(at.x, map * stride), v = ivec2(row / ${LANES}, map * stride);
  sums = vec4(0.0);
  for (int m = 0; m < used; m++) {
    vec4 both = texelFetch(alongCos, u, 0) * texelFetch(acrossCos, v, 0)[row % ${LANES}]
              - texelFetch(alongSin, u, 0) * texelFetch(acrossSin, v, 0)[row % ${LANES}];
    sums += texelFetch(weights, ivec2(m, map), 0).r * both;
    u.y++;
    v.y++;
  }
}`;

const WAVE_TABLES = /** @type {const} */ (["alongCos", "alongSin", "acrossCos", "acrossSin"]);

/** A WebGL context with the program of sums, and the waves of one view. */
class Graphics {
  /** Waves in the textures.
   * @type {MapWaves | null} */
  loaded = null;

  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.program = linked(gl);
    gl.useProgram(this.program);
    gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
    this.units = Object.fromEntries(["weights", ...WAVE_TABLES, "sums"].map((name, unit) => [name, unit]));
    for (const [name, unit] of Object.entries(this.units)) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      if (name !== "sums") gl.uniform1i(this.place(name), unit);
    }
  }

  /** @param {string} name of a uniform */
  place(name) {
    return this.gl.getUniformLocation(this.program, name);
  }

  /**
   * Replace the texture of a unit.
   *
   * @param {string} name @param {number} format of its texels @param {number} width @param {number} height
   */
  newTexture(name, format, width, height) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + this.units[name]);
    gl.deleteTexture(gl.getParameter(gl.TEXTURE_BINDING_2D));
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return texture;
  }

  /**
   * Send waves to the textures.
   *
   * @param {MapWaves} waves
   * @returns {boolean} whether they fit
   */
  load(waves) {
    const { gl } = this;
    const { cells, D, along, across } = waves;
    const L = along.length;
    const width = cells / LANES;
    this.loaded = null;
    if (cells % LANES || L * Math.max(cells, D) > gl.getParameter(gl.MAX_TEXTURE_SIZE)) return false;
    for (const name of WAVE_TABLES) {
      const of = name.startsWith("along") ? along : across;
      this.newTexture(name, gl.RGBA32F, width, L * D);
      for (const [l, { cos, sin }] of of.entries()) {
        const table = name.endsWith("Cos") ? cos : sin;
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, l * D, width, D, gl.RGBA, gl.FLOAT, table);
      }
    }
    this.newTexture("weights", gl.R32F, D, L);
    const sums = this.newTexture("sums", gl.RGBA32F, width, L * cells);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, sums, 0);
    gl.viewport(0, 0, width, L * cells);
    gl.uniform1i(this.place("cells"), cells);
    gl.uniform1i(this.place("stride"), D);
    if (gl.checkFramebufferStatus(gl.FRAMEBUFFER) !== gl.FRAMEBUFFER_COMPLETE) return false;
    this.loaded = waves;
    return true;
  }

  /**
   * The maps sum_m Q_m cos(omega_m . (x - cell)) of all rows of Q.
   *
   * @param {MapWaves} waves
   * @param {Float32Array} Q (maps, D)
   * @param {number} used frequencies, at most D
   * @param {Float32Array} out (maps, cells, cells)
   * @returns {boolean} whether `out` has them
   */
  sum(waves, Q, used, out) {
    const { gl } = this;
    const { cells, D, along } = waves;
    if (gl.isContextLost() || (this.loaded !== waves && !this.load(waves))) return false;
    gl.activeTexture(gl.TEXTURE0 + this.units.weights);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, D, along.length, gl.RED, gl.FLOAT, Q);
    gl.uniform1i(this.place("used"), used);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.readPixels(0, 0, cells / LANES, along.length * cells, gl.RGBA, gl.FLOAT, out);
    return gl.getError() === gl.NO_ERROR && !gl.isContextLost() && agrees(waves, Q, used, out);
  }
}

/**
 * Whether a cell in the middle of each map is right; some drivers compute wrong sums without an error.
 *
 * @param {MapWaves} waves @param {Float32Array} Q @param {number} used @param {Float32Array} out
 */
function agrees({ cells, D, along, across }, Q, used, out) {
  const middle = cells >> 1;
  return along.every((u, l) => {
    const v = across[l];
    let sum = 0;
    for (let m = 0; m < used; m++) {
      const at = m * cells + middle;
      sum += Q[l * D + m] * (v.cos[at] * u.cos[at] - v.sin[at] * u.sin[at]);
    }
    return Math.abs(out[(l * cells + middle) * cells + middle] - sum) < CLOSE;
  });
}

/** @param {WebGL2RenderingContext} gl */
function linked(gl) {
  const program = gl.createProgram();
  for (const [type, text] of /** @type {[number, string][]} */ ([
    [gl.VERTEX_SHADER, VERTICES],
    [gl.FRAGMENT_SHADER, SUMS],
  ])) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

/** Whether a context only imitates a graphics processor: it would be slower than sums in JavaScript.
 * @param {WebGL2RenderingContext} gl */
function isSoftware(gl) {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  return SOFTWARE.test(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

/** @returns {Graphics | null} */
function openGraphics() {
  // Tests compare the two ways on machines without a graphics processor.
  const anyContext = "acceptSoftwareWebGL" in window;
  const canvas = document.createElement("canvas");
  const settings = { antialias: false, depth: false, failIfMajorPerformanceCaveat: !anyContext };
  try {
    const gl = /** @type {WebGL2RenderingContext | null} */ (canvas.getContext("webgl2", settings));
    if (gl?.getExtension("EXT_color_buffer_float") && (anyContext || !isSoftware(gl))) return new Graphics(gl);
    gl?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow few contexts at a time
    return null;
  } catch {
    return null;
  }
}

/** One context for all maps of the page; null where there is none, or no longer.
 * @type {Graphics | null | undefined} */
let graphics;

/** Whether a graphics processor can be asked for sums. */
export function hasGraphics() {
  if (graphics === undefined) graphics = openGraphics();
  return graphics !== null;
}

/**
 * `Graphics.sum` where there is a graphics processor. One that fails is not asked again.
 *
 * @param {MapWaves} waves @param {Float32Array} Q @param {number} used @param {Float32Array} out
 * @returns {boolean} whether `out` has the maps
 */
export function sumOnGraphics(waves, Q, used, out) {
  if (!hasGraphics()) return false;
  if (graphics.sum(waves, Q, used, out)) return true;
  graphics = null;
  return false;
}
