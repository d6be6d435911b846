/** What stands in the place of something that was left out. */
export const LEFT_OUT = '(…)';

/** Characters of one tag, image or link that are looked at; what is longer goes with the rest of its paragraph. */
const MOST = 3_000;

/** Comments, declarations and the like. One that is not closed hides all that follows. */
function comments(text: string): string {
  let out = '';
  let at = 0;
  for (const { index: from } of text.matchAll(/<!--|<\?|<![A-Za-z[]|<\/(?![A-Za-z>])/g)) {
    if (from < at) continue;
    // `--!>` and `>` end some of them in some parsers: the end that hides the most is taken.
    const end = text.startsWith('<!--', from) ? '-->' : text.startsWith('<?', from) ? '?>' : '>';
    const until = text.indexOf(end, from + (end === '-->' ? 4 : 2));
    out += text.slice(at, from) + LEFT_OUT;
    if (until < 0) return out;
    at = until + end.length;
  }
  return out + text.slice(at);
}

/** Tags lose what stands in them behind their name. One that is not finished in a block of HTML hides all that follows. */
function tags(text: string): string {
  let out = '';
  let at = 0;
  for (let from = text.indexOf('<'); from >= 0; from = text.indexOf('<', from)) {
    const name = /^<\/?[A-Za-z][A-Za-z0-9-]{0,23}(?=[\s/>])/.exec(text.slice(from, from + 30))?.[0];
    const long = name === undefined && /^<\/?[A-Za-z][A-Za-z0-9-]{24}/.test(text.slice(from, from + 30));
    if (name === undefined && !long) {
      from += 1;
      continue;
    }
    const end = tagEnd(text, from);
    if (end === -1 && !long && !inHtml(text, from)) {
      from += 1;
      continue;
    }
    out += text.slice(at, from);
    if (end < 0) return out + LEFT_OUT;
    out += name === undefined ? LEFT_OUT : `${name}>`;
    if (/[^\s/]/.test(text.slice(from + (name?.length ?? 1), end - 1)) && name !== undefined) out += LEFT_OUT;
    at = end;
    from = end;
  }
  return out + text.slice(at);
}

/** What may be a tag goes on further than we look. */
const TOO_LONG = -2;

/** Behind the `>` of a tag; -1 where it is not finished in its paragraph. Quotation marks count behind `=`. */
function tagEnd(text: string, from: number): number {
  let before = '';
  const blank = text.slice(from, from + MOST).indexOf('\n\n');
  const last = Math.min(text.length, from + (blank < 0 ? MOST : blank));
  const unfinished = blank < 0 && last < text.length ? TOO_LONG : -1;
  for (let at = from + 1; at < last; at++) {
    const character = text.charAt(at);
    if (character === '>') return at + 1;
    if (character === '<') return -1;
    if ((character === '"' || character === "'") && before === '=') {
      at = text.indexOf(character, at + 1);
      if (at < 0 || at >= last) return unfinished;
    }
    if (!/\s/.test(character)) before = character;
  }
  return unfinished;
}

/** Whether the paragraph begins a block of HTML before this place, or goes on further than we look. */
function inHtml(text: string, at: number): boolean {
  const from = Math.max(text.lastIndexOf('\n\n', at), at - MOST, 0);
  return at - from >= MOST || /(?:^|\n)[\s>*+\-\d.)]*<[A-Za-z/]/.test(text.slice(from, at + 2));
}

/** Images: their text is shown where the picture is not. */
function images(text: string): string {
  const refs = DEFINED.test(text);
  let out = '';
  let at = 0;
  for (let from = text.indexOf('!['); from >= 0; from = text.indexOf('![', from)) {
    const end = imageEnd(text, from, refs);
    if (end < 0) {
      from += 2;
      continue;
    }
    out += `${text.slice(at, from)}(image)`;
    at = end;
    from = end;
  }
  return out + text.slice(at);
}

/** Behind the image that begins at `from`; -1 where none does. `refs`: a name in brackets alone can be one. */
function imageEnd(text: string, from: number, refs: boolean): number {
  const label = closed(text, from + 1, '[', ']');
  if (label.kind !== 'closed') return label.end;
  const next = text.charAt(label.end);
  if (next === '(') return closed(text, label.end, '(', ')').end;
  if (next === '[') return closed(text, label.end, '[', ']').end;
  return refs ? label.end : -1;
}

/** Whether a paragraph can hold a definition at all. */
const DEFINED = /\]:/;

/**
 * Behind the bracket that closes the one at `from`; -1 where none does in this paragraph. One that is too far away to be
 * looked for may be there: then it is the end of the paragraph.
 */
function closed(
  text: string,
  from: number,
  open: string,
  close: string,
): { kind: 'closed' | 'not'; end: number } {
  let depth = 0;
  for (let at = from; at < text.length && at < from + MOST; at++) {
    const character = text.charAt(at);
    if (character === '\n' && text.charAt(at + 1) === '\n') return { kind: 'not', end: -1 };
    if (character === '\\') at += 1;
    else if (character === open) depth += 1;
    else if (character === close && --depth === 0) return { kind: 'closed', end: at + 1 };
  }
  if (from + MOST >= text.length) return { kind: 'not', end: -1 };
  const blank = text.indexOf('\n\n', from + MOST);
  return { kind: 'not', end: blank < 0 ? text.length : blank };
}

const TITLE = String.raw`(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\((?:[^()\\]|\\[\s\S])*\))`;
const LINK = new RegExp(String.raw`\]\(\s*(<[^<>\n]{0,2000}>|[^\s<>]{0,2000})\s+${TITLE}\s*\)`, 'g');

/** No address that people follow is as long: the rest of its paragraph goes with it. */
const LONG = /\]\(\s*<?[^\s<>]{2000}[\s\S]*?(?=\n\n|$)/g;

/** Titles of links, shown only to a pointer that rests on them. */
const titles = (text: string): string =>
  text.replace(LONG, LEFT_OUT).replace(LINK, (_, target: string) => `](${target})${LEFT_OUT}`);

const DEFINITION = new RegExp(
  String.raw`^[ \t>*+\-\d.)]{0,60}\[(?!\^)(?:[^\[\]\\\n]|\\.|\n(?!\n)){1,999}\]:[ \t]*\n?[ \t]*(?:<[^<>\n]*>|[^\s<]\S*)(?:[ \t]*\n?[ \t]*${TITLE})?[ \t]*$`,
  'gm',
);

/** Definitions of links: what `[//]: # (text)` says is on no page. */
const definitions = (text: string): string => text.replace(DEFINITION, LEFT_OUT);

const FOOTNOTE = /^[ \t>*+\-\d.)]{0,60}\[\^([^\]\s]{1,200})\]:[^\n]*(?:\n(?![ \t]*(?:\n|\[\^))[^\n]+)*/gm;

/** Footnotes that nothing refers to. */
function footnotes(text: string): string {
  const named = new Map<string, number>();
  for (const [, name = ''] of text.matchAll(/\[\^([^\]\s]{1,200})\]/g)) {
    named.set(name.toLowerCase(), (named.get(name.toLowerCase()) ?? 0) + 1);
  }
  return text.replace(FOOTNOTE, (whole, name: string) =>
    (named.get(name.toLowerCase()) ?? 0) > 1 ? whole : LEFT_OUT,
  );
}

/** Prose and HTML without what GitHub's page does not show of it; `LEFT_OUT` stands where something was. */
export const withoutHiddenMarkup = (text: string): string =>
  footnotes(definitions(titles(images(tags(comments(text))))));
