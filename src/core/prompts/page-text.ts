import { parseFragment } from 'parse5';
import { longestBackticks } from '../model/index.ts';
import {
  isPlainFormula,
  type Omissions,
  type Piece,
  shownAddresses,
  withoutFarRight,
  withoutHiddenFormulas,
} from './omissions.ts';
import {
  attribute,
  contentLength,
  type Element,
  holdsBlock,
  isElement,
  MAX_DEPTH,
  type PageNode,
  textContent,
} from './page-tree.ts';

/** Font scales that browsers and GitHub's styles apply to the content of these elements. */
const FONT_SCALES: Readonly<Record<string, number>> = {
  sub: 0.75,
  sup: 0.75,
  small: 0.85,
  code: 0.85,
  tt: 0.85,
  samp: 0.85,
  kbd: 0.85,
  rt: 0.6,
  h6: 0.85,
  h5: 0.9,
};
/** Text below half the size of its surroundings is left out. Default; a `sub` in a `sub` is larger. */
const MIN_FONT_SCALE = 0.5;
/** Renders the visible text of an HTML page as Markdown. `html` comes from `githubHtml` and contains no raw markup. */
export function pageText(html: string, omissions: Omissions): string {
  const page = new PageRenderer(omissions);
  return page.blocks(parseFragment(html).childNodes, { scale: 1, depth: 0 }).join('\n\n');
}

interface ElementContext {
  readonly scale: number;
  readonly depth: number;
}

class PageRenderer {
  readonly #omissions: Omissions;

  constructor(omissions: Omissions) {
    this.#omissions = omissions;
  }

  /** Renders block elements; text between them becomes a block of its own. */
  blocks(nodes: readonly PageNode[], place: ElementContext): string[] {
    const out: string[] = [];
    let line: PageNode[] = [];
    const flush = (): void => {
      const text = this.#line(line, place)
        .replace(/[ \t]*\n[ \t]*/g, '\n')
        .trim();
      if (text !== '') out.push(text);
      line = [];
    };
    for (const node of nodes) {
      if (!isElement(node) || !holdsBlock(node)) {
        line.push(node);
        continue;
      }
      flush();
      out.push(...this.#block(node, place).filter((text) => text !== ''));
    }
    flush();
    return out;
  }

  #block(element: Element, outer: ElementContext): string[] {
    const place = this.#inside(element, outer);
    if (place === null) return [this.#omissions.omit(contentLength(element))];
    const { tagName: name, childNodes: nodes } = element;
    if (/^h[1-8]$/.test(name))
      return [`${'#'.repeat(Math.min(6, Number(name[1])))} ${this.#flat(nodes, place)}`];
    switch (name) {
      case 'pre':
        return this.#code(element, place);
      case 'hr':
        return ['---'];
      case 'ul':
      case 'ol':
        return [this.#list(element, place)];
      case 'blockquote':
        return [
          this.blocks(nodes, place)
            .join('\n\n')
            .split('\n')
            .map((line) => `> ${line}`.trimEnd())
            .join('\n'),
        ];
      case 'table':
        return [this.#table(element, place)];
      case 'details':
        return this.#details(element, place);
      case 'summary':
        return [`<summary>${this.#flat(nodes, place)}</summary>`];
      case 'x-note':
        return [`[^${attribute(element, 'n')}]: ${indented(this.blocks(nodes, place), '    ')}`];
      default:
        return this.blocks(nodes, place);
    }
  }

  /** The context inside an element; null if it is hidden or too small to read. */
  #inside(element: Element, { scale, depth }: ElementContext): ElementContext | null {
    const { tagName: name } = element;
    if (name === 'rp' || name === 'textarea' || name === 'plaintext' || attribute(element, 'h') !== null)
      return null;
    const smaller = scale * (FONT_SCALES[name] ?? 1);
    return smaller < MIN_FONT_SCALE || depth > MAX_DEPTH ? null : { scale: smaller, depth: depth + 1 };
  }

  #flat(nodes: readonly PageNode[], place: ElementContext): string {
    return this.blocks(nodes, place)
      .join(' ')
      .replace(/\s*\n\s*/g, ' ');
  }

  #details({ childNodes: nodes }: Element, place: ElementContext): string[] {
    const [first = '', ...rest] = this.blocks(nodes, place);
    const head = first.startsWith('<summary>') ? `<details>\n${first}` : `<details>\n\n${first}`;
    return [head, ...rest, '</details>'];
  }

  #list(list: Element, place: ElementContext): string {
    const sign = list.tagName === 'ul' ? (attribute(list, 'd') ?? '-') : '';
    let number = Number(attribute(list, 'start') ?? 1);
    let loose = false;
    const items = list.childNodes.map((node) => {
      if (!isElement(node) || node.tagName !== 'li') return this.blocks([node], place).join('\n');
      const bullet = sign === '' ? `${number++}.` : sign;
      const spaced = node.childNodes.some((child) => isElement(child) && child.tagName === 'p');
      loose ||= spaced;
      const blocks = this.blocks(node.childNodes, place);
      return `${bullet} ${indented(blocks, ' '.repeat(bullet.length + 1), spaced ? '\n\n' : '\n')}`.trimEnd();
    });
    return items.filter((item) => item.trim() !== '').join(loose ? '\n\n' : '\n');
  }

  #table(table: Element, place: ElementContext): string {
    const lines = this.#rows(table, place);
    const columns = lines[0]?.cells ?? 0;
    const rule = columns > 0 ? [`|${' --- |'.repeat(columns)}`] : [];
    return [lines[0]?.text ?? '', ...rule, ...lines.slice(1).map(({ text }) => text)].join('\n');
  }

  /** Rows of a table or a part of it, and the content between them. */
  #rows(table: Element, outer: ElementContext): readonly { readonly text: string; readonly cells: number }[] {
    return table.childNodes.filter(isElement).flatMap((child) => {
      const place = this.#inside(child, outer);
      if (place === null) return [{ text: this.#omissions.omit(contentLength(child)), cells: 0 }];
      if (/^(?:thead|tbody|tfoot)$/.test(child.tagName)) return this.#rows(child, place);
      if (child.tagName !== 'tr') return this.blocks([child], place).map((text) => ({ text, cells: 0 }));
      const cells = child.childNodes.filter(isElement).map((cell) => this.#cell(cell, place));
      return [{ text: `| ${cells.join(' | ')} |`, cells: cells.length }];
    });
  }

  #cell(cell: Element, outer: ElementContext): string {
    const place = this.#inside(cell, outer);
    if (place === null) return this.#omissions.omit(contentLength(cell));
    return this.#flat(cell.childNodes, place).replace(/\|/g, '\\|');
  }

  /**
   * Code unchanged except for invisible characters; no block when nothing remains, since the page shows an empty box.
   */
  #code(pre: Element, place: ElementContext): string[] {
    const language = attribute(pre, 'lang') ?? '';
    const raw =
      pre.childNodes.length > 0 && !pre.childNodes.some((c) => isElement(c) && c.tagName === 'x-code');
    const text =
      raw && language === ''
        ? this.#line(pre.childNodes, place, true)
        : this.#omissions.withoutInvisible(textContent(pre));
    const picture = /^(?:mermaid|geojson|topojson|stl)$/.test(language);
    if (picture || (language === 'math' && !isPlainFormula(text))) return [this.#omissions.omit(text.length)];
    const more = Number(attribute(pre, 'n') ?? 0);
    const mark = more > 0 ? ` ${this.#omissions.omit(more)}` : '';
    const code = text
      .split('\n')
      .map((line) => withoutFarRight(line, this.#omissions))
      .join('\n')
      .replace(/\n$/, '');
    if (code.trim() === '' && mark === '') return [];
    const bar = '`'.repeat(Math.max(3, longestBackticks(code) + 1));
    return [`${bar}${language}${mark}\n${code}${code === '' ? '' : '\n'}${bar}`];
  }

  /** Inline text of one block. */
  #line(nodes: readonly PageNode[], place: ElementContext, code = false): string {
    const pieces = nodes.flatMap((node) => this.#pieces(node, place, code));
    return withoutHiddenFormulas(pieces, this.#omissions)
      .map(({ text }) => text)
      .join('');
  }

  #pieces(node: PageNode, outer: ElementContext, code: boolean): readonly Piece[] {
    if (node.nodeName === '#text') {
      const text = this.#omissions.withoutInvisible(textContent(node));
      return [{ kind: 'text', text: code ? text : shownAddresses(text, this.#omissions) }];
    }
    if (!isElement(node)) return [];
    const place = this.#inside(node, outer);
    if (place === null) return [markdownSign(this.#omissions.omit(contentLength(node)))];
    const { tagName: name, childNodes: nodes } = node;
    const inner = (): readonly Piece[] => nodes.flatMap((child) => this.#pieces(child, place, code));
    switch (name) {
      case 'x-omitted':
        return [markdownSign(this.#omissions.omit(Number(attribute(node, 'n'))))];
      case 'x-ref':
        return [markdownSign(`[^${attribute(node, 'n')}]`)];
      case 'img':
        return [markdownSign(this.#omissions.omitImage())];
      case 'br':
        return [markdownSign('\n')];
      case 'a':
        return this.#link(node, inner());
      case 'code':
      case 'tt':
        return code || nodes.some(isElement)
          ? inner()
          : [{ kind: 'code', text: this.#span(textContent(node)) }];
      default:
        return code ? inner() : wrapped(node, inner());
    }
  }

  /** An address that equals the link text is visible. */
  #link(link: Element, inner: readonly Piece[]): readonly Piece[] {
    const address = attribute(link, 'u');
    if (address === null) return inner;
    const same = textContent(link).trim() === address && Number(attribute(link, 'n')) === address.length;
    if (same) return inner;
    return [
      markdownSign('['),
      ...inner,
      markdownSign(`]${this.#omissions.omit(Number(attribute(link, 'n')))}`),
    ];
  }

  #span(content: string): string {
    const text = this.#omissions.withoutInvisible(content).replace(/\n/g, ' ');
    const bar = '`'.repeat(longestBackticks(text) === 0 ? 1 : longestBackticks(text) + 1);
    const space = /^`|`$|^ .* $/.test(text) ? ' ' : '';
    return text === '' ? '' : `${bar}${space}${text}${space}${bar}`;
  }
}

const MARKDOWN_DELIMITERS: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  i: '*',
  em: '*',
  s: '~~',
  del: '~~',
  strike: '~~',
};
/** Tags that have no equivalent in Markdown. */
const KEPT_TAGS: ReadonlySet<string> = new Set(['sub', 'sup', 'kbd', 'ins', 'mark', 'q', 'rt', 'ruby']);

function wrapped(element: Element, inner: readonly Piece[]): readonly Piece[] {
  const { tagName: name } = element;
  const around = attribute(element, 'd') ?? MARKDOWN_DELIMITERS[name];
  if (around !== undefined) return [markdownSign(around), ...inner, markdownSign(around)];
  return KEPT_TAGS.has(name) ? [markdownSign(`<${name}>`), ...inner, markdownSign(`</${name}>`)] : inner;
}

const markdownSign = (text: string): Piece => ({ kind: 'sign', text });

const indented = (blocks: readonly string[], by: string, between = '\n\n'): string =>
  blocks.join(between).replace(/\n(?=[^\n])/g, `\n${by}`);
