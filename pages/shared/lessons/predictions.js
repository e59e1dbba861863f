// @ts-check
// The reader's predictions in the fragment of the address, which browsers send to no server.

const FRAGMENT_NAME = "predicted";

/**
 * The predictions of a lesson in a fragment, as the server writes them, or null.
 *
 * @param {string} fragment with its mark
 * @param {string} lesson
 */
export function predictedIn(fragment, lesson) {
  const parts = new URLSearchParams(fragment.slice(1)).get(FRAGMENT_NAME)?.split(".");
  return parts?.[0] === lesson ? (parts[1] ?? "") : null;
}

/**
 * A fragment with the predictions of a lesson; other parts of it stay.
 *
 * @param {string} fragment @param {string} lesson @param {string} predicted
 */
export function fragmentWith(fragment, lesson, predicted) {
  if (predictedIn(fragment, lesson) === predicted) return fragment;
  const entries = new URLSearchParams(fragment.slice(1));
  if (!entries.has(FRAGMENT_NAME) && !predicted) return fragment;
  entries.delete(FRAGMENT_NAME);
  if (predicted) entries.set(FRAGMENT_NAME, `${lesson}.${predicted}`);
  return entries.size ? `#${entries}` : "";
}

/** Keeps the fragment of the page, which Streamlit drops when it writes the query. */
export class Predictions {
  /** Predictions reported to a session without any.
   * @type {string | null} */
  reported = null;

  /** @type {string} */
  lesson = "";

  /** @type {string | null} */
  predicted = null;

  /**
   * Take the predictions of the session; report the address's predictions to a session without any.
   *
   * @param {string} lesson @param {string | null} predicted @param {(predicted: string) => void} report
   */
  update(lesson, predicted, report) {
    this.lesson = lesson;
    this.predicted = predicted;
    if (predicted !== null) this.reported = null;
    else this.ask(report);
    this.write();
  }

  /** @param {(predicted: string) => void} report */
  ask(report) {
    const predicted = predictedIn(location.hash, this.lesson);
    if (predicted === null || this.reported === predicted) return;
    this.reported = predicted;
    report(predicted);
  }

  /** Write the fragment, if it is not there. */
  write() {
    if (this.predicted === null) return;
    const fragment = fragmentWith(location.hash, this.lesson, this.predicted);
    if (fragment !== location.hash)
      history.replaceState(history.state, "", location.pathname + location.search + fragment);
  }
}
