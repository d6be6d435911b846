import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Fault } from '../../core/model/index.ts';

/** Variants in the order in which contestants take them; files that are not named here follow by name. */
const ORDER = ['plain', 'careful', 'test-first', 'root-cause'];

/** Prompts that there is one of. */
type Single = 'planner' | 'critic' | 'synthesiser' | 'judge' | 'neutral' | 'distinguish' | 'reviewer';

/**
 * Reads prompts from Markdown files. A file of the same name in `overrides` stands in for ours, and a further
 * `coder/*.md` there adds a variant.
 */
export function readPrompts(
  folders: Readonly<Record<Single, string>> & { coder: string; overrides?: string | undefined },
): Readonly<Record<Single, string>> & { coder: ReadonlyMap<string, string> } {
  const ours = variantsIn(folders.coder);
  const theirs = folders.overrides ? variantsIn(join(folders.overrides, 'coder')) : new Map<string, string>();
  const all = new Map([...ours, ...theirs]);
  const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const names = [...all.keys()].toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const one = (name: string, ours: string): string =>
    (folders.overrides ? readIf(join(folders.overrides, name)) : null) ?? readFileSync(ours, 'utf8');
  return {
    planner: one('planner.md', folders.planner),
    critic: one('critic.md', folders.critic),
    synthesiser: one('synthesiser.md', folders.synthesiser),
    judge: one('judge.md', folders.judge),
    neutral: one('neutral.md', folders.neutral),
    distinguish: one('distinguish.md', folders.distinguish),
    reviewer: one('reviewer.md', folders.reviewer),
    coder: new Map(names.map((name) => [name, all.get(name) as string])),
  };
}

function variantsIn(folder: string): Map<string, string> {
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch (thrown) {
    if (isMissing(thrown)) return new Map();
    throw new Fault('ENVIRONMENT_INVALID', `The prompts in ${folder} cannot be read.`, { cause: thrown });
  }
  const markdown = files.filter((file) => file.endsWith('.md'));
  return new Map(markdown.map((file) => [basename(file, '.md'), readFileSync(join(folder, file), 'utf8')]));
}

function readIf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw new Fault('ENVIRONMENT_INVALID', `The prompt ${file} cannot be read.`, { cause: thrown });
  }
}

const isMissing = (thrown: unknown): boolean => (thrown as NodeJS.ErrnoException).code === 'ENOENT';
