import type { Task } from '../model/index.ts';
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
function visibleQuotes(text: string): VisibleText {
  const omissions = new Omissions();
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
  return { text: shown.join('\n'), note: omissions.note() };
}

/** Text that is shown as it stands, such as a title or a file: characters that nobody sees are left out. */
export function visiblePlain(text: string): VisibleText {
  const omissions = new Omissions();
  return { text: omissions.withoutInvisible(text), note: omissions.note() };
}

const withNote = ({ text, note }: VisibleText): string => (note === null ? text : `${text}\n\n[${note}]`);

/**
 * A task as models may read it: what people could not see in it is left out, and said. What was written at a terminal is
 * not Markdown of a page: there only characters are left out.
 */
export function visibleTask(task: Task): Task {
  const see = task.origin.kind === 'github' ? visibleMarkdown : visiblePlain;
  const quotes = task.origin.kind === 'github' && task.origin.work !== undefined;
  const { instructions } = task;
  return {
    ...task,
    title: visiblePlain(task.title).text,
    body: withNote((quotes ? visibleQuotes : see)(task.body)),
    comments: task.comments.map(({ author, body }) => ({ author, body: withNote(see(body)) })),
    ...(instructions
      ? { instructions: { ...instructions, text: withNote(visiblePlain(instructions.text)) } }
      : {}),
  };
}

/** Characters of a block. Our default. */
const MAX_BLOCK = 30_000;

/**
 * Text of others in a prompt, between lines with a nonce that was drawn after it was written, so that nothing in it can end
 * its block and speak as somebody else. At most `most` UTF-16 units of it; blanks at its end go.
 */
export const block = (name: string, nonce: string, text: string, most = MAX_BLOCK): string =>
  `<<<${name} ${nonce}\n${text.slice(0, most).trimEnd()}\n${name} ${nonce}>>>`;

/** Text as one line: what begins a list, a heading or a block in it does so no more. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
