import { counted, type Task } from '../model/index.ts';
import { githubHtml } from './github-html.ts';
import { Omissions } from './omissions.ts';
import { pageText } from './page-text.ts';

/** UTF-16 units of a text that is parsed. GitHub takes 65,536 characters; what a longer text holds behind is left out. */
const MAX_PARSED_CHARS = 140_000;

interface VisibleText {
  readonly text: string;
  /** A sentence on what was left out and how much; null where nothing was. */
  readonly note: string | null;
}

/**
 * Markdown of others as its readers on GitHub see it: parsed as GitHub parses it, and written as Markdown again from the
 * text that the page shows, code to the letter. What the page does not show, or shows only to who hovers or clicks, is left
 * out: comments, attributes, addresses of links, descriptions of images, definitions, formulas and pictures made from text,
 * and characters that nobody sees. `<details>` is shown to whoever opens it, and stays. What is in doubt is left out, too.
 * Who reads an issue agrees to what is seen; a model would obey the rest as well.
 */
export function visibleMarkdown(text: string): VisibleText {
  const omissions = new Omissions();
  return { text: visibleOnPage(text, omissions), note: omissions.note() };
}

function visibleOnPage(text: string, omissions: Omissions): string {
  const whole = text.toWellFormed();
  const shown = pageText(githubHtml(whole.slice(0, MAX_PARSED_CHARS)), omissions);
  const cut = whole.length > MAX_PARSED_CHARS ? `\n\n${omissions.omit(whole.length - MAX_PARSED_CHARS)}` : '';
  return shown + cut;
}

/**
 * A text of ours that quotes several texts of others, each in lines that begin with `>` and apart from the next one by a
 * line that does not (core/brief/pull-task.ts): each is a page of its own on GitHub, so that a tag that is not closed, or a
 * definition, in one of them says nothing about the others.
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

/** Text that is shown as it stands, such as a title or a file: characters that nobody sees are left out. */
export function visiblePlain(text: string): VisibleText {
  const omissions = new Omissions();
  return { text: omissions.withoutInvisible(text), note: omissions.note() };
}

/** UTF-16 units of an issue's title and body that models read: nearly all that GitHub takes. Our default. */
export const MAX_TASK_CHARS = 60_000;
/** UTF-16 units of all comments that they read. Our default. */
const MAX_COMMENTS_CHARS = 30_000;

/**
 * A task as models may read it: what people could not see in it is left out. What was written at a terminal is not
 * Markdown of a page: there only characters are left out. `leftOut` says all that models do not read of it.
 */
export function visibleTask(task: Task): Task {
  const { instructions, origin } = task;
  const page = new Omissions();
  const see = origin.kind === 'github' ? visibleOnPage : plainText;
  const quotes = origin.kind === 'github' && origin.work !== undefined;
  const body = (quotes ? visibleQuotes : see)(task.body, page);
  const comments = task.comments.map((one) => ({ author: one.author, body: see(one.body, page) }));
  const rules = instructions && visiblePlain(instructions.text);
  const hidden = [page.note(), rules?.note ? `${instructions?.path}: ${rules.note}` : null];
  // The record of a run holds what was found at its start, in the same words.
  const leftOut = new Set([
    ...(task.leftOut ?? []),
    ...limitNotes(task.title, body, comments),
    ...hidden.filter((note) => note !== null),
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

/** What a task leaves out, in our words, for a prompt; no lines where nothing was left out. */
export const leftOutNotes = ({ leftOut = [] }: Pick<Task, 'leftOut'>): readonly string[] =>
  leftOut.length === 0 ? [] : [leftOut.map((note) => `[${note}]`).join('\n')];

/** Characters of a block. Our default. */
const MAX_BLOCK = 30_000;

/**
 * Text of others in a prompt, between lines with a nonce that was drawn after it was written, so that nothing in it can end
 * its block and speak as somebody else. At most `most` UTF-16 units of it, and a line before the block that says how many
 * are missing; blanks at its end go.
 */
export function block(name: string, nonce: string, text: string, most = MAX_BLOCK): string {
  const whole = text.trimEnd();
  const missing = whole.length - most;
  const note =
    missing > 0 ? `[${name} is cut: ${thousands(missing)} characters at its end are missing.]\n` : '';
  return `${note}<<<${name} ${nonce}\n${whole.slice(0, most).trimEnd()}\n${name} ${nonce}>>>`;
}

/**
 * Comments as a block, oldest first; none where there are none. What does not fit is cut from the oldest, so that a long
 * log does not push out what was said after it.
 */
export function commentsBlock(comments: Task['comments'], nonce: string): readonly string[] {
  if (comments.length === 0) return [];
  const shown: string[] = [];
  let left = MAX_COMMENTS_CHARS;
  for (const { author, body } of comments.toReversed()) {
    const text = `${author} wrote:\n${body}`;
    if (text.length > left && shown.length > 0) {
      const mark = `\n(${thousands(text.length - left)} more characters of this comment are cut)`;
      if (left > 0) shown.unshift(`${text.slice(0, left)}${mark}`);
      break;
    }
    shown.unshift(text);
    left -= text.length;
    if (left <= 0) break;
  }
  const missing = comments.length - shown.length;
  const note = missing > 0 ? `[${counted(missing, 'older comment')} left out here.]\n` : '';
  // The one that is cut says so itself; only the newest can be too long alone.
  const most = shown.length > 1 ? Number.POSITIVE_INFINITY : MAX_COMMENTS_CHARS;
  return [`${note}${block('COMMENTS', nonce, shown.join('\n\n'), most)}`];
}

/** Text as one line: what begins a list, a heading or a block in it does so no more. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
