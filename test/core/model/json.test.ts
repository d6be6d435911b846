import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonParts, packageParts, testPackageNames } from '../../../src/core/evidence/manifests.ts';
import { parseUntrustedJson } from '../../../src/core/model/index.ts';

const deepArray = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const deepObject = (levels: number) => `${'{"test":'.repeat(levels)}1${'}'.repeat(levels)}`;

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  return 1 + Math.max(0, items.length - 1) + items.reduce<number>((sum, item) => sum + valuesIn(item), 0);
}

describe('untrusted JSON', () => {
  test('is measured without brackets and escapes in its strings', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.nat({ max: 8 }),
        fc.nat({ max: 20 }),
        (value, depth, values) => {
          const read = parseUntrustedJson(JSON.stringify(value), { depth, values });
          const tooDeep = depthOf(value) > depth;
          const tooMany = valuesIn(value) > values;
          if (tooDeep) expect(read.kind).toBe('too-deep');
          else if (tooMany) expect(read.kind).toBe('too-many-values');
          else expect(read).toEqual({ kind: 'json', value: JSON.parse(JSON.stringify(value)) });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('gives a value or a reason for any text', () => {
    const pieces = fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', ':', '1e999', 'null', '"a"', '\u0000');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 200 }), (parts) => {
        const text = parts.join('');
        const read = parseUntrustedJson(text);
        if (read.kind === 'json') expect(JSON.parse(text)).toEqual(read.value);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is limited in depth and number of values', () => {
    expect(parseUntrustedJson(deepArray(100)).kind).toBe('json');
    expect(parseUntrustedJson(deepArray(101)).kind).toBe('too-deep');
    expect(parseUntrustedJson('['.repeat(2_000_000)).kind).toBe('too-deep');
    expect(parseUntrustedJson(`[${'1,'.repeat(300_000)}1]`).kind).toBe('too-many-values');
    expect(parseUntrustedJson(JSON.stringify('[,{'.repeat(300_000))).kind).toBe('json');
  });
});

describe('a manifest with endless nesting', () => {
  test.each([
    ['objects', deepObject(20_000)],
    ['a script', `{"scripts":{"test":${deepObject(20_000)}}}`],
    ['settings of a test runner', `{"jest":${deepArray(20_000)}}`],
    ['versions', `{"devDependencies":{"vitest":${deepArray(20_000)}}}`],
  ])('is unreadable and harmless: %s', (_, text) => {
    expect(packageParts(text)).toBeNull();
    expect(jsonParts(text)).toBeNull();
    expect(testPackageNames(text)).toEqual([]);
  });
});
