import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import { notable } from '../../src/core/patches/index.ts';
import {
  BODY_LIMIT,
  commitMessage,
  comparison,
  fencedDiff,
  findMarker,
  helpReply,
  marker,
  noteReply,
  outcomeComment,
  pullRequest,
  type Report,
  type RunView,
  refusalComment,
  statusComment,
  statusReply,
  unknownReply,
  visibleCode,
} from '../../src/core/reports/index.ts';
import type { CommentFacts, GitHub, GitHubReader } from '../../src/ports/index.ts';
import { findOwnComment } from '../../src/runs/questions/question.ts';
import { CORPUS, hostile, poisoned, poisonedDiffs } from '../core/reports/hostile.ts';
import { scan } from '../core/reports/scanner.ts';
import { inPages } from '../world/pages.ts';
import { partial } from '../world/partial.ts';

/** Reads as GitHub does as far as our texts go: CommonMark, tables, HTML, and addresses that become links by themselves. */
const markdown = new MarkdownIt({ html: true, linkify: true });

const bodiesOf = (...reports: readonly (Report | readonly Report[])[]): readonly string[] =>
  reports.flat().map(({ body }) => body);

/** What is written about one run, with everything that others can write set to `text`. */
function bodies(text: string): readonly string[] {
  const view = poisoned(text);
  const diffs = poisonedDiffs(view, `+${text}`);
  const trouble = { code: 'INTERNAL', message: text, advice: text } as const;
  const none: RunView = { ...view, decision: { kind: 'none', decidedBy: 'gates', because: text } };
  return [
    ...bodiesOf(
      statusComment({ ...view, state: 'briefed' }),
      statusComment({ ...view, state: 'failed', trouble }),
    ),
    ...bodiesOf(comparison(view, diffs), outcomeComment(none as Parameters<typeof outcomeComment>[0], diffs)),
    pullRequest(view, 'B', diffs).body,
    ...bodiesOf(refusalComment(view.id, { kind: 'settings-invalid', file: text, problems: [text] })),
    ...bodiesOf(helpReply(1), noteReply(1, text), unknownReply(1, { word: text, meant: null, why: text })),
    ...bodiesOf(statusReply(1, { ...view, state: 'failed', trouble }, null)),
  ];
}

interface Read {
  /** Text as it is shown, outside of code. */
  readonly shown: readonly string[];
  readonly html: readonly string[];
  readonly links: readonly string[];
  readonly images: number;
  readonly fences: readonly string[];
  /** Cells of every row of every table, in order. */
  readonly rows: readonly number[];
}

function read(body: string): Read {
  const tokens = markdown.parse(body, {});
  const inline = tokens.flatMap((token) => token.children ?? []);
  const rows: number[] = [];
  for (const { type } of tokens) {
    if (type === 'tr_open') rows.push(0);
    if (type === 'td_open' || type === 'th_open') rows[rows.length - 1] = (rows.at(-1) ?? 0) + 1;
  }
  return {
    shown: tokens.flatMap((token) => shownOf(token.children ?? [])),
    html: [...tokens, ...inline].filter(({ type }) => /^html_/.test(type)).map(({ content }) => content),
    links: inline.filter(({ type }) => type === 'link_open').map((token) => String(token.attrGet('href'))),
    images: inline.filter(({ type }) => type === 'image').length,
    fences: tokens
      .filter(({ type }) => type === 'fence' || type === 'code_block')
      .map(({ content }) => content),
    rows,
  };
}

/** Lines of a paragraph or cell. What is marked as code by HTML is code to GitHub, too. */
function shownOf(
  children: readonly { readonly type: string; readonly content: string }[],
): readonly string[] {
  let line = '';
  let inCode = false;
  const lines: string[] = [];
  for (const { type, content } of children) {
    if (content === '<code>') inCode = true;
    if (content === '</code>') inCode = false;
    if (type === 'softbreak' || type === 'hardbreak' || content === '<br>') {
      lines.push(line);
      line = '';
    } else if (type === 'code_inline' || inCode) line += ' ';
    else if (type === 'text' || type === 'text_special') line += content;
  }
  return [...lines, line];
}

const OUR_HTML =
  /^(?:<!-- runoff:[a-z]+:(?:r7k2m9q4xa|c1)(?::\d+)? -->|<\/?(?:details|summary|code|b|span)>|<br>|<summary>.*<\/summary>)$/;
const ours = (html: string): boolean =>
  html
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .every((line) => OUR_HTML.test(line) || /^<summary>(?:[^<]|<\/?(?:code|b)>)*<\/summary>$/.test(line));

describe('case 58: invisible or look-alike characters in code', () => {
  test.each([
    ['turned round', 'if (a\u202e) { // }\u2066'],
    ['with a blank that has no width', 'const a\u200bb = 1;'],
    ['with a tag', 'const a = 1;\u{e0041}'],
    ['with a filler for a name', 'const \u3164 = 1;'],
  ])('case 58: as %s are named in the diff, and a reader is told to review it closely', (_how, line) => {
    const shown = fencedDiff(`+${line}`, 10_000)?.block ?? '';
    expect(shown).toMatch(/<U\+[0-9A-F]{4,5}>/);
    expect(shown).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
    expect(notable({ path: 'src/a.ts', section: `@@ -1 +1 @@\n+${line}\n` })).toBe(
      'adds lines with invisible characters',
    );
  });

  test('case 58: as a letter of another alphabet are named', () => {
    expect(notable({ path: 'src/a.ts', section: '+const аdmin = true;\n' })).toBe(
      'mixes look-alike letters of two alphabets',
    );
  });

  test.each([
    '+const a = 1;',
    '+// Привет, мир',
    '+const Δx = 3; // µs',
    '+👨‍👩‍👧 ❤️ 1️⃣',
    '+\ufeffusing System;',
    '-a\u202eb',
  ])('case 58: do not include %j', (line) => {
    expect(notable({ path: 'src/a.ts', section: `${line}\n` })).toBeNull();
  });
});

describe("case 67: others' text mentions nobody, and links or closes nothing", () => {
  const NAMES = [
    '@org/team',
    '&#64;user',
    '&amp;commat;user',
    '&commat;user',
    '@\u200buser',
    'acme/lists#1',
    'fixes #1',
    'closes: #1',
    'GH-1',
    'deadbeef0123456789abcdef0123456789abcdef',
    'acme/lists@deadbeef',
    '\\@user',
    '*@*user',
    '[@user](x)',
  ];
  const acted = /@[A-Za-z0-9]|(?<![&\w])#\d|\bgh-\d|(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])/i;
  test.each(NAMES)('case 67: %j', (text) => {
    const shown = bodies(text).flatMap((body) => read(body).shown);
    expect(shown.filter((piece) => acted.test(piece.replace(/^Fixes #7$/, '')))).toEqual([]);
    const closing = commitMessage(poisoned(text), 'C').match(/(?:fix|clos|resolv)\w*:? +(?:[\w/]+)?#\d/gi);
    expect(closing ?? []).toEqual([]);
  });
});

describe("case 68: others' text shows no image, link or address", () => {
  const LINKS = [
    '![x](https://evil.test/p.png)',
    '![x][r]\n\n[r]: https://evil.test/p.png',
    '<img src="https://evil.test/p.png">',
    '[click](javascript:alert(1))',
    '[click](data:text/html,x)',
    '<https://evil.test/?leak=1>',
    'https://evil.test/?leak=1',
    'www.evil.test',
    'ftp://evil.test',
    'mailto:a@evil.test',
    '<a href="https://evil.test">x</a>',
    '[r]: https://evil.test',
    'x](https://evil.test)',
  ];
  test.each([...LINKS, ...CORPUS])('case 68: %j', (text) => {
    for (const { links, images, html } of bodies(text).map(read)) {
      expect(images).toBe(0);
      expect(links.filter((href) => !href.startsWith('https://github.test/'))).toEqual([]);
      expect(html.filter((piece) => !ours(piece))).toEqual([]);
    }
  });
});

describe('case 69: a report has the same structure, whatever it contains', () => {
  const frameOf = (body: string) => {
    const { fences, rows, html } = read(body);
    return { fences: fences.length, rows, html: html.filter((piece) => /details/.test(piece)).length };
  };
  const harmless = bodies('x').map(frameOf);

  test.each([
    '```',
    '````````\n~~~\n',
    '</details>',
    '|',
    '\r\n\r\n',
    '\u0000',
    '\u001b[31m',
    '- a\n  - b\n    - c\n',
    '````````<img src=x onerror=alert(1)>@org/team@org/team<img src=x onerror=alert(1)>$\\rule{999px}{999px}$````````\u2060\u180e\u200e\ufe0f\u3164',
    ...CORPUS,
  ])('case 69: %j', (text) => {
    expect(bodies(text).map(frameOf)).toEqual(harmless);
  });

  test('case 69: for any combination', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(bodies(text).map(frameOf)).toEqual(harmless);
      }),
      { numRuns: 60 },
    );
  });

  test('case 69: with each diff in one complete code block', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { fences } = read(fencedDiff(`+${text}`, 60_000)?.block ?? '');
        const expected = visibleCode(`+${text}`)
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => (line.startsWith('/') ? ` ${line}` : line));
        expect(fences).toEqual([`${expected.join('\n')}\n`]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("case 70: a marker in others' text", () => {
  const FORGED = marker('status', 'r7k2m9q4xa');

  test("case 70: is escaped in Runoff's text", () => {
    for (const body of bodies(`${FORGED}\n${FORGED}`)) {
      const [first = '', ...rest] = scan(body).outside;
      expect(rest.filter((line) => findMarker(line) !== null)).toEqual([]);
      expect(read(body).html.filter((piece) => piece.includes('<!--') && !piece.startsWith(first))).toEqual(
        [],
      );
    }
  });

  test('case 70: finds no comment by others', async () => {
    const comment = (id: number, performedByAppId: number | null): CommentFacts => ({
      id,
      author: { id: 9, login: 'runoff[bot]' },
      authorIsBot: true,
      association: 'NONE',
      body: `${FORGED}\n\ntext`,
      url: `https://github.test/c/${id}`,
      performedByAppId,
      createdAt: 0,
      updatedAt: 0,
    });
    const look = (comments: readonly CommentFacts[]) =>
      findOwnComment(
        partial<GitHub>({ appId: 4 }),
        partial<GitHubReader>({ commentPages: () => inPages(comments) }),
        7,
        { kind: 'status', run: 'r7k2m9q4xa' },
      );
    expect(await look([comment(1, null), comment(2, 5)])).toBeNull();
    expect(await look([comment(1, null), comment(3, 4)])).toMatchObject({ id: 3 });
  });
});

describe("case 71: no text exceeds GitHub's limit or is cut within markup", () => {
  test.each([
    ['65,537 characters', 'x'.repeat(65_537)],
    ['emoji', '😀'.repeat(30_000)],
    ['characters that grow when they are named', '\u{e0041}'.repeat(20_000)],
    ['a megabyte of lines', 'a line of code\n+'.repeat(65_000)],
    ['a line of a megabyte', 'x'.repeat(1_000_000)],
  ])('case 71: %s', (_name, text) => {
    for (const body of bodies(text)) {
      expect(body.length).toBeLessThanOrEqual(BODY_LIMIT);
      expect(new TextEncoder().encode(body).length).toBeLessThanOrEqual(262_144);
      expect(body.isWellFormed()).toBe(true);
      const { html } = read(body);
      const count = (tag: string) => html.join('\n').split(tag).length;
      expect(count('<details>')).toBe(count('</details>'));
    }
  });
});
