// @ts-check
// Plotly figures of a page, in its theme.

import { loadPlotly } from "./store.js";
import { figureFor } from "./variants.js";

/** @import { Look, Packed } from "./variants.js" */

/** As in the app: no buttons but the one that saves a picture, which is hidden and pressed by the last row. */
const CONFIG = { displaylogo: false, displayModeBar: true, modeBarButtons: [["toImage"]], scrollZoom: false };
const TEXT = { light: "#31333f", dark: "#fafafa" };
const GROUND = { light: "#ffffff", dark: "#262730" };
const LINES = "rgba(128, 128, 128, 0.25)";
const NOTHING = "rgba(0, 0, 0, 0)";

/**
 * Paint a figure, or change the one that is there.
 *
 * @param {HTMLElement} place @param {Packed} packed @param {Look} look
 */
export async function paintPlot(place, packed, look) {
  const { data, layout } = figureFor(packed, look);
  const plotly = await loadPlotly();
  await plotly.react(
    place,
    data,
    { ...layout, template: templateFor(look), autosize: true },
    { ...CONFIG, responsive: true },
  );
}

/** Return what figures have in common with the page around them. @param {Look} look */
function templateFor({ dark }) {
  const theme = dark ? "dark" : "light";
  const color = TEXT[theme];
  const axis = {
    gridcolor: LINES,
    linecolor: LINES,
    zerolinecolor: LINES,
    automargin: true,
    title: { font: { size: 12 } },
  };
  const family = getComputedStyle(document.body).fontFamily;
  return {
    layout: {
      font: { family, size: 11, color },
      paper_bgcolor: NOTHING,
      plot_bgcolor: NOTHING,
      xaxis: axis,
      yaxis: axis,
      hoverlabel: { bgcolor: GROUND[theme], bordercolor: LINES, font: { color, family } },
      coloraxis: { colorbar: { outlinewidth: 0 } },
    },
  };
}
