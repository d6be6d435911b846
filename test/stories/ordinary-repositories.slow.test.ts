import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { RunDocument } from '../../src/core/reports/index.ts';
import type { Scripts } from '../../src/demo/scripted-models/index.ts';
import { ORDINARY, type OrdinaryRepository } from '../world/ordinary-repositories.ts';
import { atTerminal } from '../world/terminal.ts';

const root = mkdtempSync(join(tmpdir(), 'ordinary-'));
// Sandboxes of a root process run as another user.
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MODEL = 'anthropic/scripted-planner';
const BRIEF = {
  goal: 'A value above the range becomes its upper end.',
  definitionOfDone: ['Big values are lowered.'],
  plan: ['Change the function.'],
  files: [],
  assumptions: [],
  questions: [],
};
const SCRIPTS: Scripts = {
  'scripted-planner': {
    turns: [],
    structured: BRIEF,
    answers: [
      { holds: 'You write tests for a software task', structured: { tests: [], note: 'none' } },
      { holds: 'You compare two', structured: {} },
    ],
  },
};

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=R', '-c', 'user.email=r@example.org', ...args], {
    cwd,
    encoding: 'utf8',
  });

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Candidates as programs that apply a patch, by name. */
function agentsFor(one: OrdinaryRepository, repository: string, folder: string): string {
  const { source, bug, fix, wrong, breaks, test: added } = one;
  const changed = (path: string, before: string, after: string) => {
    const text = readFileSync(join(repository, path), 'utf8');
    // The last occurrence: the line may also stand in another function above.
    const at = text.lastIndexOf(before);
    expect(at).toBeGreaterThan(-1);
    return { [path]: text.slice(0, at) + after + text.slice(at + before.length) };
  };
  const candidates = {
    fix: changed(source, bug, fix),
    'fix-and-test': { ...changed(source, bug, fix), ...changed(added.file, added.before, added.after) },
    wrong: changed(source, bug, wrong),
    breaks: changed(source, bug, breaks),
  };
  const commands = Object.entries(candidates).map(([name, files]) => {
    write(repository, files);
    const patch = git(repository, 'diff', '--full-index');
    git(repository, 'checkout', '--quiet', '.');
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'candidate.diff'), patch);
    const argv = ['git', 'apply', '--whitespace=nowarn', `/opt/agents/${name}/candidate.diff`];
    return [name, { argv, folder: join(folder, name) }];
  });
  return JSON.stringify(Object.fromEntries(commands));
}

/** The first program that this machine lacks; null if it has all. */
const missing = ({ needs }: OrdinaryRepository): string | null =>
  needs.find((command) => spawnSync('sh', ['-c', command], { stdio: 'ignore' }).status !== 0) ?? null;

describe('an ordinary repository, from nothing and without a setting', () => {
  for (const [n, one] of ORDINARY.entries()) {
    const lacks = missing(one);
    const why = lacks === null ? '' : ` (not tried: \`${lacks}\` fails on this machine)`;
    test.skipIf(lacks !== null)(`${one.name}: prepared, and the right candidate wins${why}`, async () => {
      const repository = join(root, `repository-${n}`);
      write(repository, one.files);
      git(repository, 'init', '--quiet', '--initial-branch=main');
      git(repository, 'add', '--all');
      git(repository, 'commit', '--quiet', '--message', 'first');
      const env = {
        AGENT_COMMANDS: agentsFor(one, repository, join(root, `agents-${n}`)),
        MODEL_PRICES: JSON.stringify({ [MODEL]: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 } }),
        NETWORK_ALLOW: 'none',
        // Toolchains of whoever runs the tests.
        RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'),
        CARGO_HOME: process.env.CARGO_HOME ?? join(homedir(), '.cargo'),
      };
      await atTerminal({ env, scripts: SCRIPTS }, async (me) => {
        const prepared = await me.runoff('prepare', '--repo', repository, '--json');
        expect(prepared.code, prepared.err).toBe(0);
        const { tests } = JSON.parse(prepared.out);
        expect(tests).toMatchObject({ source: 'report', passed: expect.any(Number) });
        expect(tests.passed).toBeGreaterThanOrEqual(one.passes ?? 0);

        const words = [
          '--coders',
          'fix,fix-and-test,wrong,breaks',
          '-n',
          '4',
          '--models',
          MODEL,
          '--no-ask',
          '--json',
        ];
        const ended = await me.runoff('run', BRIEF.goal, '--repo', repository, ...words);
        expect(ended.code, ended.err).toBe(0);
        const { run } = JSON.parse(ended.out) as RunDocument;
        const winner = run.candidates.find(({ alias }) => alias === run.decision?.alias);
        expect([run.decision?.kind, winner?.agent], run.decision?.because).toEqual([
          'winner',
          expect.stringMatching(/^fix/),
        ]);
      });
    });
  }
});
