/** One press arrives twice: a terminal signals the whole group, and the launcher in `bin` passes its own signal on. */
const ONE_PRESS_MS = 1_000;

/** Counts presses of Ctrl-C, or whatever else interrupts: 1 is the first. Returns a function that stops listening. */
export function onPresses(
  onInterrupt: (handler: () => void) => () => void,
  handler: (press: number) => void,
): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let presses = 0;
  return onInterrupt(() => {
    const now = performance.now();
    if (now - last < ONE_PRESS_MS) return;
    last = now;
    presses += 1;
    handler(presses);
  });
}
