import { describe, expect, test } from 'vitest';
import {
  type AssertionRecords,
  assertionChanges,
  assertionFindings,
  changesAgain,
  mergeAssertionRecords,
  readAssertionRecords,
  UNREADABLE_RECORDS,
  withMoreFindings,
} from '../../../src/core/evidence/index.ts';
import { patchBetween } from '../git.ts';

const lines = (...all: readonly unknown[]): string => all.map((line) => JSON.stringify(line)).join('\n');
const EQUAL = ['changed', 'assert.equal', '() => {}', ['/repo/src/a.js:2'], true] as const;
const USED = ['used', 'assert', '/repo/test/a.test.js'] as const;
const BASE = readAssertionRecords(lines(USED, ['ended', '/repo/test/a.test.js']));
const PATCH = patchBetween(
  { 'src/a.js': 'const a = 1;\n' },
  { 'src/a.js': "const a = 1;\nput(lib, 'equal', () => {});\nglobalThis.Promise = mine;\n" },
);
const findingsOf = (records: AssertionRecords, sameResults = true) =>
  assertionFindings(assertionChanges(BASE, records, sameResults), PATCH);

describe('records about assertion libraries', () => {
  test('are read line by line, each once; what is no record is left out', () => {
    const text = `${lines(EQUAL, EQUAL, USED, ['source', 'chai', 'abc'])}\nnot JSON\n["changed","x"]\n[1]\n{}`;
    const read = readAssertionRecords(text);
    expect(read).toEqual({
      changed: [{ name: 'assert.equal', text: '() => {}', places: ['/repo/src/a.js:2'], locked: true }],
      sources: ['chai abc'],
      used: [{ library: 'assert', file: '/repo/test/a.test.js' }],
      ended: [],
      capped: ['all'],
    });
    expect(mergeAssertionRecords([read, read])).toEqual(read);
  });

  test('show who plugs into pytest; in a repository of a plug-in, a further one is a question', () => {
    const plugIn = (path: string) =>
      ['changed', `hooks of pytest by ${path}`, 'pytest_call', [], true] as const;
    const found = (...base: readonly string[]) =>
      assertionFindings(
        assertionChanges(
          readAssertionRecords(lines(USED, ...base.map(plugIn))),
          readAssertionRecords(lines(USED, ...['conftest.py', 'src/a.js'].map(plugIn))),
          true,
        ),
        PATCH,
      ).map(({ severity, what }) => `${severity}: ${what}`);
    const what = 'when the tests run, pytest calls hooks of src/a.js, unlike on the base commit';
    expect(found('conftest.py')).toEqual([`gate: ${what}`]);
    expect(found('conftest.py', 'src/b.js')).toEqual([`question: ${what}`]);
    expect(found('conftest.py', 'src/a.js')).toEqual([]);
  });

  test('show a replaced function with its lines, and the gate fails', () => {
    const found = findingsOf(readAssertionRecords(lines(EQUAL, USED, ['ended', '/repo/test/a.test.js'])));
    expect(found).toMatchObject([
      { kind: 'assertions-patched', path: 'src/a.js', line: 2, severity: 'gate' },
    ]);
    expect(found[0]?.hunk).toContain("+put(lib, 'equal', () => {});");
    const passed = { gate: 'untampered', passed: true, because: 'Nothing.' } as const;
    expect(withMoreFindings([passed], found)).toMatchObject([
      {
        passed: false,
        because: 'src/a.js:2: when the tests run, it replaces assert.equal, which the base commit does not.',
      },
    ]);
    expect(withMoreFindings([passed], [])).toEqual([passed]);
  });

  test('keep a replaced function, however many questions there are', () => {
    const builtIns = Array.from({ length: 40 }, (_, at) => [
      'changed',
      `built-in ${at}`,
      'native',
      [],
      false,
    ]);
    const found = findingsOf(readAssertionRecords(lines(...builtIns, EQUAL, USED)));
    expect(found.length).toBeLessThan(41);
    expect(found.map(({ severity }) => severity).slice(0, 2)).toEqual(['gate', 'question']);
  });

  test('say nothing about what the base replaces, too', () => {
    const both = readAssertionRecords(lines(EQUAL, USED));
    expect(assertionChanges(both, both, true)).toEqual([]);
  });

  test('of another function are a gate only if the patch contains what replaces it', () => {
    const records = (text: string) =>
      readAssertionRecords(
        lines(USED, ['ended', '/repo/test/a.test.js'], ['changed', 'Promise', text, [], false]),
      );
    expect(findingsOf(records('globalThis.Promise = mine;'))).toMatchObject([{ line: 3, severity: 'gate' }]);
    expect(findingsOf(records('class Other {}'))).toMatchObject([{ path: 'src/a.js', severity: 'question' }]);
  });

  test('of tests that pass without calling what they call on the base are a gate', () => {
    const silent = readAssertionRecords(lines(['used', 'assert', '/repo/src/a.js']));
    expect(findingsOf(silent)).toMatchObject([
      { what: expect.stringContaining('without calling assert'), severity: 'gate' },
      { what: expect.stringContaining('ended without comparing'), severity: 'question' },
    ]);
    expect(findingsOf(silent, false)).toEqual([]);
  });

  test('of a program that tests wrote are compared by what its name has in each run', () => {
    const ended = (program: string) => readAssertionRecords(lines(USED, ['ended', program]));
    const changes = (before: string, now: string) =>
      assertionChanges(ended(before), ended(now), true).map(({ kind, name }) => `${kind}: ${name}`);
    const wrapped = (run: string) => `/home/agent/.node-spawn-wrap-${run}/node`;
    expect(changes(wrapped('46-987726406112'), wrapped('51-0a1b2c3d4e5f'))).toEqual([]);
    expect(changes('/tmp/script-8f3a1c.mjs', '/tmp/script-77aa12.mjs')).toEqual([]);
    expect(changes(wrapped('46-987726406112'), '/home/agent/x/other')).toEqual([
      `not-compared: ${wrapped('46-987726406112')}`,
    ]);
    for (const [before, now] of [
      ['a/index.js', 'b/index.js'],
      ['case-2.js', 'case-3.js'],
      ['run-client/index.js', 'run-server/index.js'],
    ])
      expect(changes(`/repo/test/${before}`, `/repo/test/${now}`)).toEqual([
        `not-compared: /repo/test/${before}`,
      ]);
    const uuids = ['550e8400-e29b-41d4-a716-446655440000', '6fa459ea-ee8a-3ca4-894e-db77e160355e'];
    expect(changes(`/repo/t/${uuids[0]}/x.js`, `/repo/t/${uuids[1]}/x.js`)).toEqual([]);
    // Both are the repository's own: one of them says nothing about the other.
    const [client, server] = ['app-Client', 'app-Server'].map((name) => `/repo/packages/${name}/test.js`);
    const both = readAssertionRecords(lines(USED, ['ended', client], ['ended', server]));
    expect(assertionChanges(both, ended(client as string), true)).toMatchObject([
      { kind: 'not-compared', name: server },
    ]);
    expect(changes('/repo/test/fixture-Xk29Bq/a.js', '/repo/test/fixture-p0aZZw/a.js')).toEqual([]);
    expect(changes('/repo/tmp/1764472800123.js', '/repo/tmp/1764472911999.js')).toEqual([]);
    const hash = 'd41d8cd98f00b204';
    expect(changes(`/repo/.cache/${hash}/a.js`, `/repo/.cache/${hash.replaceAll('d', 'e')}/a.js`)).toEqual(
      [],
    );
  });

  test('that are not complete, cannot be read or are missing accuse nobody of using no library', () => {
    const ended = ['ended', '/repo/test/a.test.js'];
    const often = readAssertionRecords(
      lines(['used', 'assert', '/repo/src/a.js'], ended, ['capped', 'used']),
    );
    expect(findingsOf(often)).toMatchObject([
      { what: expect.stringContaining('without calling assert'), severity: 'question' },
    ]);
    const cut = readAssertionRecords(`${lines(ended)}\n["used","assert","/repo/te`);
    const many = readAssertionRecords(`${lines(ended)}\n${`${lines(ended)}\n`.repeat(20_000)}${lines(USED)}`);
    for (const records of [cut, many]) expect(findingsOf(records)).toMatchObject([{ severity: 'question' }]);
    for (const records of [UNREADABLE_RECORDS, readAssertionRecords('')])
      expect(findingsOf(records)).toMatchObject([
        { what: expect.stringContaining('left no records'), severity: 'question' },
      ]);
    expect(assertionChanges(UNREADABLE_RECORDS, UNREADABLE_RECORDS, true)).toEqual([]);
  });

  test('of a base that are not complete are no proof against a candidate', () => {
    const base = readAssertionRecords(
      lines(USED, ['capped', 'changed'], ['source', 'chai', 'abc'], ['capped', 'source']),
    );
    const own = readAssertionRecords(lines(EQUAL, USED, ['source', 'chai', 'def']));
    expect(
      assertionFindings(assertionChanges(base, own, true), PATCH).map(({ severity }) => severity),
    ).toEqual(['question', 'question']);
  });

  test('of what packages replace count if the base shows another function or none', () => {
    const ended = ['ended', '/repo/test/a.test.js'];
    const plugin = ['wrote', 'assert.equal', 'function (a, b) {\n  return plugged(a, b);'];
    const mine = ['wrote', 'assert.equal', '() => {}'];
    const base = readAssertionRecords(lines(USED, ended, plugin));
    const findings = (...more: readonly unknown[]) =>
      assertionFindings(
        assertionChanges(base, readAssertionRecords(lines(USED, ended, ...more)), true),
        PATCH,
      );
    expect(findings(plugin)).toEqual([]);
    expect(findings(plugin, mine)).toMatchObject([
      { what: expect.stringContaining('from code of an installed package'), line: 2, severity: 'gate' },
    ]);
    expect(findings(['wrote', 'assert.equal', 'function (a) {\n  return other(a);'])).toMatchObject([
      { severity: 'question' },
    ]);
    // What the base's packages replace is no excuse for code of the repository.
    expect(findings(plugin, EQUAL)).toMatchObject([{ severity: 'gate' }]);
  });

  test('do not accuse production code that stops asserting', () => {
    const base = readAssertionRecords(
      lines(['used', 'assert', '/repo/src/a.js'], ['used', 'chai', '/repo/test/a.test.js']),
    );
    const own = readAssertionRecords(lines(['used', 'chai', '/repo/test/a.test.js']));
    expect(assertionChanges(base, own, true)).toEqual([]);
  });

  test('of a library with another source are a gate', () => {
    const base = readAssertionRecords(lines(['source', 'chai', 'abc']));
    const own = readAssertionRecords(lines(['source', 'chai', 'def'], ['source', 'tap', 'ghi']));
    const changes = assertionChanges(base, own, true);
    expect(changes).toEqual([{ kind: 'source', name: 'chai' }]);
    expect(assertionFindings(changes, PATCH)).toMatchObject([{ severity: 'gate' }]);
  });

  test('count if two runs show the same', () => {
    const [changed] = assertionChanges(BASE, readAssertionRecords(lines(EQUAL)), false);
    if (!changed) throw new Error('nothing changed');
    expect(changesAgain([changed], [changed])).toEqual([changed]);
    expect(changesAgain([changed], [])).toEqual([]);
  });
});
