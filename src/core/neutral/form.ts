import { MOST_BYTES } from './written.ts';

/** Why a written file is not laid at all, as a clause; null when it may be. What it does is the sandbox's matter. */
export function formFault(file: string): string | null {
  if (file.trim() === '') return 'is empty';
  if (file.includes('\0')) return 'holds a NUL';
  if (!file.isWellFormed()) return 'is not valid Unicode';
  return new TextEncoder().encode(file).length > MOST_BYTES ? `has more than ${MOST_BYTES} bytes` : null;
}

/** Shorter quotes stand in every text. */
const LEAST_QUOTED = 6;

/**
 * Does a quote really stand in one of the texts? White space, letter case and marks of emphasis do not count; parts
 * left out may be marked by `…` or `...`, each part must stand in the same text.
 */
export function isQuoted(quote: string, texts: readonly string[]): boolean {
  const parts = quote
    .split(/…|\.{3,}/)
    .map(plain)
    .filter((part) => part !== '');
  const length = parts.reduce((total, part) => total + part.length, 0);
  return (
    length >= LEAST_QUOTED && texts.map(plain).some((text) => parts.every((part) => text.includes(part)))
  );
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[`*_>]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^["']+|["'.]+$/g, '');

/** The same test twice is one vote: text without white space at line ends and empty lines. */
export const sameText = (file: string): string =>
  file
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
