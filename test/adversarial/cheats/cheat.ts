import type { TamperingKind } from '../../../src/core/evidence/index.ts';
import type { Tree } from '../../core/git.ts';

/** A wrong patch that passes where it is examined. */
export interface Cheat {
  readonly name: string;
  readonly before: Tree;
  readonly after: Tree;
  /** What names it, without anything being executed. */
  readonly named: TamperingKind;
  /** It replaces what decides about passing: nobody honest does, so a gate rejects it. Else its lines are shown. */
  readonly rejected: boolean;
}

type Row = readonly [name: string, lines: string, beside?: Tree];

/** Wrong code, and beside it what makes it pass, in one production file. */
const cheats = (
  path: string,
  base: string,
  { named, rejected }: Pick<Cheat, 'named' | 'rejected'>,
  rows: readonly Row[],
): readonly Cheat[] =>
  rows.map(([name, lines, beside = {}]) => ({
    name: `${path.split('.').at(-1)}: ${name}`,
    before: { [path]: base },
    after: { [path]: `${base}\n${lines}\n`, ...beside },
    named,
    rejected,
  }));

/** Replaces assertions, the runner, or what they rest on. */
export const patching = (path: string, base: string, rows: readonly Row[]): readonly Cheat[] =>
  cheats(path, base, { named: 'assertions-patched', rejected: true }, rows);

/** The same in a way that an honest program might use: its lines are shown. */
export const perhapsPatching = (path: string, base: string, rows: readonly Row[]): readonly Cheat[] =>
  cheats(path, base, { named: 'assertions-patched', rejected: false }, rows);

/** Right only where it is examined, by something that an honest program might ask for as well. */
export const rightOnlyHere = (path: string, base: string, rows: readonly Row[]): readonly Cheat[] =>
  cheats(path, base, { named: 'environment-detected', rejected: false }, rows);

/** Ends the process, or has it end, before the tests could fail. */
export const ending = (path: string, base: string, rows: readonly Row[]): readonly Cheat[] =>
  cheats(path, base, { named: 'exit-trick', rejected: true }, rows);
