import MarkdownIt from 'markdown-it';

/** A link in a changed document whose target does not exist. */
export interface BrokenLink {
  readonly path: string;
  /** 1-based, of the paragraph or heading. */
  readonly line: number;
  readonly target: string;
  readonly why: string;
}

/** One changed document, before and after. */
export interface ChangedDocument {
  readonly path: string;
  /** Null for a new one. */
  readonly before: string | null;
  readonly after: string;
}

/** Maximum characters of a document that is read. */
const MAX_DOCUMENT_CHARS = 2 ** 20;

export const isMarkdown = (path: string): boolean => /\.(?:md|markdown)$/i.test(path);

interface DocumentLink {
  readonly target: string;
  readonly line: number;
}

interface ReadDocument {
  readonly links: readonly DocumentLink[];
  readonly anchors: ReadonlySet<string>;
}

/**
 * New links in Markdown that lead nowhere: to a file that the tree lacks, or to a heading that a document lacks. Only
 * relative links to files with an extension count: a site generator may resolve others. `exists` tells whether the
 * tree has a file or folder; `textOf` is the text of a document of the tree after the change, null if unknown.
 */
export function brokenLinks(
  documents: readonly ChangedDocument[],
  exists: (path: string) => boolean,
  textOf: (path: string) => string | null,
): readonly BrokenLink[] {
  return documents.flatMap(({ path, before, after }) => {
    const own = read(after);
    const old = new Set(before === null ? [] : read(before).links.map(({ target }) => target));
    return own.links.flatMap(({ target, line }) => {
      if (old.has(target)) return [];
      const why = linkFaultOf(target, { path, own, exists, textOf });
      return why === null ? [] : [{ path, line, target, why }];
    });
  });
}

function linkFaultOf(
  target: string,
  at: {
    readonly path: string;
    readonly own: ReadDocument;
    readonly exists: (path: string) => boolean;
    readonly textOf: (path: string) => string | null;
  },
): string | null {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(target)) return null;
  const [file = '', anchor = ''] = target.split('#', 2);
  if (file === '')
    return anchor === '' || hasAnchor(at.own, anchor) ? null : `there is no heading #${anchor}`;
  const name = decoded(file.replace(/\?.*$/s, ''));
  const found = name === null ? null : resolved(at.path, name);
  if (found === null || !/\.(?!html?$)\w+$/i.test(found)) return null;
  if (!at.exists(found)) return `${found} does not exist`;
  const text = anchor !== '' && isMarkdown(found) ? at.textOf(found) : null;
  return text === null || hasAnchor(read(text), anchor) ? null : `${found} has no heading #${anchor}`;
}

/** Markdown documents that these documents link to. */
export const linkedDocuments = (documents: readonly ChangedDocument[]): readonly string[] => [
  ...new Set(
    documents.flatMap(({ path, after }) =>
      read(after).links.flatMap(({ target }) => {
        const found = /^(?:[a-z][a-z0-9+.-]*:|[/#])/i.test(target)
          ? null
          : resolved(path, decoded(target.replace(/[?#].*$/s, '')) ?? '');
        return found !== null && isMarkdown(found) ? [found] : [];
      }),
    ),
  ),
];

/** The path that a relative link in a document leads to; null if it leaves the repository. */
function resolved(document: string, relative: string): string | null {
  const parts = document.split('/').slice(0, -1);
  for (const part of relative.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return null;
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // A malformed escape is part of a name that no rule of ours covers.
    return null;
  }
}

/** Sites make anchors in different ways; letters and digits are the same in all of them. */
const slug = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const hasAnchor = ({ anchors }: ReadDocument, anchor: string): boolean =>
  [decoded(anchor) ?? anchor, anchor.replace(/-\d+$/, '')].some((one) => anchors.has(slug(one))) ||
  /^L\d+/.test(anchor);

function read(text: string): ReadDocument {
  const links: DocumentLink[] = [];
  const anchors = new Set<string>();
  const tokens = new MarkdownIt({ html: true }).parse(text.slice(0, MAX_DOCUMENT_CHARS), {});
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'inline' && tokens[at - 1]?.type === 'heading_open')
      addHeading(anchors, token.content);
    const line = (token.map?.[0] ?? 0) + 1;
    for (const one of [token, ...(token.children ?? [])]) {
      if (one.type.startsWith('html')) addNamed(anchors, one.content);
      const target = LINKING[one.type];
      const given = target === undefined ? null : one.attrGet(target);
      if (given) links.push({ target: String(given), line });
    }
  }
  return { links, anchors };
}

/** The attribute with the target, by type of token. */
const LINKING: Readonly<Record<string, string>> = { link_open: 'href', image: 'src' };

/** With and without an id that a site generator would take from the heading. */
function addHeading(anchors: Set<string>, content: string): void {
  const [, own] = /\{#([\w-]+)\}\s*$/.exec(content) ?? [];
  if (own) anchors.add(slug(own));
  const plain = content.replace(/\{#[\w-]+\}\s*$/, '');
  anchors.add(slug(plain));
  anchors.add(slug(plain.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')));
}

function addNamed(anchors: Set<string>, html: string): void {
  for (const [, name = ''] of html.matchAll(/\b(?:id|name)\s*=\s*["']([^"']{1,200})["']/gi))
    anchors.add(slug(name));
}
