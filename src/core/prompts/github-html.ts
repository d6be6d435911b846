import MarkdownIt, { type Env, type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import {
  isDoubtful,
  isLanguage,
  omissionTag,
  RawHtml,
  RENDERED_LANGUAGE,
  surplusLength,
} from './raw-html.ts';

const PARSER = new MarkdownIt({ html: true, linkify: false, typographer: false });
// GitHub parses a link first and removes its address later. Rejecting the link here would show its title as text.
PARSER.validateLink = () => true;
PARSER.normalizeLink = (address) => address;
PARSER.use(footnotes);
// On GitHub a footnote also ends a quotation and a list.
const definition = PARSER.block.ruler.getRules('').find(({ name }) => name === 'footnote_def');
if (definition) {
  PARSER.block.ruler.at('footnote_def', definition, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
}
PARSER.disable(['footnote_inline', 'footnote_tail']);
// On GitHub a table header is paragraph text: a line that begins a list, a fence, HTML or a heading is not one.
const tableRule = PARSER.block.ruler.getRules('').find(({ name }) => name === 'table');
if (tableRule) {
  PARSER.disable('table');
  PARSER.block.ruler.after('heading', 'table_of_paragraph', tableRule, { alt: ['paragraph', 'reference'] });
}

/** Marks a lowercase `<!doctype`, which is HTML to this parser only. The character occurs in no text. */
const NO_DECLARATION = '\ufdd1';

/**
 * Renders Markdown to the HTML that GitHub would show, with `x-omitted` in place of content that is not visible text.
 * Attributes are internal: `d` is the mark that began emphasis or a list, `u` an address that the page does not show.
 */
export function githubHtml(written: string): string {
  const env: Env = {};
  const text = written.replaceAll(NO_DECLARATION, '').replace(/<!(?=[a-z])/g, `<!${NO_DECLARATION}`);
  const tokens = PARSER.parse(text, env);
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const uncovered = uncoveredLines(tokens, lines);
  const { body, notes } = footnotesOf(tokens, lines);
  const writer = new HtmlWriter(lines, uncovered, notes);
  return writer.write(body);
}

/** Block tokens that represent the text of their lines. Containers are not among them. */
const LEAF_BLOCKS: ReadonlySet<string> = new Set([
  'paragraph_open',
  'heading_open',
  'fence',
  'code_block',
  'html_block',
  'hr',
  'table_open',
]);

/** For each line, how much of it no block shows: definitions, and content nested deeper than the parser goes. */
function uncoveredLines(tokens: readonly Token[], lines: readonly string[]): Map<number, number> {
  const covered = new Set<number>();
  for (const { type, map } of tokens) {
    if (map === null || !LEAF_BLOCKS.has(type)) continue;
    for (let line = map[0]; line < map[1]; line += 1) covered.add(line);
  }
  const uncovered = new Map<number, number>();
  for (const [line, written] of lines.entries()) {
    if (!covered.has(line) && /[^\s>*+\-.)\d]/.test(written)) uncovered.set(line, written.trim().length);
  }
  return uncovered;
}

interface Footnote {
  readonly tokens: readonly Token[];
  readonly length: number;
}

/** Separates footnotes from the text. Of equal names, ignoring case, only the first is kept as a name. */
function footnotesOf(
  tokens: readonly Token[],
  lines: readonly string[],
): {
  readonly body: readonly Token[];
  readonly notes: ReadonlyMap<string, Footnote>;
} {
  const notes = new Map<string, Footnote>();
  const body: Token[] = [];
  const open: { readonly name: string; readonly tokens: Token[] }[] = [];
  let absorbed = { from: 0, to: 0 };
  for (const [at, token] of tokens.entries()) {
    if (at >= absorbed.from && at < absorbed.to) continue;
    if (token.type === 'footnote_reference_open') {
      open.push({ name: footnoteName(token), tokens: [] });
      continue;
    }
    if (token.type !== 'footnote_reference_close') {
      (open.at(-1)?.tokens ?? body).push(token);
      continue;
    }
    const ended = open.pop();
    if (ended === undefined) continue;
    const next = tokens.findIndex(({ type }, place) => place > at && !ENDS_CONTAINER.test(type));
    if (isLazyParagraph(tokens[next], lines)) absorbed = { from: next, to: next + 3 };
    if (absorbed.from > at) ended.tokens.push(...tokens.slice(absorbed.from, absorbed.to));
    const length = ended.tokens.reduce((sum, { content }) => sum + content.length, 0);
    const taken = ended.name === '' || notes.has(ended.name);
    notes.set(taken ? `${ended.name}\n${notes.size}` : ended.name, { tokens: ended.tokens, length });
  }
  return { body, notes };
}

const ENDS_CONTAINER = /^(?:blockquote|list_item|bullet_list|ordered_list)_close$/;

/** Whether the following block continues a footnote: a paragraph without a blank line before it. */
const isLazyParagraph = (token: Token | undefined, lines: readonly string[]): boolean =>
  token?.type === 'paragraph_open' && token.map !== null && lines[token.map[0] - 1]?.trim() !== '';

const footnoteName = ({ meta }: Token): string => PARSER.utils.normalizeReference(String(meta?.label ?? ''));

const escapedHtml = (text: string): string => PARSER.utils.escapeHtml(text);

const escapedCode = (text: string): string => escapedHtml(text.replaceAll(NO_DECLARATION, ''));

/** Removes declarations, which other versions of the parser hide. */
const escapedText = (text: string): string =>
  text
    .split(/(<!\ufdd1[^>]*>?)/)
    .map((part, at) => (at % 2 === 1 ? omissionTag(part.length - 1) : escapedHtml(part)))
    .join('');

class HtmlWriter {
  readonly #lines: readonly string[];
  readonly #uncovered: Map<number, number>;
  readonly #definitions: ReadonlySet<number>;
  readonly #notes: ReadonlyMap<string, Footnote>;
  /** Names of footnotes in the order of their references. */
  readonly #referred: string[] = [];
  #raw = new RawHtml([]);
  #columns = 0;
  #cells = 0;

  constructor(
    lines: readonly string[],
    uncovered: Map<number, number>,
    notes: ReadonlyMap<string, Footnote>,
  ) {
    this.#lines = lines;
    this.#uncovered = uncovered;
    this.#definitions = new Set(uncovered.keys());
    this.#notes = notes;
  }

  write(body: readonly Token[]): string {
    this.#raw = new RawHtml([
      ...rawPieces(body),
      ...[...this.#notes.values()].flatMap((n) => rawPieces(n.tokens)),
    ]);
    let html = this.#blocks(body) + this.#passed(Number.POSITIVE_INFINITY);
    // A footnote may refer to others, so the list grows during the loop.
    for (let at = 0; at < this.#referred.length; at += 1) {
      const note = this.#notes.get(this.#referred[at] ?? '');
      if (note) html += `<x-note n="${at + 1}">${this.#blocks(note.tokens)}</x-note>`;
    }
    for (const [name, { length }] of this.#notes) {
      if (!this.#referred.includes(name)) html += omissionTag(length);
    }
    return html;
  }

  #blocks(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#before(token) + this.#block(token)).join('');
  }

  /** Text on earlier lines that no block shows. */
  #before({ type, map }: Token): string {
    return map !== null && LEAF_BLOCKS.has(type) ? this.#passed(map[0]) : '';
  }

  #passed(line: number): string {
    let length = 0;
    for (const [at, size] of this.#uncovered) {
      if (at >= line) break;
      length += size;
      this.#uncovered.delete(at);
    }
    return length === 0 ? '' : omissionTag(length);
  }

  #block(token: Token): string {
    switch (token.type) {
      case 'inline':
        return (
          (isDoubtful(token) ? this.#omitted(token) : this.#inline(token.children ?? [])) +
          this.#raw.endOfBlock()
        );
      case 'code_block': {
        // On GitHub an indented line continues a paragraph, including a definition before it.
        const definition = (token.map?.[0] ?? 0) - 1;
        return this.#definitions.has(definition) ? omissionTag(token.content.length) : fence(token);
      }
      case 'fence':
        return fence(token);
      case 'html_block':
        return this.#raw.block(token.content.replaceAll(NO_DECLARATION, ''));
      case 'hr':
        return '<hr>';
      case 'ordered_list_open':
        return `<ol start="${Number(token.attrGet('start') ?? 1)}">`;
      case 'bullet_list_open':
        return `<ul d="${token.markup}">`;
      default:
        if (token.hidden || token.tag === '') return '';
        return token.type.endsWith('_close') ? this.#closed(token) : this.#opened(token);
    }
  }

  /** A tag inside omitted content may hide what follows. */
  #omitted({ content, children }: Token): string {
    const tagged = children?.some(({ type }) => type === 'html_inline');
    return omissionTag(content.length) + (tagged ? this.#raw.hideRest() : '');
  }

  #opened(token: Token): string {
    if (token.type === 'table_open') this.#columns = 0;
    if (token.type === 'th_open') this.#columns += 1;
    if (token.type === 'tr_open')
      this.#cells = surplusLength(this.#lines[token.map?.[0] ?? -1] ?? '', this.#columns);
    return `<${token.tag}>`;
  }

  #closed(token: Token): string {
    const more = token.type === 'tr_close' && this.#cells > 0 ? `<td>${omissionTag(this.#cells)}</td>` : '';
    if (token.type === 'tr_close') this.#cells = 0;
    return `${more}</${token.tag}>`;
  }

  #inline(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#piece(token)).join('');
  }

  #piece(token: Token): string {
    switch (token.type) {
      case 'text':
      case 'text_special':
        return escapedText(token.content);
      case 'code_inline':
        return `<code>${escapedCode(token.content)}</code>`;
      case 'softbreak':
        return '\n';
      case 'hardbreak':
        return '<br>\n';
      case 'html_inline':
        return this.#raw.convert(token.content.replaceAll(NO_DECLARATION, ''), true);
      case 'image':
        return `<img n="${attributesOf(token) + token.content.length}">`;
      case 'link_open':
        return token.markup === 'autolink'
          ? '<a>'
          : `<a u="${escapedHtml(String(token.attrGet('href') ?? ''))}" n="${attributesOf(token)}">`;
      case 'footnote_ref':
        return this.#reference(token);
      case 'em_open':
      case 'strong_open':
        return `<${token.tag} d="${token.markup}">`;
      default:
        return token.nesting < 0 ? `</${token.tag}>` : `<${token.tag}>`;
    }
  }

  #reference(token: Token): string {
    const name = footnoteName(token);
    // The page shows numbers instead of footnote names.
    const named = this.#referred.includes(name) || /^\d{1,4}$/.test(name) ? '' : omissionTag(name.length);
    if (!this.#referred.includes(name)) this.#referred.push(name);
    return `${named}<x-ref n="${this.#referred.indexOf(name) + 1}"></x-ref>`;
  }
}

const attributesOf = ({ attrs }: Token): number =>
  (attrs ?? []).reduce((sum, [name, value]) => (name === 'alt' ? sum : sum + String(value).length), 0);

function rawPieces(tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap(({ type, content, children }) => {
    if (type === 'html_block') return [content];
    return (children ?? []).flatMap((child) => (child.type === 'html_inline' ? [child.content] : []));
  });
}

function fence({ type, info, content }: Token): string {
  const [language = '', ...more] = type === 'fence' ? info.trim().split(/\s+/) : [];
  if (RENDERED_LANGUAGE.test(language)) {
    return `<pre lang="${language.toLowerCase()}">${escapedCode(content)}</pre>${more.length > 0 ? omissionTag(more.join(' ').length) : ''}`;
  }
  const known = isLanguage(language);
  const left = info.trim().length - (known ? language.length : 0);
  const lang = known ? ` lang="${language}"` : '';
  return `<pre${lang} n="${Math.max(0, left)}"><x-code>${escapedCode(content)}</x-code></pre>`;
}
