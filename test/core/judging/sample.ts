import type { Author, Competitor } from '../../../src/core/judging/index.ts';
import type { PatchFile } from '../../../src/core/patches/index.ts';

export const AUTHORS = {
  claude: { agent: 'claude-code', model: 'anthropic/claude-sonnet-5', prompt: 'plain' },
  gpt: { agent: 'codex', model: 'openai/gpt-6-sol', prompt: 'careful' },
  gemini: { agent: 'gemini', model: 'google/gemini-3.1-pro', prompt: 'plain' },
} as const satisfies Record<string, Author>;

/** A file to which a candidate adds these lines, from line 10 on, behind one line of the base. */
export const adding = (path: string, ...texts: readonly string[]): PatchFile =>
  changing(path, [` function run(input) {`, ...texts.map((text) => `+${text}`)]);

/** A file with one hunk that begins at line 9; each line with its sign. */
export function changing(path: string, signed: readonly string[]): PatchFile {
  const KINDS = { ' ': 'context', '+': 'added', '-': 'removed' } as const;
  const at = { old: 9, fresh: 9 };
  const lines = signed.map((text) => {
    const kind = KINDS[text.charAt(0) as keyof typeof KINDS];
    const base = at.old;
    const line = kind === 'removed' ? at.old : at.fresh;
    if (kind !== 'added') at.old++;
    if (kind !== 'removed') at.fresh++;
    return { kind, text: text.slice(1), line, base };
  });
  return {
    path,
    change: 'modified',
    oldMode: '100644',
    newMode: '100644',
    additions: lines.filter(({ kind }) => kind === 'added').length,
    deletions: lines.filter(({ kind }) => kind === 'removed').length,
    section: '',
    role: /test/.test(path) ? 'test' : 'production',
    binary: false,
    hunks: [
      {
        oldStart: 9,
        oldCount: at.old - 9,
        newStart: 9,
        newCount: at.fresh - 9,
        heading: '',
        lines,
      },
    ],
  };
}

export const NOTHING_RAN = { inputs: [], differences: [] } as const;

/** A candidate that adds these lines to `src/run.ts`. */
export const candidate = (
  alias: string,
  lines: readonly string[],
  author: Author | null = null,
): Competitor => ({
  alias,
  files: [adding('src/run.ts', ...lines)],
  facts: NOTHING_RAN,
  author,
});
