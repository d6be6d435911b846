import {
  brokenLinks,
  type ChangedDocument,
  filesToCompare,
  type GateReport,
  isMarkdown,
  linkedDocuments,
} from '../../core/evidence/index.ts';
import { type Patch, patchedText } from '../../core/patches/index.ts';
import { readTextAt } from '../context.ts';
import type { CheckRunner } from './areas.ts';
import { fail } from './trees.ts';

/** Base text of files whose change may be tampering: what they contained before is not a finding. */
export async function baseTexts(
  { world, task, source }: CheckRunner,
  patch: Patch,
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const path of filesToCompare(patch)) {
    const text = await world.workspaces.readFile(source, task.base.sha, path);
    if (text !== null) texts[path] = text;
  }
  return texts;
}

/** Maximum broken links in a sentence. */
const MAX_LINKS_NAMED = 3;

/** Fails for new links of changed documents that lead nowhere. */
export async function linkGates(
  { world, task, source, baseFiles }: CheckRunner,
  patch: Patch,
): Promise<readonly GateReport[]> {
  const documents: ChangedDocument[] = [];
  const after = new Map<string, string | null>();
  for (const file of patch.files) {
    const base = file.change === 'added' ? null : await readTextAt(world, source, task.base.sha, file.path);
    const patched = isMarkdown(file.path) ? patchedText(base, file) : null;
    after.set(file.path, patched?.kind === 'text' ? patched.text : null);
    if (patched?.kind === 'text') documents.push({ path: file.path, before: base, after: patched.text });
  }
  const gone = new Set(patch.files.flatMap(({ change, path }) => (change === 'deleted' ? [path] : [])));
  const paths = [...baseFiles.filter((path) => !gone.has(path)), ...patch.files.map(({ path }) => path)];
  const files = new Set(paths.filter((path) => !gone.has(path)));
  const texts = new Map<string, string | null>(after);
  for (const path of linkedDocuments(documents))
    if (files.has(path) && !texts.has(path))
      texts.set(path, await readTextAt(world, source, task.base.sha, path));
  const exists = (path: string) => files.has(path) || paths.some((one) => one.startsWith(`${path}/`));
  const broken = brokenLinks(documents, exists, (path) => texts.get(path) ?? null);
  if (broken.length === 0) return [];
  const named = broken
    .slice(0, MAX_LINKS_NAMED)
    .map(({ path, line, target, why }) => `${path}:${line} links to ${target.slice(0, 100)}: ${why}`);
  const more = broken.length - named.length;
  return [fail('content', `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`)];
}
