// @ts-check
// What learned cosines save: how many random ones do the same.

/** @typedef {{ method: string, random: boolean, x: number[], test_error: number[], train_error: number[], half_width: number[] }} Curve */
/** @typedef {{ name: string, runs: number, curves: Curve[], svm: number | null }} Known of a data set */

/**
 * Say how many random cosines err as little as D learned ones, in means over splits.
 *
 * @param {Known} known @param {number} D
 */
export function saving({ curves }, D) {
  const errorsOf = (/** @type {string} */ method) => {
    const curve = curves.find((one) => one.method === method);
    return new Map(curve?.x.map((x, k) => [x, curve.test_error[k]]));
  };
  const random = errorsOf("rff");
  const learned = errorsOf("pbrff").get(D);
  if (learned === undefined || !random.has(D)) return { short: "", long: "" };
  const begin = `${D} learned cosine${D === 1 ? " errs" : "s err"} ${learned.toFixed(1)} %`;
  // As errors are shown, to a tenth of a percent.
  const enough = [...random].find(([, error]) => Number(error.toFixed(1)) <= Number(learned.toFixed(1)));
  const most = Math.max(...random.keys());
  if (!enough)
    return { short: `more than ${most}`, long: `${begin}; no number of random ones up to ${most} reaches that.` };
  const [count, error] = enough;
  if (count <= D) {
    const many = count === D ? "as many" : count;
    return {
      short: "no gain",
      long: `${begin}; ${many} random ones err no more, ${error.toFixed(1)} %: here learning saves none.`,
    };
  }
  return {
    short: `${count} random`,
    long: `${begin}; random ones need ${count} for that, and ${D} of them err${D === 1 ? "s" : ""} ${random.get(D).toFixed(1)} %.`,
  };
}

/**
 * Compare learned landmarks with the prior's at the largest share of landmarks, k-means centroids.
 *
 * @param {Known} known
 */
export function ofLandmarks({ curves }) {
  const last = (/** @type {string} */ method) => {
    const curve = curves.find((one) => one.method === method && !one.random);
    return curve && { share: Math.max(...curve.x), error: curve.test_error[curve.x.indexOf(Math.max(...curve.x))] };
  };
  const [learned, prior] = [last("pb_landmarks"), last("rbf_landmarks")];
  if (!learned || !prior) return { short: "", long: "" };
  const [ours, theirs] = [learned, prior].map(({ error }) => error.toFixed(1));
  return {
    short: `${theirs} → ${ours} %`,
    long: `With ${learned.share} % of the rows as landmarks: ${ours} % with learned similarities, ${theirs} % with the prior's.`,
  };
}
