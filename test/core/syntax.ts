import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openGrammars } from '../../src/adapters/syntax/grammars.mjs';
import { parseAll } from '../../src/adapters/syntax/trees.mjs';
import {
  findTampering,
  sourcesOf,
  type TamperingFinding,
  type TamperingOptions,
} from '../../src/core/evidence/index.ts';
import type { Patch } from '../../src/core/patches/index.ts';
import {
  grammarOf,
  PrintedTree,
  parsedText,
  type SourceText,
  type SyntaxTrees,
  syntaxTrees,
} from '../../src/core/source/index.ts';

const { resolve } = createRequire(import.meta.url);
const FOLDER = join(dirname(resolve('@vscode/tree-sitter-wasm/package.json')), 'wasm/');
const grammars = openGrammars(FOLDER, Number.POSITIVE_INFINITY);

/** Texts parsed by the program that a run starts in a sandbox, here in this process. */
export async function parsed(sources: readonly SourceText[]): Promise<SyntaxTrees> {
  const asked = sources.map((source) => ({ grammar: grammarOf(source.path), text: parsedText(source) }));
  return syntaxTrees(sources, PrintedTree.array().parse(await parseAll(asked, grammars)));
}

/** The texts of a patch, parsed. */
export const syntaxOf = (patch: Patch, baseTexts: Readonly<Record<string, string>>): Promise<SyntaxTrees> => {
  const { base, patched } = sourcesOf(patch, baseTexts);
  return parsed([...base, ...patched]);
};

/** What a run finds in a patch: its texts parsed first. */
export const tamperingIn = async (
  patch: Patch,
  baseTexts: Readonly<Record<string, string>>,
  options: TamperingOptions = {},
): Promise<readonly TamperingFinding[]> =>
  findTampering(patch, baseTexts, { ...options, syntax: await syntaxOf(patch, baseTexts) });
