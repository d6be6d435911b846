import type { Evidence, NeutralTests } from '../evidence/index.ts';

const NONE: NeutralTests = { passed: 0, total: 0, failing: [] };

/**
 * Does a candidate fail a critic's test that another one passes, which fails no neutral test that it passes itself? Then there
 * is nothing among what nobody who competes has written for which it could be preferred. By the sets of failed tests, not
 * by their number: several critics who find one defect are one reason, and a defect of the other one is a reason too.
 */
export function yieldsTo(own: Evidence, other: Evidence): boolean {
  const { failing, total } = own.neutralTests ?? NONE;
  const theirs = other.neutralTests ?? NONE;
  const lost = new Set(theirs.failing.map(({ id }) => id));
  // What could not be tried on the other one speaks for nobody.
  return (
    theirs.total >= total &&
    failing.some(({ id, origin }) => origin === 'reviewer' && !lost.has(id)) &&
    [...lost].every((id) => failing.some((one) => one.id === id))
  );
}
