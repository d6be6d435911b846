import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunDocument } from '../../src/core/reports/index.ts';
import { ISSUE, SCRIPTS } from '../../src/demo/sample/index.ts';
import type { Script } from '../../src/demo/scripted-models/index.ts';
import { atTerminal } from '../world/terminal.ts';
import { tried } from '../world/tried.ts';

/** As the sample's scripts have them; npm takes longer to start than they take. */
const CHECKS = { build: 'node scripts/build.mjs', test: 'node --test' };
const SETTINGS = stringify({ checks: CHECKS, evaluator: ['evidence'] });
const PROMPT = `${ISSUE.title}\n\n${ISSUE.body}`;

/** Resolves when the command has written this to its standard error. */
const said = (child: ChildProcess, words: string): Promise<void> =>
  new Promise((resolve) => {
    let text = '';
    child.stderr?.on('data', (data: Buffer) => {
      text += data.toString();
      if (text.includes(words)) resolve();
    });
  });

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('an interrupt during coding ends the coders and this process; the run can be resumed or cancelled', () => {
  // Does not answer its first question before the interrupt.
  const scripts: Record<string, Script> = { ...SCRIPTS, 'scripted-stork': { turns: [{ kind: 'hang' }] } };
  return atTerminal({ settings: SETTINGS, scripts }, async (me) => {
    const models = 'anthropic/scripted-heron,anthropic/scripted-stork';
    const { child, ended } = me.start('run', PROMPT, '--models', models, '-n', '2', '--json');
    await said(child, 'coded, done');
    // As from a terminal, where one press reaches the process directly and through its launcher.
    child.kill('SIGINT');
    child.kill('SIGINT');
    const { code, out, err } = await ended;
    expect(code).toBe(130);
    const { run } = JSON.parse(out) as RunDocument;
    // The end of a coder may be stored before the process is gone; a run that is resumed takes both for unfinished.
    expect(run.candidates.map(({ state }) => state).toSorted()).toEqual(
      expect.arrayContaining(['coded', expect.stringMatching(/^(?:coding|cancelled)$/)]),
    );
    const [done] = run.candidates.filter(({ state }) => state === 'coded');
    expect(err).toContain(`and the patches of ${done?.alias}.`);
    expect(err).toContain(`runoff resume ${run.id}`);

    scripts['scripted-stork'] = { turns: [{ kind: 'text', text: 'Nothing to do.' }] };
    const resumed = await me.runoff('resume', run.id, '--json');
    expect(resumed).toMatchObject({ code: 0 });
    expect((JSON.parse(resumed.out) as RunDocument).run.decision).toMatchObject({ alias: done?.alias });
    expect(await readdir(join(me.home, 'data', 'areas'))).toEqual([]);
  });
});

test('an interrupt before the start ends with exit code 130 and no run; stored runs are read without a sandbox', () =>
  atTerminal({ firstTime: true }, async (me) => {
    const nothing = { code: 0, out: expect.stringContaining('No runs yet') };
    expect(await me.runoff('runs')).toMatchObject(nothing);
    const toolchain = join(me.home, 'data', 'toolchain');
    expect(existsSync(toolchain)).toBe(false);

    const { child, ended } = me.start('run', PROMPT);
    await until(() => existsSync(toolchain));
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, err: expect.stringContaining('Stopping') });
    expect(await me.runoff('runs')).toMatchObject(nothing);
  }));

test.each([
  ['its terminal is closed', (child: ChildProcess) => void child.kill('SIGHUP')],
  ['nobody reads its output', (child: ChildProcess) => void child.stdout?.destroy()],
])('`runoff ui` leaves no database behind when %s', (_when, leave) =>
  atTerminal({ firstTime: true }, async (me) => {
    const { child, ended } = me.start('ui');
    const lock = join(me.home, 'data', 'pg', 'pg18', 'postmaster.pid');
    await until(() => existsSync(lock));
    leave(child);
    expect(await ended).toMatchObject({ code: 0 });
    expect(existsSync(lock)).toBe(false);
  }),
);

test('a resume after kill -9 between two turns of a coder repeats no answered request', () => {
  tried({
    id: 'command-line-killed',
    part: 'The App is killed',
    what: '`runoff run`, when one coder has finished and another is between two turns.',
    held: '`runoff resume` continues; no answered request reaches a model again.',
  });
  const LOOK = {
    kind: 'do',
    text: 'I look.',
    action: { do: 'shell', command: 'ls -l; date; time true' },
  } as const;
  const NOTE = {
    kind: 'do',
    text: 'I note.',
    action: { do: 'shell', command: 'echo here >> NOTES' },
  } as const;
  // Does not answer its third question before the kill; what comes after has no need to wait for a limit of time.
  const scripts: Record<string, Script> = {
    ...SCRIPTS,
    'scripted-stork': { turns: [LOOK, NOTE, { kind: 'hang' }] },
  };
  return atTerminal({ settings: SETTINGS, scripts }, async (me) => {
    const models = 'anthropic/scripted-heron,anthropic/scripted-stork';
    const { child, ended } = me.start('run', PROMPT, '--models', models, '-n', '2');
    const stork = () =>
      me.asked.filter(({ model }) => model === 'scripted-stork').map(({ results }) => results);
    await Promise.all([said(child, 'coded, done'), until(() => stork().includes(2))]);
    child.kill('SIGKILL');
    await ended;
    const [interrupted] = JSON.parse((await me.runoff('runs', '--json')).out) as RunDocument[];
    const heron = interrupted?.run.candidates.find((c) => c.model?.endsWith('heron'));
    expect(heron?.state).toBe('coded');
    const before = me.asked.length;

    scripts['scripted-stork'] = { turns: [LOOK, NOTE, { kind: 'text', text: 'Noted.' }] };
    const resumed = await me.runoff('resume', interrupted?.run.id ?? '', '--json');
    expect(resumed).toMatchObject({ code: 0 });
    const { run } = JSON.parse(resumed.out) as RunDocument;
    expect(run.candidates.find((c) => c.model?.endsWith('heron'))).toMatchObject({
      usd: heron?.usd,
      ms: heron?.ms,
    });
    expect(run.decision).toMatchObject({ kind: 'winner', alias: heron?.alias });
    // Only the question that had no answer is asked again, by the coder that did all of its work again.
    expect(me.asked.slice(before).map(({ model, results }) => [model, results])).toEqual([
      ['scripted-stork', 2],
    ]);
    expect(run.candidates.find((c) => c.model?.endsWith('stork'))).toMatchObject({ state: 'examined' });
  });
});

test('a resume after kill -9 while the second contestant of a sequential field works pays the first one once', () => {
  tried({
    id: 'sequential-field-killed',
    part: 'The App is killed',
    what: '`runoff run` with a sequential field, while its second contestant works.',
    held: '`runoff resume` keeps the first contestant and its examination, and continues with the second one.',
  });
  const scripts: Record<string, Script> = { ...SCRIPTS, 'scripted-stork': { turns: [{ kind: 'hang' }] } };
  const sequential = stringify({
    checks: CHECKS,
    evaluator: ['evidence', 'model'],
    adaptive: { field: 'sequential', repair: false, oneMore: false },
  });
  return atTerminal({ settings: sequential, scripts }, async (me) => {
    const models = 'anthropic/scripted-mole,openai/scripted-stork';
    const { child, ended } = me.start('run', PROMPT, '--models', models, '-n', '2');
    const asks = (name: string) => me.asked.filter(({ model }) => model === `scripted-${name}`).length;
    await until(() => asks('stork') > 0);
    child.kill('SIGKILL');
    await ended;
    const [interrupted] = JSON.parse((await me.runoff('runs', '--json')).out) as RunDocument[];
    const mole = interrupted?.run.candidates.find((c) => c.model?.endsWith('mole'));
    expect(mole?.state).toBe('examined');
    const before = asks('mole');

    scripts['scripted-stork'] = { turns: [{ kind: 'text', text: 'Nothing to do.' }] };
    const resumed = await me.runoff('resume', interrupted?.run.id ?? '', '--json');
    const { run } = JSON.parse(resumed.out) as RunDocument;
    expect(run.candidates.map(({ alias, model }) => [alias, model])).toEqual([
      ['A', 'anthropic/scripted-mole'],
      ['B', 'openai/scripted-stork'],
    ]);
    expect(run.candidates[0]).toMatchObject({ usd: mole?.usd, ms: mole?.ms });
    expect(asks('mole')).toBe(before);
    expect(run.field?.end).toMatchObject({ started: 2, of: 2 });
  });
});
