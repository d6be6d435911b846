import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
  readonly 'timeout-minutes'?: number;
}
interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = '.github/workflows';
const workflows = readdirSync(join(ROOT, FOLDER)).map(
  (name) => [name, read(join(FOLDER, name)), parse(read(join(FOLDER, name))) as Workflow] as const,
);

describe.each(workflows)('%s', (_, text, { permissions, jobs }) => {
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);

  test('names every action by its commit, with its version behind it', () => {
    const named = text.split('\n').filter((line) => /^\s*(?:- )?uses: (?!\.\/)/.test(line));
    expect(named.length).toBeGreaterThan(1);
    for (const line of named) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('may read only, and keeps no token where tests run', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(0);
    for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false });
  });

  test('puts no text of an event into a script', () => {
    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });

  test('ends every job that hangs', () => {
    const own = Object.values(jobs).filter(({ steps: has }) => has !== undefined);
    for (const job of own) expect(job['timeout-minutes']).toBeLessThanOrEqual(120);
  });
});

test('CI runs `.ci/run` with each eighth of the slow tests, as an ordinary user and as root', () => {
  const workflow = read('.github/workflows/ci.yml');
  expect(workflow).toContain('eighth: [1, 2, 3, 4, 5, 6, 7, 8]');
  expect(workflow.match(/^ +run: (?:.*&& sudo env "PATH=\$PATH" )?\.ci\/run "\$EIGHTH"$/gm)).toHaveLength(2);
});

test('only the job that executes nothing of the repository may write to it', () => {
  const [, , { jobs }] = workflows.find(([name]) => name === 'release.yml') ?? expect.unreachable();
  const writing = Object.values(jobs).filter(({ permissions }) => permissions?.contents === 'write');
  expect(writing).toHaveLength(1);
  expect((writing[0]?.steps ?? []).map(({ uses, run }) => uses?.split('@')[0] ?? run?.split(' ')[0])).toEqual(
    ['actions/download-artifact', 'gh'],
  );
});

describe('scripts/release-notes.mjs', () => {
  const notes = (tag: string, changelog: string) => {
    const home = mkdtempSync(join(tmpdir(), 'runoff-notes-'));
    try {
      mkdirSync(join(home, 'scripts'));
      copyFileSync(join(ROOT, 'scripts/release-notes.mjs'), join(home, 'scripts/release-notes.mjs'));
      writeFileSync(join(home, 'package.json'), '{"version":"1.2.3"}');
      writeFileSync(join(home, 'CHANGELOG.md'), changelog);
      return spawnSync(process.execPath, [join(home, 'scripts/release-notes.mjs'), tag], {
        encoding: 'utf8',
      });
    } finally {
      rmSync(home, { recursive: true });
    }
  };
  const TWO =
    '# Changelog\n\n## [1.2.3] - 2026-01-02\n\n### Added\n\n- This.\n\n## [1.2.2] - 2026-01-01\n\n- That.\n';

  test('prints the section of the version', () => {
    expect(notes('v1.2.3', TWO)).toMatchObject({ status: 0, stdout: '### Added\n\n- This.\n' });
  });

  test.each([
    ['another tag', 'v1.2.4', TWO, 'package.json has version 1.2.3'],
    [
      'a version without a section',
      'v1.2.3',
      '# Changelog\n\n## [Unreleased]\n',
      'has no section “## [1.2.3]',
    ],
  ])('refuses %s', (_, tag, changelog, why) => {
    expect(notes(tag, changelog)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(why),
    });
  });

  test('CHANGELOG.md has a section for what is not released, or for the version of package.json', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(read('CHANGELOG.md')).toMatch(
      new RegExp(`^## \\[(?:Unreleased|${version.replaceAll('.', '\\.')})\\]`, 'm'),
    );
  });
});

test('the Dockerfile copies only what .dockerignore lets through', () => {
  const through = read('.dockerignore').split('\n');
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  expect(copied.length).toBeGreaterThan(3);
  expect(copied.filter((name) => name !== '.' && !through.includes(`!${name}`))).toEqual([]);
  // Links of `node_modules` lead there.
  expect(through).toContain('!packages');
});
