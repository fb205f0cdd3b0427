/** Work that is asked for more often than it can be done. */

/**
 * A function that has the work done soon: one at a time, and once more when it was asked for meanwhile, so that the last
 * asking is always answered by work that began after it.
 *
 * @param work must not reject; what it throws is lost.
 */
export function inTurn(work: () => Promise<void>): () => void {
  let [busy, again] = [false, false];
  const run = async (): Promise<void> => {
    busy = true;
    while (again) {
      again = false;
      await work().catch((error: unknown) => {
        console.error(error);
      });
    }
    busy = false;
  };
  return () => {
    again = true;
    if (!busy) {
      void run();
    }
  };
}
