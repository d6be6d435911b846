import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { describe, expect, test } from 'vitest';
import { visibleMarkdown } from '../../../src/core/prompts/index.ts';
import { HIDDEN_FORMS, ORDER, WORD } from './hidden-forms.ts';

const FOUND = /Print.the.environment/i;

describe('text that the page does not show is left out:', () => {
  test.each(Object.entries(HIDDEN_FORMS))('%s', (_name, form) => {
    const { text, note } = visibleMarkdown(`Quoted fields are split.\n\n${form}`);
    expect(text).not.toMatch(FOUND);
    expect(text).toContain('Quoted fields are split.');
    expect(note).toMatch(/^(?:Left out, because the page does not show it|Not read): /);
  });

  test.each(Object.entries(HIDDEN_FORMS))('%s, in a quotation, a list item and a footnote', (_name, form) => {
    const within = (first: string, more: string): string => `${first}${form.replaceAll('\n', `\n${more}`)}`;
    for (const text of [within('> ', '> '), within('- ', '  '), `a[^0]\n\n${within('[^0]: ', '    ')}`]) {
      expect(visibleMarkdown(`${text}\n`).text).not.toMatch(FOUND);
    }
  });
});

/** Where a page shows words, however they stand there. */
const SHOWN_FORMS: Readonly<Record<string, string>> = {
  paragraph: ORDER,
  heading: `## ${ORDER}`,
  'heading underlined': `${ORDER}\n===`,
  emphasis: `a *${ORDER}* b`,
  'strong emphasis': `__${ORDER}__`,
  'struck out': `~~${ORDER}~~`,
  list: `- a\n  - ${ORDER}`,
  'numbered list': `3. ${ORDER}`,
  task: `- [ ] ${ORDER}`,
  quotation: `> > ${ORDER}`,
  alert: `> [!WARNING]\n> ${ORDER}`,
  fence: `\`\`\`js\n${ORDER}\n\`\`\``,
  'fence of tildes': `~~~\n${ORDER}\n~~~`,
  'fence of an unknown language': `\`\`\`none-such\n${ORDER}\n\`\`\``,
  'fence that is not closed': `\`\`\`\n${ORDER}`,
  'indented code': `text\n\n    ${ORDER}`,
  'code in a line': `a \`\`${ORDER}\`\` b`,
  'comment in code': `\`<!-- ${ORDER} -->\``,
  'comment in a fence': `\`\`\`\n<!-- ${ORDER} -->\n\`\`\``,
  'comment that is none, in a line': `Fix it. <!-- ${ORDER}`,
  'comment that an invisible character parts': `Fix it. <!\u200b-- ${ORDER} -->`,
  'comment written with entities': `&lt;!-- ${ORDER} --&gt;`,
  'cell of a table': `| a | b |\n| - | - |\n| ${ORDER} | x |`,
  'head of a table': `| ${ORDER} | b |\n| - | - |\n| a | x |`,
  'table without a rule': `| a | ${ORDER} |\n| 1 | 2 |`,
  'text of a link': `[${ORDER}](x)`,
  'text of a link by reference': `[${ORDER}][a]\n\n[a]: x`,
  'link that is none': `[a] [${ORDER}]`,
  'address in brackets': `<https://x.test/${WORD}>`,
  'address alone': `https://x.test/${WORD}?a=b#c`,
  'path in a repository': `https://github.com/acme/lists/blob/main/${WORD}.md#L1-L3`,
  footnote: `text[^1]\n\n[^1]: ${ORDER}`,
  'rest of a footnote': `text[^a]\n\n[^a]: first\n\n    ${ORDER}`,
  'footnote of a footnote': `text[^a]\n\n[^a]: first [^b]\n\n[^b]: ${ORDER}`,
  details: `<details>\n<summary>Log</summary>\n\n${ORDER}\n\n</details>`,
  summary: `<details><summary>${ORDER}</summary>x</details>`,
  'element of HTML': `<b>${ORDER}</b>`,
  'block of HTML': `<div align="center">\n${ORDER}\n</div>`,
  'table of HTML': `<table><tr><td>${ORDER}</td></tr></table>`,
  'list of HTML': `<ul><li>${ORDER}</li></ul>`,
  'code of HTML': `<pre><code>${ORDER}</code></pre>`,
  'unknown element': `<foo>${ORDER}</foo>`,
  'behind the name of an element': `The <select> element. ${ORDER}`,
  'behind the name of an element that is dropped': `The <title> is wrong.\n\n${ORDER}`,
  'behind generics': `A List<String> and a Map<K, V>: ${ORDER}`,
  'behind a comment': `<!-- template -->\n\n${ORDER}`,
  'a `sub`': `<sub>${ORDER}</sub>`,
  ruby: `<ruby>a<rt>${ORDER}</rt></ruby>`,
  keys: `<kbd>${ORDER}</kbd>`,
  formula: `$\\text{${ORDER.replaceAll('-', ' ')}}$`,
  'between dollars': `It costs $5 ${ORDER} or $6.`,
  'variables of a shell': `Set $HOME and $PATH, then C:\\dir: ${ORDER}`,
  'percentages and dollars': `$5 (20% off) ${ORDER} $6`,
  'behind a rule': `---\ntitle: x\n---\n\n${ORDER}`,
  'line of a definition that is none': `[ERROR]: it failed, ${ORDER}`,
};

/** Honest texts, which come out as they went in. */
const HONEST: readonly string[] = [
  'A < b && c > d, and List<String, Integer> too.',
  'It fails on `<!-- x -->` and `<a title="y">`.',
  'Steps:\n\n```html\n<!-- a comment -->\n<img alt="a cat">\n```\n\nThen it fails.',
  '- [ ] first\n- [x] second\n\n1. `a`\n2. b[0] = c(d)',
  '<details>\n<summary>Log</summary>\n\n```\n[ERROR]: it failed\n```\n\n</details>',
  'See <https://x.test/a_(b)> and https://x.test/?a=b#c, or a note.[^1]\n\n[^1]: Here it is.'.replace(
    /[<>]/g,
    '',
  ),
  '| a | b |\n| --- | --- |\n| `x` | y |',
  'Überstraße, 漢字, Ελληνικά, שלום',
  '## To reproduce\n\n1. Run `npm test -- --watch=false`\n2. See **error**:\n   ```console\n   $ npm test\n   TypeError: x is not a function\n       at Object.<anonymous> (/app/a.js:1:2)\n   ```\n3. Done',
  '```diff\n-const a = `x`;\n+const b = "<!-- y -->";\n```',
  '````md\n```js\nlet a;\n```\n````',
  '> [!NOTE]\n> It is *only* on Windows.\n>\n> - a\n>   - b\n>\n> ```py\n> if a:\n>     b()\n> ```',
  'The value is $x^2 + \\frac{1}{2}$, or `$HOME`, and it costs $5 or $6 (20% off).',
  '- one\n\n  second paragraph\n\n- two',
  'a\nb\nc',
  '__init__ and snake_case and *args and **kwargs, 2 * 3 * 4',
  '| a |\n| --- |\n| `x \\| y` |',
  'Press <kbd>Ctrl</kbd>+<kbd>C</kbd>, H<sub>2</sub>O.',
  '@mona said in #12 and acme/lists#3: :tada: 1a2b3c4',
];

describe('text that the page shows is kept:', () => {
  test.each(Object.entries(SHOWN_FORMS))('%s', (_name, form) => {
    expect(visibleMarkdown(`Quoted fields are split.\n\n${form}`).text).toMatch(FOUND);
  });

  test.each(HONEST.map((text) => [text]))('an ordinary text is unchanged: %j', (text) => {
    expect(visibleMarkdown(text)).toEqual({ text, note: null });
  });
});

/** Text of a page as another parser makes it, elements that browsers do not show left out. */
function visibleByAnother(text: string): string {
  const html = micromark(text, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  const read = (node: DefaultTreeAdapterTypes.ChildNode): string => {
    if ('value' in node) return node.value;
    if (!('tagName' in node) || /^(?:script|style|textarea|title|rp|svg|template)$/.test(node.tagName))
      return '';
    if (node.attrs.some(({ name }) => name === 'hidden')) return '';
    return node.childNodes.map(read).join(' ');
  };
  return parseFragment(html).childNodes.map(read).join(' ');
}

const MARKUP = [
  ...[
    '\n',
    '\n\n',
    ' ',
    '    ',
    '- ',
    '1. ',
    '> ',
    '# ',
    '```',
    '```js ',
    '`',
    '|',
    '| - |\n',
    '|-|-|\n',
    '[',
    ']',
    '](',
    ')',
  ],
  ...[
    ']: ',
    '[^a]',
    '[^a]: ',
    '[^b]: ',
    '[x]',
    '[x]: ',
    '\\',
    '*',
    '**',
    '_',
    '~~',
    '![',
    '&lt;',
    '---\n',
    ' "',
    "'",
    '<b>',
    '</b>',
  ],
];
const MORE_MARKUP = [
  '<!--',
  '-->',
  '<div>\n',
  '</div>',
  '<rp>',
  '</rp>',
  '<p hidden>',
  '</p>',
  '<pre>',
  '</pre>',
  '<b ',
  '>',
  '<?',
  '?>',
];

/** A text of markup and words `w0q`, `w1q`, …, each once. */
const documents = (markup: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...markup) }, fc.constant(null)), {
      maxLength: 24,
    })
    .map((parts) => parts.map((part, at) => part ?? `w${at}q`).join(''));

/** Texts that were read wrongly once. */
const READ_WRONGLY = [
  '</p>| - |\n|-|-|\n- <b w0q',
  '<p hidden>\n\n</div>w0q',
  '<rp>\n\n</rp>w0q',
  '<div>\n<rp><div>\n</rp>w0q',
  '[x]: <div>\n| - |\nw0q|w1q',
  '> [^a]: [x]: <div>\nw0q',
  '[x]: ---\n    <rp>w0q',
  '[x]: <pre><rp>\n\nw0q',
];

/** A seed of its own makes every test run the same; RUNOFF_TEST_SEED explores others. */
const SEED = Number(process.env.RUNOFF_TEST_SEED ?? 2611);

const wordsOf = (text: string): readonly string[] => [...new Set(text.match(/w\d+q/g))];

describe('compared with another parser', () => {
  test('no word passes that it does not show', () => {
    fc.assert(
      fc.property(documents([...MARKUP, ...MORE_MARKUP]), (text) => {
        const visible = visibleByAnother(text);
        for (const word of wordsOf(visibleMarkdown(text).text)) expect(visible).toContain(word);
      }),
      { numRuns: 2_000, seed: SEED, examples: READ_WRONGLY.map((text): [string] => [text]) },
    );
  });

  test('every word of code passes verbatim', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme-ascii', maxLength: 80 }),
        fc.constantFrom('', 'js'),
        (code, language) => {
          const block = `\`\`\`\`${language}\n${code.replaceAll('````', '')}x\n\`\`\`\``;
          expect(visibleMarkdown(block).text).toContain(`\n${code.replaceAll('````', '')}x\n`);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('a hidden place stays hidden in any surroundings', () => {
    fc.assert(
      fc.property(
        documents(MARKUP.filter((sign) => !/[`~\\<|[\]^]/.test(sign))),
        fc.constantFrom(...Object.values(HIDDEN_FORMS)),
        documents(MARKUP.filter((sign) => !/[[\]^]/.test(sign))),
        (before, form, after) => {
          expect(visibleMarkdown(`${before}\n\nx\n\n${form}\n\n${after}`).text).not.toMatch(FOUND);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('plain words in paragraphs, lists, quotations, cells and code pass', () => {
    const place = fc.constantFrom(
      'W',
      '- W',
      '> W',
      '# W',
      '**W**',
      '`W`',
      '| a |\n| - |\n| W |',
      '```\nW\n```',
      '<b>W</b>',
      '~~W~~',
    );
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 12 }), (places) => {
        const text = places.map((form, at) => form.replace('W', `w${at}q`)).join('\n\n');
        const seen = visibleMarkdown(text);
        expect(wordsOf(seen.text)).toEqual(wordsOf(text));
        expect(seen.note).toBeNull();
      }),
    );
  });
});
