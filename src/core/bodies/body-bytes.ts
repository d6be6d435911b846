/** `no-room`: the room that it needs was refused. */
export type Added = 'added' | 'too-long' | 'no-room';

/** A body as it arrives, in one block that grows. */
export interface BodyBytes {
  add(part: Uint8Array): Added;
  /** All that was added, which this then lets go of. */
  take(): Uint8Array;
}

/** Bytes of the first block: most deliveries fit into two or three doublings. Our default. */
const FIRST = 4_096;

/**
 * Parts are copied: each that is kept would cost some hundred bytes of its own, and a sender chooses how small they are.
 * `reserve` is asked before the block grows, with the bytes that it has from then on.
 */
export function openBodyBytes(most: number, reserve: (bytes: number) => boolean): BodyBytes {
  let block = new Uint8Array(0);
  let length = 0;

  function grow(needed: number): boolean {
    let size = Math.max(block.length, FIRST);
    while (size < needed) size *= 2;
    size = Math.min(size, most);
    if (!reserve(size)) return false;
    const larger = new Uint8Array(size);
    larger.set(block.subarray(0, length));
    block = larger;
    return true;
  }
  return {
    add(part) {
      const needed = length + part.length;
      if (needed > most) return 'too-long';
      if (needed > block.length && !grow(needed)) return 'no-room';
      block.set(part, length);
      length = needed;
      return 'added';
    },
    take() {
      const taken = block.subarray(0, length);
      block = new Uint8Array(0);
      length = 0;
      return taken;
    },
  };
}
