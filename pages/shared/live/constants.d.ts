// Types of the constants that the Python package writes in front of a view's modules; there is no constants.js.

/** Cells along a side of a similarity map. */
export const GRID: number;

/** Cells along a side of a kernel map. */
export const CELLS: number;

/** Cells along a side of the plane of frequencies. */
export const PLANE_CELLS: number;

/** Standard deviations of the prior that the plane shows, to either side. */
export const WIDTHS: number;

/** Inverse temperatures of curves, and of those of errors. */

/** Colours of the figures, "#rrggbb"; the scales are evenly spaced stops, the dashes those of methods. */
export const PALETTE: {
  blue: string;
  red: string;
  methods: Record<string, string>;
  dashes: Record<string, import("./charts.js").Dash>;
  lineInDark: string;
  similarity: string[];
  decision: string[];
  similarityInDark: string[];
  decisionInDark: string[];
  sequential: string[];
};
