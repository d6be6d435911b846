import { html, raw } from 'hono/html';
import { counted, plusMinus } from '../../../core/reports/index.ts';
import { type Html, shownLine, shownSentence, shownText } from '../../layout.ts';
import type { DiffPart, PartOfFile, ShownFile } from './diff-files.ts';
import { DIFF_VIEWS, type DiffViewName, diffTable, hasWindowsLines } from './diff-table.ts';
import { list } from './frame.ts';
import { pageLinks } from './paging.ts';

interface DiffPage {
  readonly files: readonly ShownFile[];
  readonly parts: readonly DiffPart[];
  /** 1-based number of the part that is shown. */
  readonly part: number;
  readonly view: DiffViewName;
  /** Without a query. */
  readonly address: string;
  /** Sentences of Runoff's above the diff, such as why a patch was rejected. */
  readonly notes: readonly string[];
}

/** A diff: its files as a tree, and one part of its lines. */
export function diffBody(page: DiffPage): Html {
  const { files, parts, notes } = page;
  const part = Math.min(Math.max(1, page.part), parts.length);
  const paging = pageLinks(
    { page: part, pages: parts.length },
    (to) => diffAddress(page, to),
    'Parts of this diff',
  );
  const sum = (of: (file: ShownFile) => number) => files.reduce((total, file) => total + of(file), 0);
  const total = plusMinus({
    additions: sum(({ additions }) => additions),
    deletions: sum(({ deletions }) => deletions),
  });
  if (files.length === 0)
    return html`${list(notes.map((note) => shownSentence(note)))}<p>There is no difference.</p>`;
  return html`${list(notes.map((note) => shownSentence(note)))}
<p>${counted(files.length, 'file')}, ${total}. ${viewSwitch(page, part)}${
    parts.length > 1 ? ` This is part ${part} of ${parts.length}.` : ''
  }</p>
<div class="diff-page">${fileTree(page)}
<div class="diff-files">${paging}${(parts[part - 1]?.files ?? []).map((one) => fileSection(one, page.view))}${paging}</div></div>`;
}

const diffAddress = ({ address, view }: DiffPage, part: number, shown: DiffViewName = view): string => {
  const query = new URLSearchParams({
    ...(shown === 'split' ? {} : { view: shown }),
    ...(part === 1 ? {} : { part: String(part) }),
  }).toString();
  return query === '' ? address : `${address}?${query}`;
};

const VIEW_LABELS = { split: 'Side by side', unified: 'Unified' } as const satisfies Record<
  DiffViewName,
  string
>;

const viewSwitch = (page: DiffPage, part: number): Html =>
  html`<span class="switch where-wide">${DIFF_VIEWS.map((name) =>
    name === page.view
      ? html`<strong aria-current="true">${VIEW_LABELS[name]}</strong> `
      : html`<a href="${diffAddress(page, part, name)}">${VIEW_LABELS[name]}</a> `,
  )}</span>`;

const CHANGE_SIGNS = {
  added: { sign: 'A', name: 'added' },
  deleted: { sign: 'D', name: 'deleted' },
  changed: { sign: 'M', name: 'changed' },
  renamed: { sign: 'R', name: 'renamed' },
  mode: { sign: 'm', name: 'mode changed' },
} as const satisfies Record<ShownFile['label'], { readonly sign: string; readonly name: string }>;

const signOf = (label: ShownFile['label']): Html =>
  html`<abbr class="change-${label}" title="${CHANGE_SIGNS[label].name}">${CHANGE_SIGNS[label].sign}</abbr>`;

/** Files in the tree; the rest is found by its part. Our default. */
const MAX_TREE_FILES = 400;

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: { readonly number: number; readonly name: string; readonly file: ShownFile }[];
}

function fileTree(page: DiffPage): Html {
  const { files, parts } = page;
  const partOf = new Map<number, number>();
  for (const [at, part] of parts.entries())
    for (const { number, isContinued } of part.files) if (!isContinued) partOf.set(number, at + 1);
  const root: Folder = { folders: new Map(), files: [] };
  for (const [number, file] of files.slice(0, MAX_TREE_FILES).entries()) {
    const names = file.path.split('/');
    let folder = root;
    for (const name of names.slice(0, -1)) {
      const next = folder.folders.get(name) ?? { folders: new Map(), files: [] };
      folder.folders.set(name, next);
      folder = next;
    }
    folder.files.push({ number, name: names.at(-1) ?? '', file });
  }
  const more = files.length - MAX_TREE_FILES;
  const link = (number: number) => `${diffAddress(page, partOf.get(number) ?? 1)}#file-${number}`;
  return html`<nav class="file-tree" aria-label="Changed files"><details open><summary>Files</summary>${folderList(root, link)}${
    more > 0 ? html`<p class="muted">and ${more} more, in the last parts</p>` : ''
  }</details></nav>`;
}

function folderList({ folders, files }: Folder, link: (number: number) => string): Html {
  return html`<ul>${[...folders].map(([name, folder]) => folderItem(name, folder, link))}${files.map(
    ({ number, name, file }) =>
      html`<li>${signOf(file.label)} <a href="${link(number)}">${shownLine(name, 100) || '(no name)'}</a> <span class="muted">${plusMinus(file)}</span></li>`,
  )}</ul>`;
}

/** A folder that holds nothing but another folder stands on one line with it. */
function folderItem(name: string, folder: Folder, link: (number: number) => string): Html {
  let [path, inner] = [name, folder];
  for (
    let only = [...inner.folders];
    only.length === 1 && inner.files.length === 0;
    only = [...inner.folders]
  ) {
    const [next] = only;
    if (!next) break;
    [path, inner] = [`${path}/${next[0]}`, next[1]];
  }
  return html`<li><span class="folder">${shownLine(path, 200)}/</span>${folderList(inner, link)}</li>`;
}

function fileSection(part: PartOfFile, view: DiffViewName): Html {
  const { number, file, hunks, isContinued } = part;
  const id = `file-${number}`;
  const notes = [...file.notes, ...(hasWindowsLines(file.hunks) ? ['Windows line ends throughout'] : [])];
  const name =
    file.from === undefined
      ? shownText(file.path, 1_000)
      : html`${shownText(file.from, 1_000)} → ${shownText(file.path, 1_000)}`;
  const head = html`<h2${isContinued ? '' : raw(` id="${id}"`)}>${signOf(file.label)} ${name} <span class="muted">${plusMinus(file)}${isContinued ? ', continued' : ''}</span></h2>`;
  return html`<section class="file">${head}
${notes.length === 0 ? '' : html`<p class="muted">${shownSentence(`${notes.join('; ')}.`, 600)}</p>`}
${
  hunks.length === 0
    ? notes.length === 0
      ? html`<p class="muted">It has no lines.</p>`
      : ''
    : html`<div class="d2h-wrapper d2h-auto-color-scheme">${diffTable(part, view)}</div>`
}</section>`;
}
