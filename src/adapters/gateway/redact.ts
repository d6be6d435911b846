import { redactText } from '../../core/secrets/index.ts';

export interface Redactor {
  /** What may be passed on; the start of a possible key at the end of the chunk is held back. */
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

/** Replaces secrets in a stream of bytes, also where one is split over chunks; holds back as little as it can. */
export function createRedactor(secrets: readonly string[]): Redactor {
  // latin1 keeps bytes and characters one to one, so that cut UTF-8 sequences survive.
  const needles = secrets.map((secret) => Buffer.from(secret).toString('latin1'));
  let held = '';
  return {
    push(chunk) {
      const text = redactText(held + chunk.toString('latin1'), needles);
      const keep = Math.max(0, ...needles.map((needle) => possibleStart(text, needle)));
      held = text.slice(text.length - keep);
      return Buffer.from(text.slice(0, text.length - keep), 'latin1');
    },
    end() {
      const rest = Buffer.from(held, 'latin1');
      held = '';
      return rest;
    },
  };
}

/** Length of the longest end of `text` that is a beginning of `needle`. */
function possibleStart(text: string, needle: string): number {
  for (let length = Math.min(needle.length - 1, text.length); length > 0; length -= 1) {
    if (needle.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
