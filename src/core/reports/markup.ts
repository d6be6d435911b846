import type { Actor } from '../model/index.ts';
import { code, DEFAULT_LIMIT, EMPTY_TEXT, inertSentence, link } from './markdown.ts';
import { escapeHtml, visibleLine } from './visible.ts';

/** How the parts of a sentence are written in the language of its place. Everything but `own` takes text of others. */
export interface Markup {
  /** Runoff's own words, in which `**` marks strong text and backticks mark code. */
  own(text: string): string;
  /** Inline code of at most `limit` code points. */
  code(text: string, limit?: number): string;
  /** Prose of at most `limit` code points, in which backticks mark code. */
  sentence(text: string, limit?: number): string;
  /** A link to an address that GitHub provided. */
  link(label: string, url: string): string;
}

/** GitHub's Markdown. */
export const MARKDOWN: Markup = { own: (text) => text, code, sentence: inertSentence, link };

const htmlCodeOf = (text: string, limit: number = DEFAULT_LIMIT.code): string =>
  `<code>${escapeHtml(visibleLine(text, limit) || EMPTY_TEXT)}</code>`;

/** Pairs of backticks become code elements. */
const htmlParts = (text: string, limit: number, prose: (part: string) => string): string =>
  text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? htmlCodeOf(part, limit) : prose(part)))
    .join('');

/** Elements of a page: `code`, `strong` and `a`, the last one only to http(s), without a referrer. */
export const PAGE: Markup = {
  own: (text) =>
    htmlParts(text, Number.POSITIVE_INFINITY, (part) =>
      escapeHtml(part).replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>'),
    ),
  code: htmlCodeOf,
  sentence: (text, limit = DEFAULT_LIMIT.sentence) =>
    htmlParts(visibleLine(text, limit), limit, escapeHtml) || EMPTY_TEXT,
  link: (label, url) =>
    /^https?:\/\/[!-~]+$/i.test(url)
      ? `<a href="${escapeHtml(url)}" rel="noreferrer nofollow">${escapeHtml(label)}</a>`
      : `${escapeHtml(label)} (${htmlCodeOf(url, 300)})`,
};

/** Maximum code points of a login; GitHub allows 39. */
const LOGIN = 80;

/** A person in the middle of a sentence: the login as code, which causes no mention. `null`: the command line. */
export const personIn = (by: Actor | null, to: Markup = MARKDOWN): string =>
  by ? to.code(by.login, LOGIN) : 'somebody at the command line';

/** The same at the start of a sentence. */
export const personFirst = (by: Actor | null, to: Markup = MARKDOWN): string =>
  by ? to.code(by.login, LOGIN) : 'Somebody at the command line';
