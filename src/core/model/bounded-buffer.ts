/** `too-long`: it would exceed the buffer's maximum. `refused`: `reserve` did not allow it to grow. */
type Added = 'added' | 'too-long' | 'refused';

/** Bytes as they arrive, such as the body of a request, in one block that grows up to a maximum. */
interface BoundedBuffer {
  add(part: Uint8Array): Added;
  /** Returns all that was added and empties the buffer. */
  take(): Uint8Array;
}

/** Size of the first block: most deliveries fit after two or three doublings. Default. */
const FIRST_BYTES = 4_096;

/**
 * Parts are copied, because keeping each one would cost about a hundred bytes of overhead, and the sender chooses how small
 * they are. Before the block grows, `reserve` is asked with the number of bytes that it will take up.
 */
export function openBoundedBuffer(maxBytes: number, reserve: (bytes: number) => boolean): BoundedBuffer {
  let block = new Uint8Array(0);
  let length = 0;

  function grow(needed: number): boolean {
    let size = Math.max(block.length, FIRST_BYTES);
    while (size < needed) size *= 2;
    size = Math.min(size, maxBytes);
    if (!reserve(size)) return false;
    const larger = new Uint8Array(size);
    larger.set(block.subarray(0, length));
    block = larger;
    return true;
  }
  return {
    add(part) {
      const needed = length + part.length;
      if (needed > maxBytes) return 'too-long';
      if (needed > block.length && !grow(needed)) return 'refused';
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
