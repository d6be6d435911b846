import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PERSONA_NAME, type Personas, parsePersona } from '../../core/debate/index.ts';
import { Fault } from '../../core/model/index.ts';

/** Variants in the order in which contestants take them; files that are not named here follow by name. */
const ORDER = ['plain', 'careful', 'test-first', 'root-cause'];

/** Prompts that there is one of. */
type Single =
  | 'planner'
  | 'critic'
  | 'synthesiser'
  | 'judge'
  | 'independentTests'
  | 'distinguish'
  | 'reviewer';

/**
 * Reads prompts from Markdown files. A file of the same name in `overrides` stands in for ours; a further `coder/*.md` there
 * adds a variant, a further `personas/*.md` a persona. Fault ENVIRONMENT_INVALID for what cannot be read or used.
 */
export function readPrompts(
  folders: Readonly<Record<Single, string>> & {
    coder: string;
    personas: string;
    overrides?: string | undefined;
  },
): Readonly<Record<Single, string>> & { coder: ReadonlyMap<string, string>; personas: Personas } {
  const { overrides } = folders;
  const both = (ours: string, name: string) =>
    new Map([...filesIn(ours), ...(overrides ? filesIn(join(overrides, name)) : [])]);
  const all = both(folders.coder, 'coder');
  const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const names = [...all.keys()].toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const one = (name: string, ours: string): string =>
    (overrides ? readIf(join(overrides, name)) : null) ?? readFileSync(ours, 'utf8');
  return {
    planner: one('planner.md', folders.planner),
    critic: one('critic.md', folders.critic),
    synthesiser: one('synthesiser.md', folders.synthesiser),
    judge: one('judge.md', folders.judge),
    independentTests: one('independent-tests.md', folders.independentTests),
    distinguish: one('distinguish.md', folders.distinguish),
    reviewer: one('reviewer.md', folders.reviewer),
    coder: new Map(names.map((name) => [name, all.get(name) as string])),
    personas: personasOf(both(folders.personas, 'personas')),
  };
}

function personasOf(texts: ReadonlyMap<string, string>): Personas {
  return new Map(
    [...texts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, text]) => {
        const persona = parsePersona(text);
        if (!PERSONA_NAME.test(name))
          throw new Fault(
            'ENVIRONMENT_INVALID',
            `The persona ${JSON.stringify(name)} in RUNOFF_PROMPTS needs another file name: lower-case letters, digits and hyphens, at most 41.`,
          );
        if (!persona)
          throw new Fault('ENVIRONMENT_INVALID', `The persona ${name} in RUNOFF_PROMPTS is empty.`);
        return [name, persona];
      }),
  );
}

/** Texts of a folder's Markdown files, by name without its extension. */
function filesIn(folder: string): Map<string, string> {
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
