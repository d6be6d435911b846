import type { Alias } from '../model/index.ts';
import type { Aim, NeutralTest, NeutralVote, Trial, Trials } from './types.ts';

/** What became of one case. */
export type Found = Pick<NeutralVote, 'standing' | 'because' | 'passedBy' | 'failedBy'>;

/** How a case behaves on one tree, over all its runs there. */
type Behaviour = 'passes' | 'fails' | 'unsteady' | 'unknown';

/** Judges one case of a test by what all trees made of it. One run is enough to refuse or to suspect it. */
export function stand(
  test: NeutralTest,
  id: string,
  trials: Trials,
  { aim, repeats }: { readonly aim: Aim; readonly repeats: number },
): Found {
  const onBase = behaviour(trials.base, id);
  if (onBase !== test.onBase) return refused(offBase(onBase, trials.base.length));
  const tried = Object.entries(trials.survivors).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const on = (wanted: Behaviour) =>
    tried.filter(([, runs]) => behaviour(runs, id) === wanted).map(([alias]) => alias);
  const [passedBy, failedBy, unsteady] = [on('passes'), on('fails'), on('unsteady')];
  // On one survivor alone it may be that candidate's doing, who must not get rid of a test that way.
  if (unsteady.length > 1 || (unsteady.length === 1 && passedBy.length === 0))
    return refused(`It gives different results on the same code (${unsteady.join(', ')}).`);
  if (passedBy.length + failedBy.length === 0) return refused('No survivor could be tried with it.');
  const found = test.onBase === 'fails' ? wish(passedBy, failedBy) : guard(passedBy, failedBy, aim);
  const judged = [...passedBy, ...failedBy].map((alias) => trials.survivors[alias]?.length ?? 0);
  const runs = Math.min(trials.base.length, ...judged);
  return found.standing === 'admitted' && runs < repeats
    ? refused(`It was run only ${runs} of ${repeats} times.`)
    : found;
}

/** Does it do on the base what it claims? One that was not even reported there fails. */
export const fitsBase = (test: NeutralTest, id: string, trials: Trials): boolean =>
  behaviour(trials.base, id) === test.onBase;

/** A candidate passes only what it passes every time. A skipped case says nothing. */
function behaviour(trials: readonly Trial[], id: string): Behaviour {
  const said = trials.map((trial) => (Object.hasOwn(trial.cases, id) ? trial.cases[id] : 'failed'));
  if (said.length === 0 || said.includes('skipped') || trials.some((trial) => trial.kind === 'unknown'))
    return 'unknown';
  const passes = said.filter((outcome) => outcome === 'passed').length;
  if (passes === said.length) return 'passes';
  return passes === 0 ? 'fails' : 'unsteady';
}

function offBase(onBase: Behaviour, runs: number): string {
  switch (onBase) {
    case 'passes':
      return 'It passes on the base already, so it does not test what is asked for.';
    case 'fails':
      return 'It fails on the base, although it was to show what works there.';
    case 'unsteady':
      return 'It gives different results on the base.';
    case 'unknown':
      return runs === 0 ? 'It was not run.' : 'It is skipped on the base, or nothing is known of it there.';
  }
}

/** A test of what is asked for. */
function wish(passedBy: readonly Alias[], failedBy: readonly Alias[]): Found {
  return passedBy.length > 0
    ? {
        standing: 'admitted',
        because: `It fails on the base and passes on ${list(passedBy)}.`,
        passedBy,
        failedBy,
      }
    : suspect('It fails on the base and on every survivor.', passedBy, failedBy);
}

/**
 * A test of what must stay. In a change, those who leave the base as it is pass it too, so most survivors must confirm it;
 * one that all of them pass says nothing about who is right.
 */
function guard(passedBy: readonly Alias[], failedBy: readonly Alias[], aim: Aim): Found {
  if (passedBy.length === 0) return suspect('It passes on the base and on no survivor.', passedBy, failedBy);
  const because = `It passes on the base and on ${list(passedBy)}.`;
  if (aim === 'refactoring') return { standing: 'admitted', because, passedBy, failedBy };
  if (failedBy.length === 0)
    return {
      ...refused('It passes on the base and on every survivor, so it tells nothing.'),
      passedBy,
    };
  return passedBy.length > failedBy.length
    ? { standing: 'admitted', because, passedBy, failedBy }
    : suspect(
        `It passes on the base, but not on ${list(failedBy)}: perhaps that is to change.`,
        passedBy,
        failedBy,
      );
}

const list = (aliases: readonly Alias[]): string => aliases.join(', ');

const refused = (because: string): Found => ({ standing: 'refused', because, passedBy: [], failedBy: [] });
const suspect = (because: string, passedBy: readonly Alias[], failedBy: readonly Alias[]): Found => ({
  standing: 'suspect',
  because,
  passedBy,
  failedBy,
});
