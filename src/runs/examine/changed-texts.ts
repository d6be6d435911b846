import {
  brokenLinks,
  type ChangedDocument,
  documentReader,
  filesToCompare,
  type GateReport,
  isMarkdown,
  LINK_LIMITS,
  linkedDocuments,
} from '../../core/evidence/index.ts';
import { type Patch, patchedText } from '../../core/patches/index.ts';
import { readTextAt } from '../context.ts';
import type { CheckRunner } from './areas.ts';
import { fail, pass } from './trees.ts';

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

/** Fails for new links of changed documents that lead nowhere; a sentence if the limits left some out. */
export async function linkGates(
  { world, task, source, baseFiles }: CheckRunner,
  patch: Patch,
): Promise<readonly GateReport[]> {
  const textAt = (path: string) => readTextAt(world, source, task.base.sha, path);
  const documents: ChangedDocument[] = [];
  const texts = new Map<string, string | null>();
  for (const file of patch.files.filter(({ path }) => isMarkdown(path))) {
    const before = file.change === 'added' ? null : await textAt(file.path);
    const patched = patchedText(before, file);
    texts.set(file.path, patched.kind === 'text' ? patched.text : null);
    if (patched.kind === 'text') documents.push({ path: file.path, before, after: patched.text });
  }
  if (documents.length === 0) return [];
  const files = filesAfter(baseFiles, patch);
  const reader = documentReader();
  const linked = linkedDocuments(documents, reader).filter((path) => files.has(path) && !texts.has(path));
  for (const path of linked.slice(0, LINK_LIMITS.linked)) texts.set(path, await textAt(path));
  const folders = parentFolders(files);
  const exists = (path: string) => files.has(path) || folders.has(path);
  const found = brokenLinks(documents, exists, (path) => texts.get(path) ?? null, reader);
  const leftOut = [...found.leftOut, ...linked.slice(LINK_LIMITS.linked)];
  const { broken } = found;
  if (broken.length === 0) return leftOut.length === 0 ? [] : [pass('content', leftOutSentence(leftOut))];
  const named = broken
    .slice(0, MAX_LINKS_NAMED)
    .map(({ path, line, target, why }) => `${path}:${line} links to ${target.slice(0, 100)}: ${why}`);
  const more = broken.length - named.length;
  return [fail('content', `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`)];
}

function filesAfter(baseFiles: readonly string[], { files }: Patch): ReadonlySet<string> {
  const after = new Set(baseFiles);
  for (const { path } of files) after.add(path);
  for (const { change, path } of files) if (change === 'deleted') after.delete(path);
  return after;
}

const enclosingFolder = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

function parentFolders(files: ReadonlySet<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of files) {
    let folder = enclosingFolder(path);
    while (folder !== '' && !folders.has(folder)) {
      folders.add(folder);
      folder = enclosingFolder(folder);
    }
  }
  return folders;
}

function leftOutSentence(leftOut: readonly string[]): string {
  const named = leftOut.slice(0, MAX_LINKS_NAMED).join(', ');
  const more = leftOut.length > MAX_LINKS_NAMED ? ` and ${leftOut.length - MAX_LINKS_NAMED} more` : '';
  return `a change of content; not every new link was checked, because of the limits on size and number: ${named}${more}`;
}
