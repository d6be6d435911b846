import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientFiles } from '../scripts/write-client.ts';
import { referenceFiles } from '../scripts/write-docs.ts';
import { GATES } from '../src/core/evidence/index.ts';
import { CANDIDATE_STATES, FAULTS, RUN_STATES, STAGES } from '../src/core/model/index.ts';
import { Environment } from '../src/core/settings/index.ts';
import { declaredIn, type Row, rowsOf, withRows } from './world/reliability.ts';
import { PARTS } from './world/tried.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const has = (path: string): boolean => existsSync(join(ROOT, path));

/** Files of the project, tracked or about to be, as git sees them. */
const FILES = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '' && has(path) && statSync(join(ROOT, path)).isFile());

describe('docs/troubleshooting.md', () => {
  const sections = new Map(
    read('docs/troubleshooting.md')
      .split(/^## /m)
      .slice(1)
      .map((section): [string, string] => {
        const [heading = '', ...lines] = section.split('\n');
        return [heading.trim(), lines.join('\n').trim()];
      }),
  );

  test('has one section for each fault, in the same order, and no other', () => {
    expect([...sections.keys()]).toEqual(Object.keys(FAULTS));
  });

  test('quotes only messages that the code contains', () => {
    const code = FILES.filter((path) => /^src\/.*\.ts$/.test(path)).map(read);
    const messages = [...sections.values()].flatMap(
      (text) => (text.split('\n')[0] ?? '').match(/“[^”]+”/g) ?? [],
    );
    const quoted = messages.flatMap((message) => message.slice(1, -1).split('…')).map((part) => part.trim());
    const fragments = quoted.filter((part) => /\w{3}/.test(part));
    expect(fragments.length).toBeGreaterThan(Object.keys(FAULTS).length);
    expect(fragments.filter((part) => !code.some((text) => text.includes(part)))).toEqual([]);
  });

  test.each(Object.keys(FAULTS))('%s says in two to five lines what it means and what to do', (code) => {
    const lines = (sections.get(code) ?? '').split('\n').filter((line) => line.trim() !== '');
    expect(lines.length).toBeGreaterThanOrEqual(2);
    expect(lines.length).toBeLessThanOrEqual(5);
  });
});

test.each(Object.entries(referenceFiles()))('%s is what `npm run docs` writes', (path, text) => {
  expect(read(path)).toBe(text);
});

test('the description of the API and the types of its client are what `npm run docs` writes', async () => {
  for (const [path, text] of Object.entries(await clientFiles()))
    expect(read(path) === text, `${path} is out of date: npm run docs`).toBe(true);
});

describe('.env.example', () => {
  test('shows every variable that is read, and no other', () => {
    const shown = [...read('.env.example').matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name);
    expect([...new Set(shown)].sort()).toEqual(Object.keys(Environment.shape).sort());
  });

  test('holds no value that looks like a secret', () => {
    expect(read('.env.example')).not.toMatch(/-----BEGIN|\bsk-[A-Za-z0-9]{8}|\bghp_/);
  });
});

describe('variables in the documents', () => {
  test.each(['README.md', 'SECURITY.md', 'docs/troubleshooting.md', 'docs/deployment.md'].filter(has))(
    '%s names only variables that are read',
    (path) => {
      const known = new Set([...Object.keys(Environment.shape), ...Object.keys(FAULTS)]);
      const named = read(path).match(
        /\b(?:RUNOFF|MAX|GHE|OPENAI|ANTHROPIC|MULTI_AGENT|MODEL|CODERS|NETWORK)_[A-Z_]+\b/g,
      );
      expect((named ?? []).filter((name) => !known.has(name))).toEqual([]);
    },
  );
});

describe('GLOSSARY.md', () => {
  const text = read('GLOSSARY.md');
  const entries = [...text.matchAll(/^\*\*([^*]+)\*\*: (.+)$/gm)].map(([, word = '', meaning = '']) => ({
    word,
    meaning,
  }));

  test('has its words once, in alphabetical order in each part', () => {
    const words = entries.map(({ word }) => word);
    expect(words.length).toBeGreaterThan(40);
    expect(words).toEqual([...new Set(words)]);
    for (const part of text.split(/^## /m)) {
      const own = [...part.matchAll(/^\*\*([^*]+)\*\*: /gm)].map(([, word = '']) => word);
      expect(own).toEqual(own.toSorted((a, b) => a.localeCompare(b, 'en')));
    }
  });

  test.each([
    ['Run', RUN_STATES],
    ['Candidate', CANDIDATE_STATES],
    ['Stage', STAGES],
    ['Gate', GATES],
  ])('names all values of %s in the code, and nothing else', (word, names) => {
    const meaning = entries.find((entry) => entry.word === word)?.meaning ?? '';
    const quoted = [...meaning.matchAll(/`([a-z_-]+)`/g)].map(([, name]) => name);
    expect([...new Set(quoted)].sort()).toEqual([...names].sort());
  });

  test('contains words to avoid for a candidate that the code does not use', () => {
    const refused = /(?<!--)\b(?:solution|submission)s?\b/i;
    const code = FILES.filter((path) => /^src\/.*\.(ts|md)$/.test(path));
    expect(code.filter((path) => refused.test(read(path)))).toEqual([]);
  });
});

describe('commands in the documents', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  // The sample and what was posted about it name the scripts of its own package.
  const documents = FILES.filter(
    (path) =>
      /\.(md|yml|service)$|Dockerfile$/.test(path) && !/^(?:src\/demo\/sample|docs\/images)\//.test(path),
  );

  test.each(documents)('exist as npm commands: %s', (path) => {
    // What stands under `checks`, and in the table of public repositories, belongs to other people's repositories.
    const text = read(path)
      .replace(/^.*\bchecks: .*$/gm, '')
      .replace(/<!-- Written by .*?<!-- End of what it wrote/s, '');
    const named = [...text.matchAll(/\bnpm (?:run ([a-z][\w:-]*)|(test|start)\b)/g)].map(
      ([, run, short]) => run ?? short ?? '',
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('links in the documents', () => {
  test.each(FILES.filter((path) => path.endsWith('.md')))('lead to existing files: %s', (path) => {
    const targets = [...read(path).matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    const own = targets.filter((target) => !/^[a-z]+:/.test(target));
    expect(own.filter((target) => !has(join(dirname(path), target)))).toEqual([]);
  });
});

describe('headings that links name', () => {
  /** As GitHub makes them: lower case, without punctuation, hyphens for spaces. */
  const anchorsOf = (path: string): readonly string[] =>
    [...read(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    );

  test.each(FILES.filter((path) => path.endsWith('.md')))('%s: every one of them exists', (path) => {
    const links = [...read(path).matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].map(
      ([, to = '', anchor = '']) => ({
        to: to === '' ? path : join(dirname(path), to),
        anchor,
      }),
    );
    const own = links.filter(({ to }) => to.endsWith('.md'));
    expect(own.filter(({ to, anchor }) => !anchorsOf(to).includes(anchor))).toEqual([]);
  });
});

describe('docs/reliability.md', () => {
  const declared = FILES.filter((path) => /^test\/.*\.(?:test|suite)\.ts$/.test(path)).flatMap((path) =>
    declaredIn(path, read(path)),
  );
  const text = read('docs/reliability.md');

  test('has a row for every fault that a test causes, and no other', () => {
    const names = declared.map(({ id }) => id);
    expect(names).toEqual([...new Set(names)]);
    expect([...rowsOf(text).keys()].sort()).toEqual(names.sort());
  });

  test.each(declared.map((row): [string, Row] => [row.id, row]))('%s says what its test says', (_, row) => {
    expect(PARTS).toContain(row.part);
    expect(withRows(text, [row])).toBe(text);
  });
});

describe('the repository', () => {
  // Written in parts, so that this file does not find itself.
  const joined = (...parts: readonly string[]): string => parts.join('');
  const REFUSED: readonly (readonly [string, RegExp])[] = [
    [
      'the host of a package registry',
      new RegExp(
        joined(
          'regis',
          'try\\.(npmjs|yarnpkg)|npm\\.pkg\\.github|files\\.python',
          'hosted|static\\.crates',
          '\\.io',
        ),
      ),
    ],
    [
      'a folder that only one machine has',
      new RegExp(joined('\\.\\./sha', 'red\\b|(?<![\\w}])/wo', 'rk/(main|sha', 'red|\\.)')),
    ],
  ];

  test.each(REFUSED)('nowhere names %s', (_, pattern) => {
    const text = FILES.filter((path) => !/\.(png|jpg|gif|ico|woff2?)$/.test(path));
    expect(text.filter((path) => pattern.test(read(path)))).toEqual([]);
  });

  test('has the whole licence that package.json names', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({ license: 'Apache-2.0' });
    expect(read('LICENSE')).toMatch(
      /Apache License\s+Version 2\.0, January 2004[\s\S]+9\. Accepting Warranty[\s\S]+END OF TERMS AND CONDITIONS/,
    );
  });
});
