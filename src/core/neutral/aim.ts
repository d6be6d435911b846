import type { Brief } from '../model/index.ts';
import type { Aim } from './types.ts';

const SAME_BEHAVIOUR =
  /\bno (?:functional|behaviou?ral|visible) changes?\b|\bwithout (?:changing|a change (?:of|in)) (?:the |any |its )?(?:observable |public |external )?behaviou?r|\bbehaviou?r (?:stays|remains|must stay|must remain|is|must be) (?:the same|unchanged|as it is)/i;
const REFACTORING = /\brefactor|\brestructur/i;
const MORE = /\b(?:fix|bug|add|support|allow|implement|new)/i;

/**
 * Is behaviour to stay as it is? Only where the title or the goal of the brief says so. In doubt it is a change: then
 * tests that pass on the base count for less.
 */
export function aimOf(title: string, brief: Pick<Brief, 'goal'>): Aim {
  const said = `${title}\n${brief.goal}`;
  if (MORE.test(said)) return 'change';
  return SAME_BEHAVIOUR.test(said) || REFACTORING.test(said) ? 'refactoring' : 'change';
}
