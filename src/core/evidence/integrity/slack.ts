import { STRENGTH, strengthOf } from './matchers.ts';

/** What pytest and numpy allow when nothing is said (1e-6, 1e-7), rounded up. */
const DEFAULT_SLACK = 1e-6;
const KEYED = /\b(?:delta|rel|abs|rtol|atol|rel_tol|abs_tol|accuracy)\s*[=:]\s*([\d.]+(?:e-?\d+)?)/i;

/** How far off a value may be, from the ways in which common libraries say it; null for exact matchers. */
export function slackOf(name: string, expected: string, args: readonly string[]): number | null {
  const plain = name.replaceAll('_', '').toLowerCase();
  const all = `${expected},${args.slice(1).join(',')}`;
  const keyed = KEYED.exec(all)?.[1];
  if (keyed !== undefined) return Number(keyed);
  const places = /\bplaces\s*=\s*(\d+)/.exec(all)?.[1];
  if (places !== undefined) return 10 ** -Number(places);
  if (/closeto$/.test(plain)) return closeness(plain, expected);
  if (/within$/.test(plain)) return numberIn(/[\d.]+/.exec(expected)?.[0]);
  const last =
    args.length > 1
      ? numberIn(
          args
            .at(-1)
            ?.trim()
            .replace(/[fdm]$/i, ''),
        )
      : null;
  const near = strengthOf(name) === STRENGTH.near || /\bapprox\s*\(/.test(expected);
  if (near) return last === null ? DEFAULT_SLACK : /almost/.test(plain) && last >= 1 ? 10 ** -last : last;
  return /equal/.test(plain) ? last : null;
}

/** Jest and vitest count digits (2 where nothing is said), chai and hamcrest give the distance. */
function closeness(plain: string, expected: string): number | null {
  const parts = expected.split(',');
  const given = parts.length > 1 ? numberIn(parts.at(-1)) : null;
  return plain === 'tobecloseto' ? 10 ** -(given ?? 2) : given;
}

const numberIn = (text: string | undefined): number | null =>
  text !== undefined && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null;
