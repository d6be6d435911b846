import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openBoundedBuffer } from '../../../src/core/model/index.ts';

describe('a bounded buffer', () => {
  test('returns what was added, however it was split, and reserves at most twice its size', () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(parts, (all) => {
        let reserved = 0;
        const buffer = openBoundedBuffer(1_000_000, (bytes) => {
          reserved = bytes;
          return true;
        });
        for (const part of all) expect(buffer.add(part)).toBe('added');
        const length = all.reduce((sum, part) => sum + part.length, 0);
        expect(reserved).toBeLessThanOrEqual(Math.max(4_096, 2 * length));
        expect([...buffer.take()]).toEqual(all.flatMap((part) => [...part]));
        expect(buffer.take()).toHaveLength(0);
      }),
    );
  });

  test('holds exactly its maximum and never reserves more', () => {
    const reserved: number[] = [];
    const buffer = openBoundedBuffer(10_000, (bytes) => reserved.push(bytes) > 0);
    expect(buffer.add(new Uint8Array(10_000))).toBe('added');
    expect(buffer.add(new Uint8Array(1))).toBe('too-long');
    expect(Math.max(...reserved)).toBe(10_000);
  });

  test('reports when `reserve` does not allow it to grow', () => {
    const buffer = openBoundedBuffer(100_000, (bytes) => bytes <= 8_192);
    expect(buffer.add(new Uint8Array(5_000))).toBe('added');
    expect(buffer.add(new Uint8Array(5_000))).toBe('refused');
  });
});
