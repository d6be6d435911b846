import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Coder, CoderInput, CoderLaunch } from '../../src/ports/index.ts';

export interface CoderCase {
  readonly coder: Coder;
  /** Lines that the agent prints while it works. */
  readonly steps: readonly string[];
  /** Its last line, and whether it says that all went well; null where no line tells. */
  readonly end: { readonly line: string; readonly ok: boolean } | null;
  /** The contestant's program, for agents that run any. */
  readonly argv?: CoderInput['argv'];
}

/** A small task at a gateway, for tests of one coder's own ways. */
export const smallInput = <Protocol extends CoderInput['protocol']>(model: string, protocol: Protocol) => ({
  model,
  protocol,
  prompt: 'Mend it.',
  wallSeconds: 900,
  gateway: { url: 'http://127.0.0.1:8123', key: 'gw-canary' },
  seed: 0,
});

const KEY = 'gw-canary-0123456789abcdef';
const TASK = `A task with "quotes", $(commands) and\nlines ${'x'.repeat(200_000)}`;

/** Model names that mean something to shells, flags, TOML, JSON, templates and paths. NUL cannot be in argv at all. */
const ODD_MODELS = [
  '--dangerously-odd',
  '-c model_provider="evil"',
  'm"\nmodel_provider = "evil"\n',
  'm", "baseURL": "http://evil.example", "x": "',
  "m' 'n",
  '{env:HOME}',
  '{file:/etc/hostname}',
  '$GW_KEY',
  '!id',
  '@/etc/hostname',
  '../../x?y#z',
  'deepseek/deepseek-v4:free',
  'opus[1m]',
  'm\\',
  'm\u007f\u0085\u2028 é 🦉',
];

/** What every coder promises. */
export function coderContract(name: string, open: () => CoderCase): void {
  const { coder, steps, end, argv } = open();
  const inputs = coder.protocols.map(
    (protocol): CoderInput => ({
      model: 'some-model-1',
      protocol,
      prompt: TASK,
      wallSeconds: 900,
      gateway: { url: 'http://127.0.0.1:8123', key: KEY },
      seed: 0,
      ...(argv ? { argv } : {}),
    }),
  );
  const input = inputs[0] as CoderInput;

  describe(`the ${name} coder`, () => {
    test.each(inputs)('gets its task on standard input and nowhere else ($protocol)', (each) => {
      const { stdin, ...rest } = coder.launch(each);
      expect(stdin).toContain(TASK);
      expect(JSON.stringify(rest)).not.toContain('$(commands)');
    });

    test.each(inputs)('has its key nowhere but in the environment ($protocol)', (each) => {
      const { env, ...rest } = coder.launch(each);
      expect(JSON.stringify(rest)).not.toContain(KEY);
      expect(Object.keys(env).join()).not.toContain(KEY);
    });

    test.each(inputs)('calls no server but the gateway ($protocol)', (each) => {
      const addresses = JSON.stringify({ ...coder.launch(each), stdin: '' }).matchAll(/\w+:\/\/[^/"\\\s]+/g);
      for (const [address] of addresses) expect(address).toBe(each.gateway.url);
    });

    test('keeps its files below its home', () => {
      for (const path of Object.keys(coder.launch(input).files ?? {}))
        expect(path).toMatch(/^(?!.*(^|\/)\.\.?(\/|$))[^/]/);
    });

    test('is started the same way for the same input', () => {
      for (const each of inputs) expect(coder.launch(each)).toEqual(open().coder.launch({ ...each }));
    });

    test.each(ODD_MODELS)('treats a hostile model name as a name: %j', (odd) => {
      for (const each of inputs) staysAName(coder, each, odd);
    });

    test('treats any model name as a name', () => {
      const names = fc.string({ unit: 'binary' }).filter((text) => text !== '' && !text.includes('\0'));
      fc.assert(
        fc.property(names, fc.nat(), (odd, at) => {
          staysAName(coder, inputs[at % inputs.length] ?? input, odd);
        }),
        { numRuns: 50 },
      );
    });

    test('parses its own output lines', () => {
      for (const step of steps) {
        const events = coder.read(step);
        expect(events.length, step).toBeGreaterThan(0);
        for (const { kind } of events)
          expect(['says', 'command', 'edit', 'tool', 'result', 'output']).toContain(kind);
      }
      if (end) expect(coder.read(end.line)).toMatchObject([{ kind: 'end', ok: end.ok }]);
    });

    test('reads any line without throwing, and shows short texts without control characters', () => {
      const own = [...steps, ...(end ? [end.line] : [])];
      const mangled = fc
        .tuple(fc.constantFrom(...own), fc.nat({ max: 200 }), fc.string({ unit: 'binary' }))
        .map(([line, at, text]) => line.slice(0, at) + text + line.slice(at));
      const reshaped = fc
        .tuple(fc.constantFrom(...own), fc.nat(), fc.jsonValue())
        .map(([line, at, value]) => withOther(line, at, value));
      fc.assert(
        fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), mangled, reshaped), (line) => {
          for (const { text, detail = '', call = '', exitCode = 0 } of coder.read(line)) {
            for (const short of [text, call]) {
              expect(short.length).toBeLessThanOrEqual(300);
              expect(short).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
            }
            expect(detail.length).toBeLessThanOrEqual(4100);
            expect(detail).not.toMatch(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/u);
            expect(detail.isWellFormed()).toBe(true);
            expect(Number.isInteger(exitCode)).toBe(true);
          }
        }),
        { numRuns: 200 },
      );
    });

    test('can be tested with the same program, if there is one', () => {
      const trial = coder.trial();
      if (!trial) return;
      const launch = coder.launch(input);
      expect(trial.argv[0]).toBe(launch.argv[0]);
      expect(trial.argv).toContain('--version');
      expect(trial.binds).toEqual(launch.binds);
    });
  });
}

/** With an odd model name, only that name is different: no other word, flag, key or setting. */
function staysAName(coder: Coder, input: CoderInput, odd: string): void {
  const short = { ...input, prompt: 'Mend it.' };
  const usual = coder.launch(short);
  const launch = coder.launch({ ...short, model: odd });
  for (const [at, word] of launch.argv.entries())
    if (word !== usual.argv[at]) expect(word).toMatch(/^--[a-z-]+=/);
  expect(renamed(meaning(launch), '', '')).toEqual(renamed(meaning(usual), short.model, odd));
}

/** What a launch says, with configuration parsed: files and words that are JSON or, as codex has it, NAME=TOML. */
function meaning(launch: CoderLaunch): unknown {
  const read = (text: string): unknown => {
    const [, name = '', value = text] = /^(-{0,2}[\w.=-]+=)(["[{].*)$/s.exec(text) ?? [];
    try {
      return [name, JSON.parse(value)];
    } catch {
      return text;
    }
  };
  const all = (texts: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, read(text)]));
  return { ...launch, argv: launch.argv.map(read), env: all(launch.env), files: all(launch.files) };
}

/** Another name wherever one stands. Half of a surrogate pair cannot leave the process; writers may replace it. */
function renamed(value: unknown, from: string, to: string): unknown {
  if (typeof value === 'string')
    return (from === '' ? value : value.replaceAll(from, () => to)).toWellFormed();
  if (Array.isArray(value)) return value.map((each) => renamed(each, from, to));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, each]) => [renamed(key, from, to), renamed(each, from, to)]));
}

/** A line of JSON in which one value is another one. */
function withOther(line: string, at: number, value: unknown): string {
  let count = 0;
  const walk = (each: unknown): unknown => {
    count += 1;
    if (count === (at % 20) + 2) return value;
    if (Array.isArray(each)) return each.map(walk);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, walk(inner)]));
  };
  try {
    return JSON.stringify(walk(JSON.parse(line)));
  } catch {
    return line;
  }
}
