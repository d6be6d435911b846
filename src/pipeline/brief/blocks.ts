import type { Task } from '../../core/model/index.ts';

/** Characters of one block. */
const MOST_TEXT = 30_000;

/** Untrusted text between delimiters that carry a fresh nonce, so that it cannot close them itself. */
export const block = (name: string, nonce: string, text: string): string =>
  `<<<${name} ${nonce}\n${text.slice(0, MOST_TEXT)}\n${name} ${nonce}>>>`;

export const taskText = ({ title, body }: Pick<Task, 'title' | 'body'>): string => `${title}\n\n${body}`;
