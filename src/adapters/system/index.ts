import { randomBytes, randomInt } from 'node:crypto';
import { userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Random } from '../../ports/index.ts';

export { openOnDesktop } from './desktop.ts';
export { writeOutput } from './output.ts';
export { pagerOf, showInPager } from './pager.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, signal ? { signal } : {});
    } catch (thrown) {
      if (!signal?.aborted) throw thrown;
    }
  },
};

/** Crockford's base 32 in lower case: no i, l, o, u, so that an id can be read aloud and typed. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export const systemRandom: Random = {
  runId: () => `r${[...randomBytes(10)].map((byte) => ALPHABET[byte % 32]).join('')}`,
  nonce: () => randomBytes(16).toString('hex'),
  port: () => randomInt(20_000, 32_768),
};

/** Name of this process's user. It has none if it was only given a number, as in a container: `user 10001`. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
