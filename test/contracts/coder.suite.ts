import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Coder, CoderInput } from '../../src/ports/index.ts';

export interface CoderCase {
  readonly coder: Coder;
  /** Lines that the agent prints, and what they must be read as. */
  readonly step: string;
  readonly end: string;
}

/** What every coder promises. */
export function coderContract(name: string, open: () => CoderCase): void {
  const input: CoderInput = {
    model: 'some-model',
    protocol: 'anthropic',
    prompt: `A task with "quotes", $(commands) and\nlines ${'x'.repeat(200_000)}`,
    wallSeconds: 900,
  };

  describe(`the ${name} coder`, () => {
    test('gets its task on standard input, never as a shell word or in the environment', () => {
      const launch = open().coder.launch(input);
      expect(launch.stdin).toContain(input.prompt);
      for (const text of [...launch.argv, ...Object.values(launch.env)])
        expect(text).not.toContain('$(commands)');
    });

    test('leaves address and key of the gateway to the supervisor', () => {
      const { env } = open().coder.launch(input);
      expect(Object.keys(env)).not.toEqual(expect.arrayContaining(['GW_URL']));
      expect(Object.keys(env)).not.toEqual(expect.arrayContaining(['GW_KEY']));
    });

    test('is started the same way for the same input', () => {
      const { coder } = open();
      expect(coder.launch(input)).toEqual(coder.launch(input));
    });

    test('reads its own lines', () => {
      const { coder, step, end } = open();
      expect(coder.read(step)).toMatchObject({ kind: 'step' });
      expect(coder.read(end)).toMatchObject({ kind: 'end' });
    });

    test('reads any line without throwing, and shows one short line without control characters', () => {
      const { coder, step, end } = open();
      const mangled = fc
        .tuple(fc.constantFrom(step, end), fc.nat({ max: 200 }), fc.string({ unit: 'binary' }))
        .map(([line, at, text]) => line.slice(0, at) + text + line.slice(at));
      fc.assert(
        fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), mangled), (line) => {
          const event = coder.read(line);
          if (!event) return;
          expect(event.text.length).toBeLessThanOrEqual(300);
          expect(event.text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        }),
        { numRuns: 300 },
      );
    });

    test('knows its version', async () => {
      expect(await open().coder.version()).toMatch(/\d/);
    });
  });
}
