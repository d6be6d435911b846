import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunJson } from '../../src/cli/render/json.ts';
import { ISSUE } from '../../src/demo/sample/index.ts';
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
    const { run, branches } = JSON.parse(ended.out) as RunJson;
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
