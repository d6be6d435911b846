import MarkdownIt, { type Token } from 'markdown-it';
import { counted } from '../model/index.ts';

/** A link in a changed document whose target does not exist. */
interface BrokenLink {
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

/**
 * Limits of one check of links, which runs in Runoff's own process: parsing hostile Markdown of `allChars` takes about
 * two seconds. Our defaults.
 */
export const LINK_LIMITS = {
  documentChars: 100_000,
  /** Of all different documents, before and after. */
  allChars: 300_000,
  /** New links with different targets. */
  links: 1_000,
  targetChars: 1_000,
  /** Unchanged documents that links lead to. */
  linked: 100,
} as const;

export const isMarkdown = (path: string): boolean => /\.(?:md|markdown)$/i.test(path);

interface DocumentLink {
  readonly target: string;
  readonly line: number;
}

interface ReadDocument {
  readonly links: readonly DocumentLink[];
  readonly anchors: ReadonlySet<string>;
}

/** Parses a text; null for one beyond the limits. */
type DocumentReader = (text: string) => ReadDocument | null;

/** Parses each text once, and texts of at most `LINK_LIMITS.allChars` in all. */
export function documentReader(): DocumentReader {
  const known = new Map<string, ReadDocument | null>();
  let left: number = LINK_LIMITS.allChars;
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const fits = text.length <= Math.min(LINK_LIMITS.documentChars, left);
    if (fits) left -= text.length;
    const found = fits ? read(text) : null;
    known.set(text, found);
    return found;
  };
}

interface LinkCheck {
  readonly broken: readonly BrokenLink[];
  /** What the limits left out: paths of documents, and a number of links. */
  readonly leftOut: readonly string[];
}

/**
 * New links in Markdown that lead nowhere: to a file that the tree lacks, or to a heading that a document lacks. Only
 * relative links to files with an extension count: a site generator may resolve others. `exists` tells whether the
 * tree has a file or folder; `textOf` is the text of a document of the tree after the change, null if unknown. Each
 * target of a document counts once.
 */
export function brokenLinks(
  documents: readonly ChangedDocument[],
  exists: (path: string) => boolean,
  textOf: (path: string) => string | null,
  reader: DocumentReader = documentReader(),
): LinkCheck {
  const broken: BrokenLink[] = [];
  const unread = new Set<string>();
  let [checked, unchecked] = [0, 0];
  for (const { path, before, after } of documents) {
    const [own, old] = [reader(after), reader(before ?? '')];
    if (!own || !old) {
      unread.add(path);
      continue;
    }
    const seen = new Set(old.links.map(({ target }) => target));
    for (const { target, line } of own.links) {
      if (seen.has(target)) continue;
      seen.add(target);
      checked += 1;
      if (checked > LINK_LIMITS.links || target.length > LINK_LIMITS.targetChars) {
        unchecked += 1;
        continue;
      }
      const why = linkFaultOf(target, { path, own, exists, textOf, reader, unread });
      if (why !== null) broken.push({ path, line, target, why });
    }
  }
  return { broken, leftOut: [...unread, ...(unchecked > 0 ? [counted(unchecked, 'link')] : [])] };
}

function linkFaultOf(
  target: string,
  at: {
    readonly path: string;
    readonly own: ReadDocument;
    readonly exists: (path: string) => boolean;
    readonly textOf: (path: string) => string | null;
    readonly reader: DocumentReader;
    readonly unread: Set<string>;
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
  if (text === null) return null;
  const document = at.reader(text);
  if (document === null) at.unread.add(found);
  return document === null || hasAnchor(document, anchor) ? null : `${found} has no heading #${anchor}`;
}

/** Markdown documents that these documents link to. */
export const linkedDocuments = (
  documents: readonly ChangedDocument[],
  reader: DocumentReader = documentReader(),
): readonly string[] => [
  ...new Set(
    documents.flatMap(({ path, after }) =>
      (reader(after)?.links ?? []).flatMap(({ target }) => {
        const isOwn =
          target.length <= LINK_LIMITS.targetChars && !/^(?:[a-z][a-z0-9+.-]*:|[/#])/i.test(target);
        const found = isOwn ? resolved(path, decoded(target.replace(/[?#].*$/s, '')) ?? '') : null;
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
  const tokens = new MarkdownIt({ html: true }).parse(text, {});
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'inline' && tokens[at - 1]?.type === 'heading_open')
      addHeading(anchors, token.content, token.children ?? []);
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

/** As written and as displayed, with and without an id that a site generator would take from the heading. */
function addHeading(anchors: Set<string>, content: string, children: readonly Token[]): void {
  const [, own] = OWN_ID.exec(content) ?? [];
  if (own) anchors.add(slug(own));
  const shown = children.map((one) => one.content).join('');
  for (const text of [content, shown]) anchors.add(slug(text.replace(OWN_ID, '')));
}

const OWN_ID = /\{#([\w-]+)\}\s*$/;

function addNamed(anchors: Set<string>, html: string): void {
  for (const [, name = ''] of html.matchAll(/\b(?:id|name)\s*=\s*["']([^"']{1,200})["']/gi))
    anchors.add(slug(name));
}
