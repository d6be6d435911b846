import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { apiDescription, PROBLEMS } from '../../../src/web/index.ts';
import { shown } from '../../commands/command-world.ts';
import { RUN } from '../../commands/dialogue-world.ts';
import { apiWorld, expectContract, served } from './api-world.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/api.md'), 'utf8');
const run = promisify(execFile);

afterAll(expectContract);

/** Every command of the page that sends a request, on one line. */
const commands = [...PAGE.matchAll(/```sh\n(.*?)```/gs)]
  .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
  .filter((line) => line !== '')
  .map((line) => [line.replaceAll(/ {2,}/g, ' ')] as const);

test('the page shows a request for each thing that can be done', () => {
  expect(commands.length).toBeGreaterThanOrEqual(9);
});

test.each(commands)('%s', async (command) => {
  const s = apiWorld();
  if (command.includes('/runs/$RUN') || command.includes('?')) await shown(s, 'choice');
  // The stream of a run that is over ends.
  if (command.includes('/events')) await s.store.transition(RUN, 'closed', 'test', s.now());
  const server = await served(s.fetch);
  try {
    const env = {
      PATH: process.env.PATH,
      RUNOFF_URL: server.url,
      RUNOFF_TOKEN: await s.usual,
      RUN,
    };
    const written = command.replace(/^curl -s/, "curl -s -w ' %{http_code}'");
    const { stdout } = await run('bash', ['-c', written], { env });
    expect(stdout).toMatch(/ 20[01]$/);
  } finally {
    server.close();
  }
});

test('has a section for each type of problem, in the same order, and no other', () => {
  const sections = PAGE.slice(PAGE.indexOf('## Problems')).match(/^### .*$/gm) ?? [];
  expect(sections.map((line) => line.slice(4))).toEqual(Object.keys(PROBLEMS));
  for (const [name, { status }] of Object.entries(PROBLEMS))
    expect(PAGE).toContain(`### ${name}\n\n${status}. `);
});

test('names every address of the description but those of commands and problems', () => {
  const paths = Object.keys(apiDescription().paths ?? {});
  const named = paths.map((path) => path.split('/').at(-1) ?? '').filter((word) => /^[a-z.]+$/.test(word));
  expect(named.filter((word) => !PAGE.includes(word))).toEqual([]);
});
