import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTestReport } from '../../../src/adapters/reports/index.ts';
import { reportPlan } from '../../../src/core/policy/index.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'runoff-runners-'));
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(dir, 'node_modules'));
  const suite = (runner: string) =>
    `import { describe, it, test } from '${runner}';
     test('top', () => {});
     test('top', () => {});
     describe('parse', () => {
       it('works', () => {});
       it.skip('later', () => {});
       describe('inner', () => { it('fails', () => { throw new Error('<no> & "never"'); }); });
     });\n`;
  writeFileSync(join(dir, 'a.test.mjs'), suite('node:test'));
  writeFileSync(join(dir, 'b.test.mjs'), "import './nowhere.mjs';\n");
  writeFileSync(join(dir, 'c.spec.mjs'), suite('vitest'));
  writeFileSync(join(dir, 'package.json'), packageJson);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The command of the plan as `sh -c` runs it, in an environment without what our own runner sets. */
const packageJson = JSON.stringify({
  type: 'module',
  scripts: { test: 'node --test a.test.mjs b.test.mjs', spec: 'vitest run c.spec.mjs' },
});

function report(command: string): unknown {
  const plan = reportPlan(command, packageJson, dir);
  if (!plan.report) throw new Error(`no report is planned for ${command}`);
  rmSync(plan.report.file, { force: true });
  const path = `${join(dir, 'node_modules/.bin')}:${process.env.PATH}`;
  const ran = spawnSync('sh', ['-c', plan.command], {
    cwd: dir,
    encoding: 'utf8',
    env: { PATH: path, HOME: dir, CI: '1', npm_config_update_notifier: 'false', ...plan.env },
  });
  expect(ran.status, ran.stderr).toBe(1);
  const text = readFileSync(plan.report.file, 'utf8').replaceAll(`${dir}/`, '/repo/');
  return readTestReport(plan.report.format, text);
}

test.each(['node --test a.test.mjs b.test.mjs', 'npm test'])(
  'node:test by `%s` leaves the report that was planned',
  (command) => {
    expect(report(command)).toEqual({
      kind: 'ok',
      tests: {
        'a.test.mjs > top': 'passed',
        'a.test.mjs > top #2': 'passed',
        'a.test.mjs > parse > works': 'passed',
        'a.test.mjs > parse > later': 'skipped',
        'a.test.mjs > parse > inner > fails': 'failed',
        'b.test.mjs > b.test.mjs': 'failed',
      },
    });
  },
  60_000,
);

test.each(['vitest run c.spec.mjs', 'npm run spec'])(
  'vitest by `%s` leaves the report that was planned',
  (command) => {
    expect(report(command)).toEqual({
      kind: 'ok',
      tests: {
        'c.spec.mjs > top': 'passed',
        'c.spec.mjs > top #2': 'passed',
        'c.spec.mjs > parse > works': 'passed',
        'c.spec.mjs > parse > later': 'skipped',
        'c.spec.mjs > parse > inner > fails': 'failed',
      },
    });
  },
  60_000,
);
