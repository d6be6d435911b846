/** What GitHub's sanitiser lets through: html-pipeline's allow-list, and what it has gained since. */
const ALLOWED: ReadonlySet<string> = new Set(
  (
    'h1 h2 h3 h4 h5 h6 h7 h8 br b i strong em a pre code tt div ins del sup sub p picture ol ul table thead tbody tfoot ' +
    'blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details caption figure figcaption ' +
    'abbr bdo bdi cite dfn mark small span time wbr center section'
  ).split(' '),
);

/** Elements whose contents a page does not show as they stand, or shows only in some browsers: left out with them. */
const DROPPED: ReadonlySet<string> = new Set(
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
const MOST_OPEN = 150;
/** Raw tags of one text. Our default; a table of 1,500 cells has fewer. */
const MOST_TAGS = 8_000;

const ATTRIBUTE = String.raw`\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>${'`'}]+|'[^']*'|"[^"]*"))?`;
const OPENING = new RegExp(String.raw`<([A-Za-z][A-Za-z0-9-]*)((?:${ATTRIBUTE})*)\s*/?>`, 'y');
const CLOSING = /<\/([A-Za-z][A-Za-z0-9-]*)\s*>/y;
/** Attributes that hide an element in browsers that are let see them. */
const HIDING =
  /\s(?:hidden\b|style\s*=[^>]*(?:display|visib|opacity|color|size|position|indent|clip|height|width|transform))/i;
/** Attributes that say nothing but how wide, tall or where something is. */
const PLAIN_ATTRIBUTES =
  /^(?:\s+(?:align|valign|width|height|open|border|type|start|colspan|rowspan|dir)(?:\s*=\s*["']?(?:[\d.]{1,6}(?:%|px)?|left|right|center|top|middle|bottom|disc|circle|square|open|true|auto|ltr|1|a|i)?["']?)?)*\s*$/i;

/** Stands where something was left out: `n` counts its UTF-16 units. Raw HTML cannot write it. */
export const omitted = (length: number): string => `<x-omitted n="${length}"></x-omitted>`;

/**
 * Raw HTML of a text, piece by piece in its order, made fit for a parser: tags lose their attributes, elements that GitHub
 * does not allow lose their tags or go with their contents. Parsers differ in where comments and broken tags end; of all
 * readings the one is taken that hides the most, so that nothing is kept that GitHub may hide.
 */
export class RawHtml {
  readonly #closers = new Map<string, number>();
  #dropping: { readonly name: string; depth: number } | null = null;
  #ended = false;
  #open = 0;
  #tags = 0;

  constructor(pieces: readonly string[]) {
    for (const piece of pieces) {
      for (const [, name = ''] of piece.matchAll(/<\/([A-Za-z][A-Za-z0-9-]{0,20})\s*>/g)) {
        const lower = name.toLowerCase();
        if (DROPPED.has(lower)) this.#closers.set(lower, (this.#closers.get(lower) ?? 0) + 1);
      }
    }
  }

  /** The next piece. */
  convert(piece: string): string {
    let out = '';
    let at = 0;
    while (at < piece.length && !this.#ended) {
      const from = piece.indexOf('<', at);
      if (from < 0) break;
      out += piece.slice(at, from);
      const { html, to } = this.#markup(piece, from);
      out += html;
      at = to;
    }
    return out + (this.#ended ? '' : piece.slice(at));
  }

  /** At the end of a block: an element that is dropped and is closed nowhere ends with its block. */
  endOfBlock(): string {
    const dropping = this.#dropping;
    if (dropping === null || (this.#closers.get(dropping.name) ?? 0) > 0) return '';
    this.#dropping = null;
    return '</textarea>';
  }

  #markup(piece: string, from: number): { readonly html: string; readonly to: number } {
    if (/^<(?:[!?]|\/(?![A-Za-z]))/.test(piece.slice(from, from + 3))) return this.#declaration(piece, from);
    OPENING.lastIndex = from;
    const opening = OPENING.exec(piece);
    // GitHub writes some tags as text: what stands in their attributes is markup then.
    if (opening && DROPPED.has((opening[1] ?? '').toLowerCase()) && opening[0].includes('<', 1)) {
      return this.#rest(piece, from);
    }
    if (opening) return { html: this.#opening(opening), to: from + opening[0].length };
    CLOSING.lastIndex = from;
    const closing = CLOSING.exec(piece);
    if (closing) return { html: this.#closing(closing), to: from + closing[0].length };
    if (!/^<\/?[A-Za-z]/.test(piece.slice(from, from + 3))) return { html: '&lt;', to: from + 1 };
    // Not a tag to Markdown, but browsers make one of it.
    const broken = /^<[^<>"'`]*>/.exec(piece.slice(from, from + 1_000))?.[0];
    if (broken === undefined) return this.#rest(piece, from);
    return { html: omitted(broken.length), to: from + broken.length };
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
    const until = piece.indexOf(end, from + (end === '-->' ? 4 : 2));
    if (until < 0) return this.#rest(piece, from);
    return { html: omitted(until + end.length - from), to: until + end.length };
  }

  /** Nothing behind this place is shown for certain. */
  #rest(piece: string, from: number): { readonly html: string; readonly to: number } {
    this.#ended = true;
    const close = this.#dropping === null ? '' : '</textarea>';
    return { html: `${close}${omitted(piece.length - from)}<plaintext>`, to: piece.length };
  }

  #opening([tag, written = '', attributes = '']: RegExpExecArray): string {
    const name = written.toLowerCase();
    if (this.#dropping !== null) {
      if (name === this.#dropping.name) this.#dropping.depth += 1;
      return '';
    }
    if (DROPPED.has(name)) {
      this.#dropping = { name, depth: 1 };
      return `${omitted(tag.length)}<textarea>`;
    }
    if (name === 'img') return `<img n="${tag.length}">`;
    if (!ALLOWED.has(name)) return omitted(tag.length);
    this.#tags += 1;
    if (!VOID.has(name)) this.#open += 1;
    if (this.#open > MOST_OPEN || this.#tags > MOST_TAGS) return this.#rest('', 0).html;
    const language = name === 'pre' ? /\slang\s*=\s*["']?([\w-]+)/i.exec(attributes)?.[1] : undefined;
    const hidden = HIDING.test(attributes) || name === 'bdo' ? ' h' : '';
    const kept = language && RENDERED_LANGUAGE.test(language) ? ` lang="${language}"` : '';
    const left = PLAIN_ATTRIBUTES.test(attributes) ? '' : omitted(attributes.length);
    return `<${name}${hidden}${kept}>${VOID.has(name) || name === 'table' ? '' : left}`;
  }

  #closing([tag, written = '']: RegExpExecArray): string {
    const name = written.toLowerCase();
    if (DROPPED.has(name)) this.#closers.set(name, (this.#closers.get(name) ?? 1) - 1);
    if (this.#dropping !== null) {
      if (name !== this.#dropping.name) return '';
      this.#dropping.depth -= 1;
      if (this.#dropping.depth > 0) return '';
      this.#dropping = null;
      return '</textarea>';
    }
    if (!ALLOWED.has(name)) return omitted(tag.length);
    this.#open = Math.max(0, this.#open - 1);
    return VOID.has(name) ? '' : `</${name}>`;
  }
}
