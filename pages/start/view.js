// @ts-check
// The first picture of the app: a few landmarks, beta, and the test errors. It moves once by itself.

import { LandmarkMaps } from "../shared/live/landmark_maps.js";
import { percent } from "../shared/live/maths.js";
import { mounting, reducedMotion } from "../shared/live/view.js";

/** @import { Data, Report } from "../shared/live/view.js" */

const DURATION = 4000; // milliseconds of the first move
const START = -2; // first position of the slider of beta, at which the labels do not count yet

class LiveOpening extends LandmarkMaps {
  /** @param {Data} data */
  receive(data) {
    super.receive(data);
    this.computeAt(0); // the labels are ignored
    this.find(".cosines").textContent = `${this.D} cosines`;
    this.find(".ignored-errors").textContent = percent(this.testError);
  }

  /** @param {Data} data @param {Report} report */
  update(data, report) {
    const first = !this.data;
    super.update(data, report);
    if (!first || reducedMotion() || this.betaHidden) return;
    this.beta.value = String(START);
    this.moveTo(data.settings, true, DURATION);
  }
}

export default mounting(LiveOpening);
