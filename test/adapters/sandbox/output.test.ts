import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capture, splitLines } from '../../../src/adapters/sandbox/output.ts';
import { supervise } from '../../../src/adapters/sandbox/supervise.ts';
import { DEFAULT_LIMITS } from '../../../src/ports/index.ts';

/** A text, and the byte positions at which it arrives in pieces. */
const chunked = fc
  .tuple(fc.string({ unit: 'binary', maxLength: 400 }), fc.array(fc.nat(1200), { maxLength: 12 }))
  .map(([text, cuts]) => {
    const bytes = Buffer.from(text, 'utf8');
    const at = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((a, b) => a - b);
    return {
      text: bytes.toString('utf8'),
      bytes,
      chunks: at.slice(1).map((end, i) => bytes.subarray(at[i], end)),
    };
  });

describe('captured output', () => {
  test('is complete if it fits, however it arrives', () => {
    fc.assert(
      fc.property(chunked, ({ text, bytes, chunks }) => {
        const kept = capture(bytes.length);
        for (const chunk of chunks) kept.add(chunk);
        expect(kept.end()).toEqual({ text, truncated: false });
      }),
    );
  });

  test('keeps its beginning and end if it does not fit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 50 }), { maxLength: 30 }),
        fc.integer({ min: 0, max: 300 }),
        (pieces, limit) => {
          const text = pieces.join('');
          fc.pre(text.length > limit);
          const kept = capture(limit);
          for (const piece of pieces) kept.add(Buffer.from(piece));
          const head = text.slice(0, Math.ceil(limit / 2));
          const tail = text.slice(text.length - Math.floor(limit / 2));
          const left = text.length - limit;
          expect(kept.end()).toEqual({ text: `${head}\n[${left} bytes left out]\n${tail}`, truncated: true });
        },
      ),
    );
  });

  test('is never cut within a character', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), (limit) => {
        const kept = capture(limit);
        for (const piece of ['aé€😀'.repeat(5), '😀€é'.repeat(7)]) kept.add(Buffer.from(piece));
        expect(kept.end().text).not.toContain('\ufffd');
      }),
    );
  });
});

describe('lines', () => {
  test('are split at line ends, however the text arrives', () => {
    fc.assert(
      fc.property(chunked, ({ text, chunks }) => {
        const heard: string[] = [];
        const split = splitLines((line) => heard.push(line));
        for (const chunk of chunks) split.add(chunk);
        split.end();
        const expected = text.split('\n').map((line) => line.replace(/\r$/, ''));
        if (text.endsWith('\n') || text === '') expected.pop();
        expect(heard).toEqual(expected);
      }),
    );
  });

  test('without an end arrive in pieces', () => {
    const sizes: number[] = [];
    const split = splitLines((line) => sizes.push(line.length));
    for (let i = 0; i < 10; i += 1) split.add(Buffer.alloc(20_000, 'x'));
    split.end();
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(200_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
  });
});

describe('a command that has to be ended', () => {
  test.each(['its time limit', 'a signal'])('by %s is ended once that is possible again', async (reason) => {
    const child = spawn('sleep', ['600'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let refusals = 0;
    const command = {
      stdout: child.stdout,
      stderr: child.stderr,
      ended: once(child, 'close'),
      watch: async () => null,
      lastLook: async () => null,
      kill() {
        refusals += 1;
        if (refusals < 3) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
        child.kill('SIGKILL');
      },
    };
    const isTimed = reason === 'its time limit';
    const limits = { ...DEFAULT_LIMITS, ...(isTimed ? { wallMs: 50 } : {}) };
    const signal = isTimed ? new AbortController().signal : AbortSignal.timeout(50);
    const { stopped, end } = await supervise(command, { limits, signal });
    expect([stopped, end, refusals]).toEqual([isTimed ? 'wall' : 'cancelled', [null, 'SIGKILL'], 3]);
  });
});
