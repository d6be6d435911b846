import { type Alias, byCodeUnits } from '../model/index.ts';
import type { Evidence } from './evidence.ts';

/** A candidate's results on tests that somebody else wrote, by test; only what passed or failed. */
type OthersResults = ReadonlyMap<string, boolean>;

/**
 * Survivors with equal changes, without those that tests of others tell apart: then their changes are not the same,
 * whatever their texts look like. One with fewer results is alone where the others are not one class.
 */
export function separatedByTests(evidence: readonly Evidence[]): readonly Evidence[] {
  const byAlias = new Map(evidence.map((one) => [one.alias, one]));
  return evidence.map((one) => {
    const members = (one.alike ?? []).flatMap((alias) => byAlias.get(alias) ?? []);
    const parts = testedApart(members);
    return parts.length > 1 ? { ...one, alike: parts.find((part) => part.includes(one.alias)) ?? [] } : one;
  });
}

function testedApart(members: readonly Evidence[]): readonly (readonly Alias[])[] {
  const sorted = members.toSorted((a, b) => byCodeUnits(a.alias, b.alias));
  const results = new Map(sorted.map((one) => [one.alias, resultsFromOthers(one, members)]));
  const sizeOf = (alias: Alias): number => results.get(alias)?.size ?? 0;
  const most = Math.max(0, ...sorted.map(({ alias }) => sizeOf(alias)));
  const parts: Alias[][] = [];
  for (const { alias } of sorted.filter((one) => sizeOf(one.alias) === most)) {
    const same = parts.find((part) => part.every((other) => !differ(results.get(alias), results.get(other))));
    if (same) same.push(alias);
    else parts.push([alias]);
  }
  const rest = sorted.filter((one) => sizeOf(one.alias) < most).map(({ alias }) => alias);
  const isApart = rest.some((alias) =>
    parts.flat().some((other) => differ(results.get(alias), results.get(other))),
  );
  if (parts.length < 2 && !isApart) return [sorted.map(({ alias }) => alias)];
  return [...parts, ...rest.map((alias) => [alias])];
}

const differ = (a: OthersResults = new Map(), b: OthersResults = new Map()): boolean =>
  [...a].some(([test, passed]) => b.has(test) && b.get(test) !== passed);

/** Independent tests, and those of candidates outside the class, which ran on all of its members. */
function resultsFromOthers(
  { independentTests, peerTests }: Evidence,
  members: readonly Evidence[],
): OthersResults {
  const independent = [
    ...(independentTests?.passing ?? []).map(({ id }) => [`independent ${id}`, true] as const),
    ...(independentTests?.failing ?? []).map(({ id }) => [`independent ${id}`, false] as const),
  ];
  const peers = peerTests
    .filter(({ author }) => !members.some(({ alias }) => alias === author))
    .flatMap(({ author, results = '' }) =>
      [...results].flatMap((mark, at) =>
        mark === 'p' || mark === 'f' ? [[`${author} ${at}`, mark === 'p'] as const] : [],
      ),
    );
  return new Map([...independent, ...peers]);
}
