import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunDocument } from '../../src/core/reports/index.ts';
import { ISSUE, SCRIPTS } from '../../src/demo/sample/index.ts';
import { withDemoApp } from '../world/demo-app.ts';
import { atTerminal } from '../world/terminal.ts';

const PROMPT = `${ISSUE.title}\n\n${ISSUE.body}`;
const coders = ['anthropic/scripted-heron', 'openai/scripted-otter'].map((model) => ({
  agent: 'builtin',
  model,
}));

test('a repository without tests gets branches, and the terminal says that nothing was tested', () =>
  atTerminal({ settings: stringify({ candidates: 2, coders }) }, async (me) => {
    await rm(join(me.repository, 'test'), { recursive: true });
    await writeFile(join(me.repository, 'package.json'), '{ "name": "tally", "type": "module" }\n');
    await me.git('add', '--all');
    await me.git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-m', 'No tests');

    const ended = await me.runoff('run', PROMPT, '--json');
    const { run, branches } = JSON.parse(ended.out) as RunDocument;
    expect(run.state).not.toBe('failed');
    expect(run.decision).toMatchObject({ kind: expect.stringMatching(/winner|toss-up/) });
    expect(run.decision).not.toMatchObject({ confidence: 'clear' });
    expect(Object.keys(branches ?? {}).toSorted()).toEqual(['A', 'B']);

    const shown = await me.runoff('status', run.id);
    expect(shown.out.replaceAll(/\s+/g, ' ')).toContain(
      'Nothing was tested, because Runoff found no test command',
    );
  }));

test('a test command that fails on the base commit without a report is named first, and the run is decided', () =>
  withDemoApp(
    {
      settings: stringify({
        budget: { run: 2, candidate: 0.5 },
        candidates: 2,
        coders,
        checks: {
          build: 'node scripts/build.mjs',
          test: "echo 'error: 3 files are not formatted' >&2; exit 7",
        },
      }),
    },
    async (demo) => {
      const issue = await demo.label();
      const view = await demo.run(issue);

      expect(view.state).toMatch(/published|awaiting_pick/);
      expect(view.evidence.filter(({ survivor }) => survivor).length).toBeGreaterThan(0);
      expect(view.decision?.kind).not.toBe('none');
      expect(view.decision).not.toMatchObject({ confidence: 'clear' });
      const said = (await demo.comments(issue)).join('\n');
      expect(said).toContain('failed on the base commit (exit code 7): `error: 3 files are not formatted`.');
      expect(said).toContain('Make the command pass there');
    },
  ));

/** What a model answers that is asked for commands: the sample's tests need no package manager. */
const SUGGESTED = { setup: '', build: '', test: 'node --test', because: 'The runner is not installed.' };
const ANSWERS = [{ holds: 'how a software project is set up', structured: SUGGESTED }];
const scripts = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, script]) => [
    name,
    { ...script, answers: [...ANSWERS, ...script.answers] },
  ]),
);

test('where build and tests of the repository fail, a model is asked with their output, and the next command uses what worked', () =>
  atTerminal({ settings: stringify({ candidates: 2, coders }), scripts }, async (me) => {
    const manifest = {
      name: 'tally',
      type: 'module',
      scripts: { build: 'exit 3', test: 'nosuch-runner --all' },
    };
    await writeFile(join(me.repository, 'package.json'), JSON.stringify(manifest));
    await me.git('add', '--all');
    await me.git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-m', 'Another runner');

    const ended = await me.runoff('run', PROMPT, '--json');
    const { run } = JSON.parse(ended.out) as RunDocument;
    expect(run.decision).toMatchObject({ kind: 'winner' });
    const asked = me.asked.filter(({ body }) =>
      JSON.stringify(body).includes('how a software project is set up'),
    );
    expect(asked).toHaveLength(1);
    const question = JSON.stringify(asked[0]?.body);
    expect(question).toContain('nosuch-runner');
    expect(question).not.toContain('RFC 4180');

    const shown = await me.runoff('status', run.id);
    expect(shown.out.replaceAll(/\s+/g, ' ')).toContain(
      'On the base commit, `npm run build` failed and is left out; `npm test` failed, and `node --test` is used (suggested by a model).',
    );
    const prepared = JSON.parse((await me.runoff('prepare', '--repo', me.repository, '--json')).out);
    expect(prepared).toMatchObject({
      how: 'known',
      commands: { test: 'node --test' },
      from: { test: 'suggested by a model' },
      instead: { build: 'npm run build', test: 'npm test' },
    });

    // On another commit with the same manifests, what a model suggested or left out is not taken for granted.
    await writeFile(join(me.repository, 'NOTES.md'), 'Nothing that a manifest shows.\n');
    await me.git('add', '--all');
    await me.git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-m', 'Notes');
    const later = await me.runoff('prepare', '--repo', me.repository, '--json');
    expect(JSON.parse(later.out)).not.toHaveProperty('how', 'known');
  }));
