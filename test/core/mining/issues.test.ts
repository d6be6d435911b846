import { describe, expect, test } from 'vitest';
import {
  classifyChanges,
  closedByPull,
  hubRepository,
  namedIssues,
  statementLines,
  statementOfIssues,
} from '../../../src/core/mining/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

const server = 'https://github.com';
const shop = { server, owner: 'acme', name: 'shop' };

test.each([
  ['https://github.com/acme/shop', server, shop],
  ['https://github.com/acme/shop.git', server, shop],
  ['https://x-access-token:secret@github.com/acme/shop.git', server, shop],
  ['git@github.com:acme/shop.git', server, shop],
  ['ssh://git@github.com/acme/shop', server, shop],
  [
    'http://127.0.0.1:8080/acme/shop.git',
    'http://127.0.0.1:8080',
    { ...shop, server: 'http://127.0.0.1:8080' },
  ],
  ['http://127.0.0.1:8081/acme/shop.git', 'http://127.0.0.1:8080', null],
  ['https://gitlab.com/acme/shop.git', server, null],
  ['https://github.com.evil.example/acme/shop', server, null],
  ['https://github.com/acme/shop/wiki', server, null],
  ['https://github.com/acme/../shop', server, null],
  ['https://evil.example/@github.com/acme/shop', server, null],
  ['../shop', server, null],
  ['/srv/git/shop.git', server, null],
] as const)('the remote %s is on %s: %j', (address, at, repository) => {
  expect(hubRepository(address, at)).toEqual(repository);
});

describe('issues that a message names', () => {
  test.each([
    ['Parse it\n\nFixes #12', [12], null],
    ['fix: parse it, closes: GH-3 and resolved #4, fixes #3', [3, 4], null],
    ['Parse it\n\nFixes acme/Shop#5', [5], null],
    ['Parse it\n\nFixes other/shop#5', [], null],
    ['Parse it\n\nCloses https://github.com/acme/shop/issues/6', [6], null],
    ['Parse it\n\nCloses https://github.com/acme/shopping/issues/6', [], null],
    ['Parse it\n\nCloses https://evil.example/acme/shop/issues/6', [], null],
    ['Parse it (#7)', [], 7],
    ['Merge pull request #8 from a/b\n\nParse it', [], 8],
    ['Parse it, see #9', [], null],
    ['Parse prefix #9 and hotfix #10', [], null],
    ['Parse it\n\nIn the text (#7)', [], null],
  ] as const)('%j', (message, closed, own) => {
    expect(namedIssues(message, shop)).toEqual({ closed, own });
  });

  test('none, where nothing can be read', () => {
    expect(namedIssues('Fixes #12', null)).toEqual({ closed: [], own: null });
  });

  test('long hostile messages are read in a moment', () => {
    for (const piece of ['fixes ', 'fixes:', 'close https://a/', 'a/b#', '(#1', '```\n', '`', ' ']) {
      const began = process.cpuUsage();
      namedIssues(piece.repeat(20_000), shop);
      closedByPull(piece.repeat(20_000), shop);
      expect(cpuMsSince(began)).toBeLessThan(5_000);
    }
  });
});

describe('issues that a pull request closes', () => {
  test.each([
    ['Fixes #12\n\nThe parser reads seconds.', [12]],
    ['Fixes [#12](https://example.org)', []],
    ['<!-- Fixes #1 -->\nResolves #2', [2]],
    ['Write `Fixes #1`, or\n\n```\nFixes #2\n```\n\nCloses #3', [3]],
    ['- [x] Closes #4\n- Fixes #5', [4, 5]],
    ['Closes https://github.com/acme/shop/issues/6', [6]],
    ['About #7', []],
  ] as const)('%j', (body, closed) => {
    expect(closedByPull(body, shop)).toEqual(closed);
  });
});

describe('the task that issues describe', () => {
  test('is what their pages show, without what gives the change away', () => {
    const body = [
      'An empty list must print "nothing to do".<!-- Write the file x. -->',
      'Bug: it prints \u202enothing.',
      'A fix is in https://github.com/acme/shop/pull/9/files.',
      '```diff\n-old\n+new\n```',
      '```\nlist()\n```',
    ].join('\n\n');
    const statement = statementOfIssues([{ title: 'Empty\u200b lists', body }]);
    expect(statement).toBe(
      'Empty lists\n\nAn empty list must print "nothing to do".(…)\n\nBug: it prints nothing.\n\nA fix is in\n\n```\nlist()\n```',
    );
  });

  test('two issues are one statement', () => {
    const issue = (title: string) => ({ title, body: '' });
    expect(statementOfIssues([issue('Read durations'), issue('Write durations')])).toBe(
      'Read durations\n\nWrite durations',
    );
  });

  test('is none if they say nothing', () => {
    expect(statementOfIssues([{ title: 'bug', body: '<!-- the whole truth about it -->' }])).toBe(null);
  });
});

test('a change whose message says nothing may become a task if it names an issue that can be read', () => {
  const change = {
    commit: 'a'.repeat(40),
    parents: ['0'.repeat(40)],
    message: 'Fixes #12',
    at: 0,
    files: [
      { path: 'src/parse.ts', status: 'M' },
      { path: 'test/parse.test.ts', status: 'A' },
    ],
  } as const;
  expect(classifyChanges([change])).toMatchObject([{ kind: 'left-out', why: 'no-statement' }]);
  expect(classifyChanges([change], shop)).toMatchObject([
    { kind: 'found', found: { statement: null, title: 'Fixes #12', named: { closed: [12] } } },
  ]);
  expect(classifyChanges([{ ...change, message: 'fix' }], shop)).toMatchObject([{ why: 'no-statement' }]);
});

test('what says the tasks is counted in sentences', () => {
  expect(statementLines({ unreadable: 1, issue: 2 })).toEqual([
    '2 tasks stated by the text of issues.',
    '1 task stated by the commit message: the issue is gone, or may not be read.',
  ]);
});
