/** Lets requests be answered while long work runs: nothing else happens in the process between two pauses. */

/** Long enough that pauses cost little. The longest step between two pauses comes on top. */
const workMs = 5;

let since = performance.now();

/** To be awaited between the steps of long work. It pauses if the process has worked for some time since the last pause. */
export async function pauseIfLong(): Promise<void> {
  if (performance.now() - since < workMs) return;
  await new Promise((resolve) => setImmediate(resolve));
  since = performance.now();
}
