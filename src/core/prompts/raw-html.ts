import type { Token } from 'markdown-it';

/** Elements that GitHub's sanitizer allows: html-pipeline's allow-list and later additions. */
const ALLOWED: ReadonlySet<string> = new Set(
  (
    'h1 h2 h3 h4 h5 h6 h7 h8 br b i strong em a pre code tt div ins del sup sub p picture ol ul table thead tbody tfoot ' +
    'blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details caption figure figcaption ' +
    'abbr bdo bdi cite dfn mark small span time wbr center section'
  ).split(' '),
);

/**
 * Elements that are dropped with their content, because a page does not show it as written, or only in some browsers.
 */
const DROPPED_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'script style textarea title iframe noembed noframes plaintext xmp template noscript object svg math canvas audio ' +
    'video applet map frameset datalist dialog head'
  ).split(' '),
);

/** Void elements. */
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'wbr']);

/** Fences and `<pre lang>` that GitHub renders as a diagram or a formula. */
export const RENDERED_LANGUAGE = /^(?:mermaid|geojson|topojson|stl|math)$/i;

/** Maximum depth of open raw HTML elements; no real text has more. Default. */
const MAX_OPEN_ELEMENTS = 150;
/** Maximum raw tags of one text. Default; a table of 1,500 cells has fewer. */
const MAX_TAGS = 8_000;

const ATTRIBUTE = String.raw`\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>${'`'}]+|'[^']*'|"[^"]*"))?`;
const OPENING_TAG = new RegExp(String.raw`<([A-Za-z][A-Za-z0-9-]*)((?:${ATTRIBUTE})*)\s*/?>`, 'y');
const CLOSING_TAG = /<\/([A-Za-z][A-Za-z0-9-]*)\s*>/y;
/** Attributes that hide an element in browsers that receive them. */
const HIDING_ATTRIBUTES =
  /\s(?:hidden\b|style\s*=[^>]*(?:display|visib|opacity|color|size|position|indent|clip|height|width|transform))/i;
/** Attributes that only set size or position. */
const PLAIN_ATTRIBUTES =
  /^(?:\s+(?:align|valign|width|height|open|border|type|start|colspan|rowspan|dir)(?:\s*=\s*["']?(?:[\d.]{1,6}(?:%|px)?|left|right|center|top|middle|bottom|disc|circle|square|open|true|auto|ltr|1|a|i)?["']?)?)*\s*$/i;

/** Elements that are hidden or smaller than the surrounding text. */
const MAKES_SMALL = /^(?:rp|rt|sub|sup|small|code|tt|samp|kbd|bdo)$/;

/** Elements that make a browser close an open paragraph; elements open inside them stay open. */
const ENDS_PARAGRAPH =
  /^(?:h[1-6]|pre|div|p|ol|ul|li|dl|dt|dd|table|blockquote|hr|summary|details|figure|figcaption|center|section)$/;

const isHidden = (name: string, attributes: string): boolean =>
  !VOID.has(name) && ALLOWED.has(name) && (/^(?:rp|bdo)$/.test(name) || HIDING_ATTRIBUTES.test(attributes));

/** Marks omitted content of `n` UTF-16 units. Raw HTML cannot produce this tag. */
export const omissionTag = (length: number): string => `<x-omitted n="${length}"></x-omitted>`;

/**
 * Sanitizes the raw HTML of a text, piece by piece: tags lose their attributes; disallowed elements lose their tags
 * or are dropped with their content. Parsers disagree on where comments and malformed tags end, so the reading that
 * hides the most is used, and nothing that GitHub may hide is kept.
 */
export class RawHtml {
  readonly #closers = new Map<string, number>();
  /** Names of the open elements that are being dropped. */
  #dropping: string[] = [];
  #after = '';
  #ended = false;
  /** A tag in this block closed its paragraph. */
  #pastParagraph = false;
  /** Number of blocks that ended while elements were dropped. */
  #blocksWithin = 0;
  /** Number of open paragraph-ending elements in dropped content. */
  #blocksOpen = 0;
  #open = 0;
  #tags = 0;

  constructor(pieces: readonly string[]) {
    for (const piece of pieces) {
      for (const [, name = ''] of piece.matchAll(/<\/([A-Za-z][A-Za-z0-9-]{0,20})\s*>/g)) {
        const lower = name.toLowerCase();
        this.#closers.set(lower, (this.#closers.get(lower) ?? 0) + 1);
      }
    }
  }

  /** Converts the next block of HTML. Versions of Markdown differ on whether `textarea` begins and ends one. */
  block(piece: string): string {
    const doubtful = piece.search(/<\/?textarea/i);
    if (doubtful < 0) return this.convert(piece) + this.endOfBlock(false);
    const before = this.convert(piece.slice(0, doubtful));
    return this.#ended ? before : before + this.#rest(piece, doubtful).html;
  }

  /** Converts the next piece. */
  convert(piece: string, inLine = false): string {
    // Older versions of Markdown reject an inline comment that contains `--` and parse the tags in it.
    if (
      inLine &&
      piece.startsWith('<!--') &&
      /--|-$|^-?>/.test(piece.slice(4, -3)) &&
      piece.includes('<', 1)
    ) {
      return this.#ended ? '' : this.#rest(piece, 0).html;
    }

    let out = '';
    let at = 0;
    while (at < piece.length && !this.#ended) {
      const from = piece.indexOf('<', at);
      if (from < 0) break;
      out += piece.slice(at, from);
      const { html, to } = this.#markup(piece, from, inLine);
      out += html;
      at = to;
    }
    return out + (this.#ended ? '' : piece.slice(at));
  }

  /** Ends a block: an unclosed dropped element ends with its block. */
  endOfBlock(inLine = true): string {
    const past = this.#pastParagraph;
    this.#pastParagraph = false;
    if (this.#dropping.length > 0) this.#blocksWithin += 1;
    const open = this.#dropping.some((name) => (this.#closers.get(name) ?? 0) > 0);
    if (this.#dropping.length === 0 || open) return '';
    // An unclosed hidden element hides everything that follows; in a paragraph, one of these ends with it.
    const ends = (name: string): boolean =>
      DROPPED_ELEMENTS.has(name) || (inLine && (name === 'p' || (name === 'rp' && !past)));
    return this.#dropping.every(ends) ? this.#endDropping() : this.#rest('', 0).html;
  }

  #endDropping(): string {
    this.#dropping = [];
    this.#blocksWithin = 0;
    this.#blocksOpen = 0;
    const after = this.#after;
    this.#after = '';
    return `</textarea>${after}`;
  }

  #markup(piece: string, from: number, inLine: boolean): { readonly html: string; readonly to: number } {
    if (/^<(?:[!?]|\/(?![A-Za-z]))/.test(piece.slice(from, from + 3))) return this.#declaration(piece, from);
    OPENING_TAG.lastIndex = from;
    const opening = OPENING_TAG.exec(piece);
    // GitHub shows some tags as text; their attributes then become markup.
    if (opening && DROPPED_ELEMENTS.has((opening[1] ?? '').toLowerCase()) && opening[0].includes('<', 1)) {
      return this.#rest(piece, from);
    }
    if (opening) return { html: this.#opening(opening), to: from + opening[0].length };
    CLOSING_TAG.lastIndex = from;
    const closing = CLOSING_TAG.exec(piece);
    if (closing && this.#isIgnored(closing[1] ?? '', inLine)) return this.#rest(piece, from);
    if (closing) return { html: this.#closing(closing), to: from + closing[0].length };
    if (!/^<\/?[A-Za-z]/.test(piece.slice(from, from + 3))) return { html: '&lt;', to: from + 1 };
    // Not a tag in Markdown, but browsers parse it as one.
    const broken = /^<[^<>"'`]*>/.exec(piece.slice(from, from + 1_000))?.[0];
    if (broken === undefined) return this.#rest(piece, from);
    return { html: omissionTag(broken.length), to: from + broken.length };
  }

  /** Handles comments, declarations and the like. */
  #declaration(piece: string, from: number): { readonly html: string; readonly to: number } {
    const end = piece.startsWith('<!--', from)
      ? '-->'
      : piece.startsWith('<?', from)
        ? '?>'
        : piece.startsWith('<![CDATA[', from)
          ? ']]>'
          : '>';
    // Some browsers end comments immediately or at `--!>`; what remains may be markup.
    const until = piece.indexOf(end, from + (end === '-->' ? 4 : 2));
    const early = piece.indexOf('--!>', from);
    if (/^<!---?>/.test(piece.slice(from, from + 6)) || (early >= 0 && early < until))
      return this.#rest(piece, from);
    // Only comments have a reliable end: in browsers all others end at the first `>`.
    const plain = end === '-->' || !/[<>]/.test(piece.slice(from + 1, until));
    if (until < 0 || !plain) return this.#rest(piece, from);
    return { html: omissionTag(until + end.length - from), to: until + end.length };
  }

  /** Drops everything that follows, because it may be hidden. */
  hideRest(): string {
    return this.#ended ? '' : this.#rest('', 0).html;
  }

  /** Drops the rest of this piece, because it may be hidden. */
  #rest(piece: string, from: number): { readonly html: string; readonly to: number } {
    this.#ended = true;
    const close = this.#dropping.length === 0 ? '' : '</textarea>';
    return { html: `${close}${omissionTag(piece.length - from)}<plaintext>`, to: piece.length };
  }

  #opening([tag, written = '', attributes = '']: RegExpExecArray): string {
    const name = written.toLowerCase();
    this.#pastParagraph ||= ENDS_PARAGRAPH.test(name);
    if (this.#dropping.length > 0) return this.#openingWithin(name, attributes);
    if (DROPPED_ELEMENTS.has(name) || isHidden(name, attributes)) {
      this.#dropping = [name];
      return `${omissionTag(tag.length)}<textarea>`;
    }
    if (name === 'img') return `<img n="${tag.length}">`;
    if (!ALLOWED.has(name)) return omissionTag(tag.length);
    this.#tags += 1;
    if (!VOID.has(name)) this.#open += 1;
    if (this.#open > MAX_OPEN_ELEMENTS || this.#tags > MAX_TAGS) return this.#rest('', 0).html;
    const language = name === 'pre' ? /\slang\s*=\s*["']?([\w-]+)/i.exec(attributes)?.[1] : undefined;
    const kept = language && RENDERED_LANGUAGE.test(language) ? ` lang="${language}"` : '';
    const left = PLAIN_ATTRIBUTES.test(attributes) ? '' : omissionTag(attributes.length);
    return `<${name}${kept}>${VOID.has(name) || name === 'table' ? '' : left}`;
  }

  /** Handles an opening tag inside a dropped element. */
  #openingWithin(name: string, attributes: string): string {
    if (ENDS_PARAGRAPH.test(name)) this.#blocksOpen += 1;
    if (DROPPED_ELEMENTS.has(name) || this.#dropping.includes(name)) this.#dropping.push(name);
    // If GitHub shows the outer tag as text, this one hides what follows even after the outer end tag.
    if (MAKES_SMALL.test(name) || HIDING_ATTRIBUTES.test(attributes)) this.#after += `<${name} h>`;
    return '';
  }

  /** Whether a browser ignores this end tag of a hidden element because a block is open in it. */
  #isIgnored(written: string, inLine: boolean): boolean {
    const name = written.toLowerCase();
    if (this.#dropping[0] !== name || DROPPED_ELEMENTS.has(name) || ENDS_PARAGRAPH.test(name)) return false;
    return this.#blocksOpen > 0 || (inLine && this.#blocksWithin > 0);
  }

  #closing([tag, written = '']: RegExpExecArray): string {
    const name = written.toLowerCase();
    this.#pastParagraph ||= name === 'p';
    this.#closers.set(name, (this.#closers.get(name) ?? 1) - 1);
    if (this.#dropping.length > 0) {
      if (ENDS_PARAGRAPH.test(name)) this.#blocksOpen = Math.max(0, this.#blocksOpen - 1);
      const at = this.#dropping.lastIndexOf(name);
      if (at >= 0) this.#dropping.splice(at, 1);
      return this.#dropping.length > 0 ? '' : this.#endDropping();
    }
    if (!ALLOWED.has(name)) return omissionTag(tag.length);
    this.#open = Math.max(0, this.#open - 1);
    return VOID.has(name) ? '' : `</${name}>`;
  }
}

/**
 * Language names allowed after a code fence. GitHub uses them for highlighting without showing them, so only names
 * from this list are kept: they cannot carry a message.
 */
const FENCE_LANGUAGES: ReadonlySet<string> = new Set(
  (
    'ada apache asm assembly awk bash bat batch bibtex bicep c c# c++ cfg clojure cmake cmd coffee coffeescript commonlisp conf ' +
    'console cpp crystal cs csharp css csv cuda cypher cython d dart diff docker dockerfile dotenv elisp elixir elm ' +
    'erb erlang ex f# fish fortran fs fsharp gdscript gherkin git gitignore gleam glsl go golang gql gradle graphql groovy ' +
    'h haml handlebars haskell hcl hjson hlsl hpp hs html http ini java javascript jinja jinja2 js json json5 jsonc ' +
    'jsonl jsonnet jsx julia kotlin kt kts latex less liquid lisp log lua makefile markdown matlab md mdx mjs nginx nim ' +
    'nix nu objc objective-c objectivec ocaml odin pascal patch perl php pl plain plaintext plsql postgres powershell ' +
    'prisma prolog properties proto protobuf ps1 pug puppet py py3 pycon pyi python python3 pytb q# qml r racket rb ' +
    'react reg regex rego requirements rs rst ruby rust sass scala scheme scss sh shell shell-session shellsession ' +
    'smalltalk sml solidity sparql sql sqlite svelte svg swift systemd systemverilog tcl terraform tex text tf thrift ' +
    'toml traceback ts tsql tsv tsx txt typescript typst vala vb vba vbnet verilog vhdl vim viml vue wasm wat webidl wgsl ' +
    'xaml xml xquery yaml yml zig zsh'
  ).split(' '),
);

export const isLanguage = (name: string): boolean => FENCE_LANGUAGES.has(name.toLowerCase());

/** A link definition, with a loose pattern for its address: parsers differ. */
const DEFINITION =
  /^\s*\[(?!\^)(?:[^[\]\\]|\\.){1,999}\]:\s*\S+[ \t]*(?:\n|$|["'(][^\n]*["')][ \t]*(?:\n|$))/;
/** Inline markup that no browser shows. */
const HIDDEN_MARKUP = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<![A-Z][^>]*>|<!\[CDATA\[[\s\S]*?\]\]>/;
/** The delimiter row of a table that this parser did not recognize. */
const TABLE_RULE = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Whether GitHub may parse a part of a paragraph as something that its page does not show. */
export function isDoubtful({ content, children }: Token): boolean {
  if (DEFINITION.test(content)) return true;
  // After one failed match the parser does not look for another.
  const missed = (children ?? []).some(({ type, content: text }) => type === 'text' && /<[!?]/.test(text));
  if (missed && HIDDEN_MARKUP.test(content)) return true;
  const lines = content.split('\n');
  // The header row may be a line that this parser took for a definition.
  const rule = lines.findIndex((line) => line.includes('|') && TABLE_RULE.test(line));
  if (rule < 0) return false;
  const columns = cellsOf(lines[rule] ?? '').length;
  return lines.slice(rule + 1).some((line) => surplusLength(line, columns) > 0);
}

/** Characters in the cells of a row beyond the number of columns of its table. */
export function surplusLength(line: string, columns: number): number {
  if (columns === 0) return 0;
  return cellsOf(line)
    .slice(columns)
    .reduce((sum, cell) => sum + cell.trim().length, 0);
}

const cellsOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^[\s>]*\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/);
