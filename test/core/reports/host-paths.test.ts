import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { code, htmlCode, inertSentence, prose, withoutHostPaths } from '../../../src/core/reports/index.ts';

const clean = withoutHostPaths([
  { path: '/srv/run_off/data-1/', name: '(data folder)' },
  { path: '/srv/run_off', name: '(installation)' },
  { path: '/home/mona', name: '(home)' },
  { path: '/root', name: '(home)' },
  { path: '/tmp', name: '(temporary folder)' },
]);

describe('folders of the host in published text', () => {
  test.each([
    ['Cannot read /srv/run_off/data-1/areas/x.', 'Cannot read (data folder)/areas/x.'],
    ['`/srv/run_off/src/a.ts:1`', '`(installation)/src/a.ts:1`'],
    ['file:///home/mona/.config', 'file://(home)/.config'],
    ['"/home/mona"', '"(home)"'],
  ])('%s', (text, said) => {
    expect(clean(text)).toBe(said);
  });

  test.each([
    'WORKDIR /root/app',
    '/tmp/test-1/x',
    'src/home/mona/a.ts',
    '/home/monarch/x',
    'https://x.test/home/mona',
  ])('are not confused with other folders: %s', (text) => {
    expect(clean(text)).toBe(text);
  });

  test.each([
    ['prose', prose],
    ['code', code],
    ['code in HTML', htmlCode],
    ['a sentence', (text: string) => inertSentence(`It fails in \`${text}\` and in ${text}.`)],
  ])('are found in the form %s', (_name, write) => {
    fc.assert(
      fc.property(fc.constantFrom('/srv/run_off/data-1', '/home/mona'), fc.webPath(), (folder, rest) => {
        const said = clean(write(`${folder}/a${rest}`)).replace(/&#8203;|\\/g, '');
        expect(said).not.toContain(folder);
        expect(said).toMatch(/\((?:data folder|home)\)/);
      }),
    );
  });
});

test('no text by others contains a ticked checkbox', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom('[x]', '[X]', '[ ]', '[', ']', 'x', '`', '\\', '[\u200bx]', '[x\u0000]'),
        fc.string(),
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (words) => {
      for (const said of [
        prose(words),
        code(words),
        htmlCode(words),
        inertSentence(words),
        inertSentence(`a \`${words}\` b`),
      ]) {
        expect(said).not.toMatch(/\[[ xX]\]/);
      }
    }),
    { numRuns: 2_000 },
  );
});
