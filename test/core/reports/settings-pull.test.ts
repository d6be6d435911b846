import { expect, test } from 'vitest';
import { couldKeepCommands, settingsPull } from '../../../src/core/reports/index.ts';
import { SUGGESTED } from '../../../src/core/settings/index.ts';
import { judged } from './sample.ts';

const CHECKS = {
  setup: 'npm install',
  test: 'npm test',
  from: { setup: 'package-lock.json', test: 'package.json' },
  instead: { setup: 'npm ci', build: 'npm run build' },
  settled: true,
} as const;

test('each line of the settings is explained, with where it comes from', () => {
  const pull = settingsPull(judged({ checks: CHECKS }));
  expect(pull?.text).toBe('checks:\n  setup: "npm install"\n  build: ""\n  test: "npm test"\n');
  expect(pull?.body).toContain(
    '| `setup: npm install` | installs packages, once for each base commit, in a sandbox that reaches package registries only | `package-lock.json`; `npm ci` failed on the base commit |',
  );
  expect(pull?.body).toContain(
    '| `build: ""` | no such command | `npm run build` failed on the base commit |',
  );
  expect(pull?.body).toMatch(/\| `test: npm test` \| tests .* \| `package\.json` \|/);
  expect(pull?.body).not.toContain('suggested');
});

test('commands of a model are pointed out, and what stands in a command stays code', () => {
  const checks = { ...CHECKS, test: 'echo `@mona` | cat', from: { setup: 'package.json', test: SUGGESTED } };
  const pull = settingsPull(judged({ checks }));
  expect(pull?.body).toContain('**A model suggested commands here.**');
  expect(pull?.body).toContain('suggested by a model');
  const row = pull?.body.split('\n').find((line) => line.includes('echo')) ?? '';
  expect(row).toMatch(/^\| (`+|<code>).*mona.*(`+|<\/code>) \| tests /);
});

test('is offered where no settings file names the commands, once they are settled', () => {
  expect(couldKeepCommands(judged({ checks: CHECKS }))).toBe(true);
  expect(couldKeepCommands(judged({ checks: { ...CHECKS, from: { test: '.github/auto-dev.yml' } } }))).toBe(
    false,
  );
  const { settled: _, ...open } = CHECKS;
  expect(couldKeepCommands(judged({ checks: open }))).toBe(false);
  expect(settingsPull(judged({ checks: open }))).toBeNull();
  expect(settingsPull(judged({ checks: { settled: true } }))).toBeNull();
});
