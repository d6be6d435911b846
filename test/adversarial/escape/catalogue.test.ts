import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ATTACKS, CASES } from './catalogue.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'test/adversarial');

/** Where ids stand in brackets in a string, behind what it begins with. */
const idsAfter = (start: string) =>
  readdirSync(FOLDER, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.ts') && !path.includes('catalogue'))
    .flatMap((path) =>
      [
        ...readFileSync(join(FOLDER, path), 'utf8').matchAll(
          new RegExp(`['"\`]${start}\\[([a-z]+\\d+(?: [a-z]+\\d+)*)\\] `, 'g'),
        ),
      ].flatMap(([, ids = '']) =>
        ids.split(' ').map((id) => ({ id, path: relative(ROOT, join(FOLDER, path)) })),
      ),
    );

const titles = idsAfter('');

const rows = [
  ...readFileSync(join(ROOT, 'docs/threats.md'), 'utf8').matchAll(
    /^\| ([a-z]+\d+) \| ([^|]+) \| \[[^\]]+\]\(\.\.\/([^)]+)\) \| ([^|]+) \|$/gm,
  ),
].map(([, id = '', what = '', path = '', stops = '']) => ({ id, what, path, stops: stops.trim() }));

describe('the catalogue of attacks', () => {
  test('names each attack that a test holds, and each is held by one test', () => {
    expect(titles.map(({ id }) => id).toSorted()).toEqual(Object.keys(ATTACKS).toSorted());
  });

  test('names what another backend is tried with again, where the test is not one for every backend', () => {
    const again = idsAfter('again ').map(({ id }) => id);
    expect(again).not.toEqual([]);
    expect(again.filter((id) => !(id in ATTACKS))).toEqual([]);
  });

  test('is what docs/threats.md shows, with the file of the test', () => {
    expect(rows.map(({ id, what }) => [id, what])).toEqual(Object.entries(ATTACKS));
    expect(rows.map(({ id, path }) => ({ id, path })).toSorted(byId)).toEqual(titles.toSorted(byId));
    expect(rows.filter(({ stops }) => stops.length < 4)).toEqual([]);
  });

  test('covers the cases of the threat model', () => {
    const unknown = Object.values(CASES)
      .flat()
      .filter((id) => !(id in ATTACKS));
    expect(unknown).toEqual([]);
  });
});

function byId(one: { id: string }, two: { id: string }): number {
  return one.id < two.id ? -1 : 1;
}
