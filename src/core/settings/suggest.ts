import { distance } from 'fastest-levenshtein';

/**
 * The known name that was probably intended: an edit distance of at most two and a third of its length; otherwise
 * null.
 */
export function suggest(written: string, known: readonly string[]): string | null {
  let best: { name: string; errors: number } | null = null;
  for (const name of known) {
    const most = Math.min(2, Math.ceil(name.length / 3));
    if (Math.abs(name.length - written.length) > most) continue;
    const errors = distance(written.toLowerCase(), name.toLowerCase());
    if (errors <= most && (best === null || errors < best.errors)) best = { name, errors };
  }
  return best?.name ?? null;
}
