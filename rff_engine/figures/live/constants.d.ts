// Types of the constants that the Python package writes in front of a view's modules; there is no constants.js.

/** Cells along a side of a similarity map. */
export const GRID: number;

/** Cells along a side of a kernel map. */
export const CELLS: number;

/** Colours of the figures, "#rrggbb"; the scales are evenly spaced stops. */
export const PALETTE: {
  blue: string;
  red: string;
  landmarks: string[];
  methods: Record<string, string>;
  similarity: string[];
  decision: string[];
  similarityInDark: string[];
  decisionInDark: string[];
  sequential: string[];
};
