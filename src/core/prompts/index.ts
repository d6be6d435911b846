import { counted, type Task } from '../model/index.ts';
import { githubHtml } from './github-html.ts';
import { Omissions } from './omissions.ts';
import { pageText } from './page-text.ts';

/** Maximum UTF-16 units that are parsed; the rest is left out. GitHub accepts 65,536 characters. */
const MAX_PARSED_CHARS = 140_000;

interface VisibleText {
  readonly text: string;
  /** Sentences that say what was left out and how much; null if nothing was. */
  readonly note: string | null;
}

/**
 * Converts untrusted Markdown to what its readers see on GitHub: parses it as GitHub does and writes the visible text
 * as Markdown again, with code unchanged. Leaves out what the page does not show, or shows only on hover or click:
 * comments, attributes, link addresses, image descriptions, definitions, formulas and diagrams made from text, and
 * invisible characters. `<details>` is kept, because readers can open it. Ambiguous content is left out, too. People
 * approve an issue by what they see; a model would also follow hidden text.
 */
export function visibleMarkdown(text: string): VisibleText {
  const omissions = new Omissions();
  return { text: visibleOnPage(text, omissions), note: joinedNotes(omissions) };
}

const joinedNotes = (omissions: Omissions): string | null => omissions.notes().join(' ') || null;

function visibleOnPage(text: string, omissions: Omissions): string {
  const whole = text.toWellFormed();
  const shown = pageText(githubHtml(whole.slice(0, MAX_PARSED_CHARS)), omissions);
  const cut = whole.length > MAX_PARSED_CHARS ? `\n\n${omissions.omit(whole.length - MAX_PARSED_CHARS)}` : '';
  return shown + cut;
}

/**
 * Converts a generated text that quotes several untrusted texts, each in lines that begin with `>`, separated by
 * lines that do not (core/brief/pull-task.ts). Each quote is parsed as a page of its own, so that an unclosed tag or
 * a definition in one has no effect on the others.
 */
function visibleQuotes(text: string, omissions: Omissions): string {
  const parts: { readonly quoted: boolean; readonly lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const quoted = line.startsWith('>');
    const last = parts.at(-1);
    if (last?.quoted === quoted) last.lines.push(line);
    else parts.push({ quoted, lines: [line] });
  }
  const shown = parts.map(({ quoted, lines }) => {
    if (!quoted) return omissions.withoutInvisible(lines.join('\n'));
    const page = visibleOnPage(lines.map((line) => line.replace(/^> ?/, '')).join('\n'), omissions);
    return page
      .split('\n')
      .map((line) => `> ${line}`.trimEnd())
      .join('\n');
  });
  return shown.join('\n');
}

/** Removes invisible characters from text that is shown unformatted, such as a title or a file. */
export function visiblePlain(text: string): VisibleText {
  const omissions = new Omissions();
  return { text: omissions.withoutInvisible(text), note: joinedNotes(omissions) };
}

/** Maximum UTF-16 units of an issue's title and body that models read: nearly all that GitHub accepts. Default. */
export const MAX_TASK_CHARS = 60_000;
/** Maximum UTF-16 units of all comments that models read. Default. */
const MAX_COMMENTS_CHARS = 30_000;

/**
 * Prepares a task for models: removes what people could not see in it. Text entered at a terminal is not Markdown, so
 * only invisible characters are removed. `leftOut` lists everything that models do not read.
 */
export function visibleTask(task: Task): Task {
  const { instructions, origin } = task;
  const page = new Omissions();
  const see = origin.kind === 'github' ? visibleOnPage : plainText;
  const quotes = origin.kind === 'github' && origin.work !== undefined;
  const body = (quotes ? visibleQuotes : see)(task.body, page);
  const comments = task.comments.map((one) => ({ author: one.author, body: see(one.body, page) }));
  const rules = instructions && visiblePlain(instructions.text);
  // A run's record already contains what was found at its start, in the same words.
  const leftOut = new Set([
    ...(task.leftOut ?? []),
    ...limitNotes(task.title, body, comments),
    ...page.notes(),
    ...(rules?.note ? [`${instructions?.path}: ${rules.note}`] : []),
  ]);
  return {
    ...task,
    title: plainText(task.title, page),
    body,
    comments,
    ...(leftOut.size > 0 ? { leftOut: [...leftOut] } : {}),
    ...(instructions && rules ? { instructions: { ...instructions, text: rules.text } } : {}),
  };
}

const plainText = (text: string, omissions: Omissions): string => omissions.withoutInvisible(text);

function limitNotes(title: string, body: string, comments: Task['comments']): readonly string[] {
  const text = title.length + body.length;
  const all = comments.reduce((sum, one) => sum + one.body.length, 0);
  return [
    ...(text > MAX_TASK_CHARS
      ? [`The text has ${thousands(text)} characters; models read the first ${thousands(MAX_TASK_CHARS)}.`]
      : []),
    ...(all > MAX_COMMENTS_CHARS
      ? [
          `The comments have ${thousands(all)} characters; models read the newest ${thousands(MAX_COMMENTS_CHARS)}.`,
        ]
      : []),
  ];
}

const thousands = (count: number): string => count.toLocaleString('en');

/** Lists for a prompt what was left out of a task; empty if nothing was. */
export const leftOutNotes = ({ leftOut = [] }: Pick<Task, 'leftOut'>): readonly string[] =>
  leftOut.length === 0 ? [] : [leftOut.map((note) => `[${note}]`).join('\n')];

/** Maximum characters of a block. Default. */
const MAX_BLOCK = 30_000;

/**
 * Encloses untrusted text between lines with a nonce drawn after the text was written, so that the text cannot end
 * its block and impersonate another speaker. Shows at most `most` UTF-16 units, preceded by a line with the number of
 * missing ones; trims trailing blanks.
 */
export function block(name: string, nonce: string, text: string, most = MAX_BLOCK): string {
  const whole = text.trimEnd();
  const missing = whole.length - most;
  const note =
    missing > 0 ? `[${name} is cut: ${thousands(missing)} characters at its end are missing.]\n` : '';
  return `${note}<<<${name} ${nonce}\n${whole.slice(0, most).trimEnd()}\n${name} ${nonce}>>>`;
}

/** Renders comments as a block, as `newestBlock` does. */
export const commentsBlock = (
  comments: Task['comments'],
  nonce: string,
  most = MAX_COMMENTS_CHARS,
): readonly string[] =>
  newestBlock(
    'COMMENTS',
    'comment',
    comments.map(({ author, body }) => `${author} wrote:\n${body}`),
    nonce,
    most,
  );

/** Renders what maintainers replied to questions about a brief, as `newestBlock` does. */
export const repliesBlock = (
  replies: readonly string[],
  nonce: string,
  most = MAX_BLOCK,
): readonly string[] => newestBlock('MAINTAINERS SAID', 'request', replies, nonce, most);

/**
 * Renders texts as a block, oldest first; empty if there are none. Cuts the oldest texts first, so that a long log does
 * not displace later ones.
 */
function newestBlock(
  name: string,
  one: string,
  texts: readonly string[],
  nonce: string,
  most: number,
): readonly string[] {
  if (texts.length === 0) return [];
  const shown: string[] = [];
  let left = most;
  for (const text of texts.toReversed()) {
    if (text.length > left && shown.length > 0) {
      const mark = `\n(${thousands(text.length - left)} more characters of this ${one} are cut)`;
      if (left > 0) shown.unshift(`${text.slice(0, left)}${mark}`);
      break;
    }
    shown.unshift(text);
    left -= text.length;
    if (left <= 0) break;
  }
  const missing = texts.length - shown.length;
  const note = missing > 0 ? `[${counted(missing, `older ${one}`)} left out here.]\n` : '';
  // The truncated text reports its own omission; only the newest can be too long by itself.
  return [
    `${note}${block(name, nonce, shown.join('\n\n'), shown.length > 1 ? Number.POSITIVE_INFINITY : most)}`,
  ];
}

/** Renders text as one line, so that it cannot begin a list, a heading or a block. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
