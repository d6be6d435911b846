import type { Task } from '../model/index.ts';
import { codeAside, codeBack } from './aside.ts';
import { LEFT_OUT, withoutHiddenMarkup } from './markup.ts';
import { type Plain, withoutUnseen, withoutUnseenEntities } from './unseen.ts';

/** What was taken away can bring the parts around it together; so often it is looked at again. Text of people needs two. */
const MOST_PASSES = 8;
/** Characters that a note names. */
const MOST_NAMED = 5;

export interface Seen {
  readonly text: string;
  /** A sentence on what was left out; null where nothing was. */
  readonly note: string | null;
}

/**
 * Markdown of others as its readers on GitHub see it: without comments, attributes, titles and texts of images, definitions,
 * and characters that nobody sees. Who reads an issue agrees to what is seen; a model would obey the rest as well. Code
 * that is surely shown stays as it is. Looking at the result again takes nothing more away.
 */
export function seenMarkdown(text: string): Seen {
  const plain = withoutUnseen(text);
  let left = plain.text;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const again = once(left);
    if (again === left) return { text: left, note: noteOn(plain, left !== plain.text) };
    left = again;
  }
  // Made to form anew each time: without its brackets nothing is markup any more.
  return { text: left.replaceAll('<', '‹').replace(/[[\]]/g, ' '), note: noteOn(plain, true) };
}

function once(text: string): string {
  const { text: aside, pieces } = codeAside(text);
  return codeBack(withoutHiddenMarkup(withoutUnseenEntities(aside)), pieces);
}

/** Text that is shown as it stands, such as a title or a file: characters that nobody sees are left out. */
export function seenPlain(text: string): Seen {
  const plain = withoutUnseen(text);
  return { text: plain.text, note: noteOn(plain, false) };
}

function noteOn({ characters, count }: Plain, marked: boolean): string | null {
  const named = characters.slice(0, MOST_NAMED).join(', ');
  const more = characters.length > MOST_NAMED ? ', …' : '';
  const parts = [
    ...(marked ? [`what its page does not show (each place is marked ${LEFT_OUT})`] : []),
    ...(count > 0
      ? [`${count} ${count === 1 ? 'character' : 'characters'} that nobody sees (${named}${more})`]
      : []),
  ];
  return parts.length === 0 ? null : `Left out of this text: ${parts.join(', and ')}.`;
}

const withNote = ({ text, note }: Seen): string => (note === null ? text : `${text}\n\n[${note}]`);

/**
 * A task as models may read it: what people could not see in it is left out, and said. What was written at a terminal is
 * not Markdown of a page: there only characters are left out.
 */
export function seenTask(task: Task): Task {
  const see = task.origin.kind === 'github' ? seenMarkdown : seenPlain;
  const { instructions } = task;
  return {
    ...task,
    title: seenPlain(task.title).text,
    body: withNote(see(task.body)),
    comments: task.comments.map(({ author, body }) => ({ author, body: withNote(see(body)) })),
    ...(instructions
      ? { instructions: { ...instructions, text: withNote(seenPlain(instructions.text)) } }
      : {}),
  };
}
