import type { Brief } from '../model/index.ts';
import type { Settings } from '../policy/index.ts';

export interface Triage {
  readonly debate: boolean;
  /** One clause. */
  readonly because: string;
}

/**
 * Whether a debate pays. No study shows that a debate of several personas on the spec makes merged code more correct, and it
 * costs several calls, so by default it is held only where the brief itself says that something hangs on it.
 */
export function triage({ questions, risk }: Brief, { debate }: Pick<Settings, 'debate'>): Triage {
  if (debate === 'never') return { debate: false, because: 'debates are off' };
  if (debate === 'always') return { debate: true, because: 'the repository asks for one each time' };
  const blocking = questions.filter(({ severity }) => severity === 'blocking').length;
  if (blocking > 0) {
    const what = blocking === 1 ? 'a blocking question' : `${blocking} blocking questions`;
    return { debate: true, because: `the planner has ${what}` };
  }
  if (risk?.level === 'high') return { debate: true, because: 'the planner sees a high risk' };
  return { debate: false, because: 'nothing blocks and the risk is not high' };
}
