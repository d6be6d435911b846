import type { DefaultTreeAdapterTypes as Tree } from 'parse5';

export type PageNode = Tree.ChildNode;
export type Element = Tree.Element;

/** Maximum nesting depth of elements; deeper content is left out. Default. */
export const MAX_DEPTH = 400;

const BLOCKS: ReadonlySet<string> = new Set(
  (
    'p div h1 h2 h3 h4 h5 h6 h7 h8 blockquote ul ol li pre table thead tbody tfoot tr td th caption hr details summary ' +
    'dl dt dd figure figcaption center section x-note'
  ).split(' '),
);

export const isElement = (node: PageNode): node is Element => 'tagName' in node;

export const attribute = ({ attrs }: Element, name: string): string | null =>
  attrs.find((one) => one.name === name)?.value ?? null;

export function holdsBlock(element: Element, depth = 0): boolean {
  if (BLOCKS.has(element.tagName)) return true;
  return (
    depth < MAX_DEPTH && element.childNodes.some((child) => isElement(child) && holdsBlock(child, depth + 1))
  );
}

export function textContent(node: PageNode | Element, depth = 0): string {
  if (node.nodeName === '#text') return (node as Tree.TextNode).value;
  return isElement(node) && depth <= MAX_DEPTH
    ? node.childNodes.map((child) => textContent(child, depth + 1)).join('')
    : '';
}

/** UTF-16 units of an element's content, including what was left out of it earlier. */
export function contentLength(element: Element, depth = 0): number {
  const own = /^(?:x-omitted|img)$/.test(element.tagName) ? Number(attribute(element, 'n')) : 0;
  if (depth > MAX_DEPTH) return own;
  if (element.tagName === 'textarea' || element.tagName === 'plaintext')
    return textContent(element)
      .replace(/<[^>]*>/g, '')
      .trim().length;
  return element.childNodes.reduce(
    (sum, child) => sum + (isElement(child) ? contentLength(child, depth + 1) : textContent(child).length),
    own,
  );
}
