import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactor } from '../../../src/core/secrets/index.ts';
import { tokenIdIn, tokenState, tokenText } from '../../../src/core/tokens/index.ts';

const bits = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));

describe('the text of a token', () => {
  test('names its id, and is redacted wherever it stands', () => {
    fc.assert(
      fc.property(bits, (random) => {
        const { id, text } = tokenText(random);
        expect(tokenIdIn(text)).toBe(id);
        expect(random.startsWith(id)).toBe(true);
        const redact = redactor([]);
        for (const around of [text, `authorization: bearer ${text}`, JSON.stringify({ text: `\n${text}` })])
          expect(redact(around)).not.toContain(text.slice(11, 40));
        expect(redact(`runoff_pat_${id}`)).toContain(id);
      }),
    );
  });

  test('with any other character is none', () => {
    fc.assert(
      fc.property(bits, fc.nat(82), fc.constantFrom(...'0123456789abcdefg'), (random, at, character) => {
        const { text } = tokenText(random);
        const changed = `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
        expect(tokenIdIn(changed)).toBe(changed === text ? text.slice(11, 23) : null);
      }),
    );
  });

  test('has the checksum that other programs calculate', () => {
    // CRC-32 of the 64 digits, as `python3 -c 'import binascii; …'` and `gzip` give it.
    expect(tokenText('0123456789abcdef'.repeat(4)).text.slice(-8)).toBe(CRC);
  });

  test('is not made of less than 256 random bits', () => {
    for (const random of ['', 'ab', 'g'.repeat(64), `${'a'.repeat(64)}\n`])
      expect(() => tokenText(random)).toThrow(/256 random bits/);
  });
});

const CRC = 'a77cac63';

test('a token can be used until it expires or is revoked', () => {
  expect(tokenState({ expiresAt: 2_000 }, 1_999)).toBe('valid');
  expect(tokenState({ expiresAt: 2_000 }, 2_000)).toBe('expired');
  expect(tokenState({ expiresAt: 2_000, revokedAt: 1_000 }, 1_500)).toBe('revoked');
});
