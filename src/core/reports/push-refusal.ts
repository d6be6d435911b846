import { quotedCode } from './commands.ts';
import { visibleLine } from './visible.ts';

/** What git says where a branch stands in the way of one below it (`auto-dev` of `auto-dev/…`). */
const IN_THE_WAY = /directory file conflict|'refs\/heads\/([^']+)' exists; cannot create/;
/** What GitHub says of its rules and of protected branches; each broken rule has a line of its own. */
const RULES = /GH006|GH013|rule violations|protected branch|hook declined/i;
const BROKEN_RULE = /remote: +- (.+?)(?= remote: |$)/g;
const FOUND_SECRET = /push protection|GH009|contain secrets/i;
/** Maximum code points of what GitHub or git said. */
const MAX_QUOTED = 200;

/** Why a branch could not be pushed, and what to do: sentences with code in backticks. `why`: what git printed. */
export function pushRefusal(branch: string, why: string): string {
  const name = quotedCode(branch);
  const conflict = IN_THE_WAY.exec(why);
  if (conflict) {
    const other = conflict[1] ?? branch.split('/')[0] ?? branch;
    return `The branch ${name} cannot be created, because a branch ${quotedCode(other)} exists: git cannot have both. Rename or delete ${quotedCode(other)}.`;
  }
  if (/repository was archived|archived so it is read-only/i.test(why))
    return `The branch ${name} cannot be pushed, because the repository is archived. Unarchive it.`;
  const rules = [...why.matchAll(BROKEN_RULE)].map(([, rule = '']) => rule);
  const said = quotedCode(visibleLine(rules.join(' ') || why, MAX_QUOTED).replace(/\.$/, ''));
  if (FOUND_SECRET.test(why))
    return `GitHub found a secret in the changes, so the branch ${name} was not pushed: ${said}. Pick another candidate, or start the run again.`;
  if (RULES.test(why))
    return `A rule of this repository does not let Runoff push the branch ${name}: ${said}. Change the rule, or let Runoff's App bypass it.`;
  return `GitHub refused the push of the branch ${name}: ${said}.`;
}
