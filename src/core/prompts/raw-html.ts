import type { Token } from 'markdown-it';

/** What GitHub's sanitiser lets through: html-pipeline's allow-list, and what it has gained since. */
const ALLOWED: ReadonlySet<string> = new Set(
  (
    'h1 h2 h3 h4 h5 h6 h7 h8 br b i strong em a pre code tt div ins del sup sub p picture ol ul table thead tbody tfoot ' +
    'blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details caption figure figcaption ' +
    'abbr bdo bdi cite dfn mark small span time wbr center section'
  ).split(' '),
);

/** Elements whose contents a page does not show as they stand, or shows only in some browsers: left out with them. */
const DROPPED_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'script style textarea title iframe noembed noframes plaintext xmp template noscript object svg math canvas audio ' +
    'video applet map frameset datalist dialog head'
  ).split(' '),
);

/** Tags without a text of their own. */
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'wbr']);

/** Fences and `<pre lang>` that GitHub shows as a picture or a formula made from the text. */
export const RENDERED_LANGUAGE = /^(?:mermaid|geojson|topojson|stl|math)$/i;

/** Open elements of raw HTML, one inside another; more are written by nobody. Our default. */
const MAX_OPEN_ELEMENTS = 150;
/** Raw tags of one text. Our default; a table of 1,500 cells has fewer. */
const MAX_TAGS = 8_000;

const ATTRIBUTE = String.raw`\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>${'`'}]+|'[^']*'|"[^"]*"))?`;
const OPENING_TAG = new RegExp(String.raw`<([A-Za-z][A-Za-z0-9-]*)((?:${ATTRIBUTE})*)\s*/?>`, 'y');
const CLOSING_TAG = /<\/([A-Za-z][A-Za-z0-9-]*)\s*>/y;
/** Attributes that hide an element in browsers that are let see them. */
const HIDING_ATTRIBUTES =
  /\s(?:hidden\b|style\s*=[^>]*(?:display|visib|opacity|color|size|position|indent|clip|height|width|transform))/i;
/** Attributes that say nothing but how wide, tall or where something is. */
const PLAIN_ATTRIBUTES =
  /^(?:\s+(?:align|valign|width|height|open|border|type|start|colspan|rowspan|dir)(?:\s*=\s*["']?(?:[\d.]{1,6}(?:%|px)?|left|right|center|top|middle|bottom|disc|circle|square|open|true|auto|ltr|1|a|i)?["']?)?)*\s*$/i;

/** Elements that are hidden or smaller than the text around them. */
const MAKES_SMALL = /^(?:rp|rt|sub|sup|small|code|tt|samp|kbd|bdo)$/;

/** Elements before which a browser ends an open paragraph: what is open in them does not end with it. */
const ENDS_PARAGRAPH =
  /^(?:h[1-6]|pre|div|p|ol|ul|li|dl|dt|dd|table|blockquote|hr|summary|details|figure|figcaption|center|section)$/;

const isHidden = (name: string, attributes: string): boolean =>
  !VOID.has(name) && ALLOWED.has(name) && (/^(?:rp|bdo)$/.test(name) || HIDING_ATTRIBUTES.test(attributes));

/** Stands where something was left out: `n` counts its UTF-16 units. Raw HTML cannot write it. */
export const omissionTag = (length: number): string => `<x-omitted n="${length}"></x-omitted>`;

/**
 * Raw HTML of a text, piece by piece in its order, made fit for a parser: tags lose their attributes, elements that GitHub
 * does not allow lose their tags or go with their contents. Parsers differ in where comments and broken tags end; of all
 * readings the one is taken that hides the most, so that nothing is kept that GitHub may hide.
 */
export class RawHtml {
  readonly #closers = new Map<string, number>();
  /** Names of the dropped elements that are open. */
  #dropping: string[] = [];
  #after = '';
  #ended = false;
  /** A tag of this block ended the paragraph that the block is. */
  #pastParagraph = false;
  /** Blocks that ended while elements were dropped. */
  #blocksWithin = 0;
  /** Elements that end a paragraph, and are open in what is dropped. */
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

  /** The next block of HTML. Whether `textarea` begins and ends one differs between versions of Markdown. */
  block(piece: string): string {
    const doubtful = piece.search(/<\/?textarea/i);
    if (doubtful < 0) return this.convert(piece) + this.endOfBlock(false);
    const before = this.convert(piece.slice(0, doubtful));
    return this.#ended ? before : before + this.#rest(piece, doubtful).html;
  }

  /** The next piece. */
  convert(piece: string, inLine = false): string {
    // Older versions of Markdown see no comment in a line where `--` stands in it, but the tags in it.
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

  /** At the end of a block: an element that is dropped and is closed nowhere ends with its block. */
  endOfBlock(inLine = true): string {
    const past = this.#pastParagraph;
    this.#pastParagraph = false;
    if (this.#dropping.length > 0) this.#blocksWithin += 1;
    const open = this.#dropping.some((name) => (this.#closers.get(name) ?? 0) > 0);
    if (this.#dropping.length === 0 || open) return '';
    // A hidden element that is closed nowhere hides all that follows; in a paragraph, one of these ends with it.
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
    // GitHub writes some tags as text: what stands in their attributes is markup then.
    if (opening && DROPPED_ELEMENTS.has((opening[1] ?? '').toLowerCase()) && opening[0].includes('<', 1)) {
      return this.#rest(piece, from);
    }
    if (opening) return { html: this.#opening(opening), to: from + opening[0].length };
    CLOSING_TAG.lastIndex = from;
    const closing = CLOSING_TAG.exec(piece);
    if (closing && this.#isIgnored(closing[1] ?? '', inLine)) return this.#rest(piece, from);
    if (closing) return { html: this.#closing(closing), to: from + closing[0].length };
    if (!/^<\/?[A-Za-z]/.test(piece.slice(from, from + 3))) return { html: '&lt;', to: from + 1 };
    // Not a tag to Markdown, but browsers make one of it.
    const broken = /^<[^<>"'`]*>/.exec(piece.slice(from, from + 1_000))?.[0];
    if (broken === undefined) return this.#rest(piece, from);
    return { html: omissionTag(broken.length), to: from + broken.length };
  }

  /** Comments, declarations and the like. */
  #declaration(piece: string, from: number): { readonly html: string; readonly to: number } {
    const end = piece.startsWith('<!--', from)
      ? '-->'
      : piece.startsWith('<?', from)
        ? '?>'
        : piece.startsWith('<![CDATA[', from)
          ? ']]>'
          : '>';
    // Comments that browsers end at once or at `--!>`, and others do not: what stands in them may be markup.
    const until = piece.indexOf(end, from + (end === '-->' ? 4 : 2));
    const early = piece.indexOf('--!>', from);
    if (/^<!---?>/.test(piece.slice(from, from + 6)) || (early >= 0 && early < until))
      return this.#rest(piece, from);
    // Only comments end where they say for certain: all others end at the first `>` in browsers.
    const plain = end === '-->' || !/[<>]/.test(piece.slice(from + 1, until));
    if (until < 0 || !plain) return this.#rest(piece, from);
    return { html: omissionTag(until + end.length - from), to: until + end.length };
  }

  /** Nothing that follows is shown for certain. */
  hideRest(): string {
    return this.#ended ? '' : this.#rest('', 0).html;
  }

  /** Nothing behind this place is shown for certain. */
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

  /** In an element that is dropped. */
  #openingWithin(name: string, attributes: string): string {
    if (ENDS_PARAGRAPH.test(name)) this.#blocksOpen += 1;
    if (DROPPED_ELEMENTS.has(name) || this.#dropping.includes(name)) this.#dropping.push(name);
    // Where GitHub writes the outer tag as text, this one hides what follows even behind its end.
    if (MAKES_SMALL.test(name) || HIDING_ATTRIBUTES.test(attributes)) this.#after += `<${name} h>`;
    return '';
  }

  /** Whether a browser does not end the hidden element at this tag: a block is open in it. */
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
 * Names of languages that people write behind the bar of a fence. GitHub colours by them and does not show them, so that
 * only names of this list are kept: none of them says anything but how the code is written.
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

/** A definition but for what is odd in its address: parsers differ. */
const DEFINITION =
  /^\s*\[(?!\^)(?:[^[\]\\]|\\.){1,999}\]:\s*\S+[ \t]*(?:\n|$|["'(][^\n]*["')][ \t]*(?:\n|$))/;
/** Markup in a line that no browser shows. */
const HIDDEN_MARKUP = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<![A-Z][^>]*>|<!\[CDATA\[[\s\S]*?\]\]>/;
/** The second line of a table, which this parser saw none in. */
const TABLE_RULE = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Whether GitHub may take a part of a paragraph for something that its page does not show. */
export function isDoubtful({ content, children }: Token): boolean {
  if (DEFINITION.test(content)) return true;
  // The parser looks for no further one where it has missed one.
  const missed = (children ?? []).some(({ type, content: text }) => type === 'text' && /<[!?]/.test(text));
  if (missed && HIDDEN_MARKUP.test(content)) return true;
  const lines = content.split('\n');
  // Its head may be a line that this parser took for a definition.
  const rule = lines.findIndex((line) => line.includes('|') && TABLE_RULE.test(line));
  if (rule < 0) return false;
  const columns = cellsOf(lines[rule] ?? '').length;
  return lines.slice(rule + 1).some((line) => surplusLength(line, columns) > 0);
}

/** Characters in the cells of a row beyond the width of its table. */
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
