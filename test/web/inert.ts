import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { expect } from 'vitest';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

const isElement = (node: Node): node is Element => 'tagName' in node;

function elementsOf(node: Node): readonly Element[] {
  const inner = 'childNodes' in node ? node.childNodes.flatMap(elementsOf) : [];
  return isElement(node) ? [node, ...inner] : inner;
}

const attribute = (element: Element, name: string): string | undefined =>
  element.attrs.find((one) => one.name === name)?.value;

/** Everything that Runoff's pages are made of; `script` only by address, which is checked. */
const TAGS = new Set(
  'html head meta title link script body a header nav main h1 h2 h3 h4 p ul ol li dl dt dd div span section article table caption thead tbody tr th td details summary pre code kbd strong bdi time form label select option input button textarea fieldset legend meter abbr br ins del'.split(
    ' ',
  ),
);
const ATTRIBUTES =
  /^(?:href|src|rel|class|id|lang|charset|name|content|defer|scope|colspan|role|tabindex|title|open|method|action|value|type|maxlength|selected|datetime|min|max|rows|required|checked|inputmode|hidden|aria-(?:label|labelledby|hidden|current|keyshortcuts)|data-(?:title|key|lang|live|live-structure|live-text|live-status|number|call|steps))$/;

/** What browsers show as nothing, as something else, or in another order. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** A page that text of others could not change: known elements, addresses of its own, ids that occur once. */
export function expectInert(page: string, hosts: readonly string[] = ['https://github.test/']): void {
  const elements = elementsOf(parse(page));
  expect(elements.map(({ tagName }) => tagName).filter((tag) => !TAGS.has(tag))).toEqual([]);
  const names = elements.flatMap(({ attrs }) => attrs.map(({ name }) => name));
  expect(names.filter((name) => !ATTRIBUTES.test(name))).toEqual([]);
  for (const element of elements) {
    const address =
      attribute(element, 'href') ?? attribute(element, 'src') ?? attribute(element, 'action') ?? '/';
    expect(/^[/#](?!\/)/.test(address) || hosts.some((host) => address.startsWith(host)), address).toBe(true);
    if (element.tagName === 'script')
      expect([element.childNodes.length, address.slice(0, 8)]).toEqual([0, '/assets/']);
  }
  const ids = elements.flatMap((element) => attribute(element, 'id') ?? []);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  expect(ids.filter((id) => !/^[A-Za-z][\w-]*$/.test(id))).toEqual([]);
  expect(HIDDEN.exec(page)?.[0]).toBeUndefined();
}
