/** Keeps the first and the last half of a text of any length. */
export interface Clip {
  add(text: string): void;
  text(): string;
}

/** `most`: characters that are kept. */
export function createClip(most: number): Clip {
  const half = Math.floor(most / 2);
  let head = '';
  let tail = '';
  let dropped = 0;
  return {
    add(text) {
      const room = half - head.length;
      head += text.slice(0, room);
      tail += text.slice(Math.max(0, room));
      const over = tail.length - half;
      if (over <= 0) return;
      dropped += over;
      tail = tail.slice(over);
    },
    text: () =>
      dropped === 0 ? head + tail : `${head}\n[… ${dropped} characters left out …]\n${tail}`.toWellFormed(),
  };
}
