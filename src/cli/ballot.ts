import type { BallotQuestion } from '../core/arena/index.ts';
import type { ShellTerminal } from '../runs/index.ts';
import {
  type BallotPage,
  ballotPage,
  lastTop,
  type Paint,
  resultsText,
  rowsOfPage,
  screenLines,
} from './render/index.ts';

/** What a key asks for. */
type BallotKey =
  | 'left'
  | 'right'
  | 'tie'
  | 'skip'
  | 'undo'
  | 'quit'
  | 'line-up'
  | 'line-down'
  | 'page-up'
  | 'page-down'
  | 'start'
  | 'end'
  | 'go-to-a'
  | 'go-to-b';

const ESCAPE = '\u001b';
const KEYS: Readonly<Record<string, BallotKey>> = {
  a: 'left',
  A: 'left',
  b: 'right',
  B: 'right',
  t: 'tie',
  T: 'tie',
  '=': 'tie',
  s: 'skip',
  S: 'skip',
  u: 'undo',
  U: 'undo',
  q: 'quit',
  Q: 'quit',
  // Ctrl-C and Ctrl-D: with raw input they are characters.
  '\u0003': 'quit',
  '\u0004': 'quit',
  k: 'line-up',
  [`${ESCAPE}[A`]: 'line-up',
  [`${ESCAPE}OA`]: 'line-up',
  j: 'line-down',
  '\r': 'line-down',
  [`${ESCAPE}[B`]: 'line-down',
  [`${ESCAPE}OB`]: 'line-down',
  [`${ESCAPE}[5~`]: 'page-up',
  ' ': 'page-down',
  [`${ESCAPE}[6~`]: 'page-down',
  g: 'start',
  [`${ESCAPE}[H`]: 'start',
  G: 'end',
  [`${ESCAPE}[F`]: 'end',
  '1': 'go-to-a',
  '2': 'go-to-b',
};
const KEY_OR_SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[0-9;]*[A-Za-z~]|O[A-Za-z])|[\\s\\S]`, 'gu');

/** Keys of one read. Pasted text is no vote: of letters that arrive together, only the first counts. */
function keysIn(bytes: Uint8Array): readonly BallotKey[] {
  const keys = (new TextDecoder().decode(bytes).match(KEY_OR_SEQUENCE) ?? []).flatMap(
    (key) => KEYS[key] ?? [],
  );
  const acts = keys.findIndex((key) => ACTIONS.has(key));
  return acts < 0 ? keys : keys.slice(0, acts + 1);
}

const ACTIONS: ReadonlySet<BallotKey> = new Set(['left', 'right', 'tie', 'skip', 'undo', 'quit']);

/** Votes of one person, one question at a time. */
interface VotingTurns {
  /** The present question; null if nothing is left to ask. */
  question(): BallotQuestion | null;
  /** About the votes so far: one sentence. */
  progress(): string;
  /** Stores a verdict on the present question; the next one takes its place. */
  cast(verdict: 'left' | 'right' | 'tie' | 'skip'): Promise<void>;
  /** Takes back the last vote; its question returns. False if there is none. */
  undo(): Promise<boolean>;
}

interface BallotOptions {
  /** Asked again for each screen, because a window may change its size. */
  readonly terminal: () => ShellTerminal;
  readonly paint: Paint;
  readonly results: 'before' | 'after';
  /** Ends the vote, like the key for it. */
  readonly signal: AbortSignal;
}

/**
 * Lets a person vote with single keys. Ends when nothing is left to ask or the person quits; each vote is stored before
 * the next question appears. Rejects if a vote cannot be stored.
 */
export async function voteByKeys(turns: VotingTurns, options: BallotOptions): Promise<'done' | 'quit'> {
  const { signal } = options;
  const view = new BallotView(turns, options);
  const { promise, resolve, reject } = Promise.withResolvers<'done' | 'quit'>();
  let busy = false;
  let leaving = false;
  const act = async (keys: readonly BallotKey[]) => {
    for (const key of keys) {
      if (key === 'quit') leaving = true;
      else await view.press(key);
    }
    if (leaving) resolve('quit');
    else if (turns.question() === null) resolve('done');
    else view.draw();
  };
  const stop = () => resolve('quit');
  signal.addEventListener('abort', stop);
  view.open();
  // Keys that arrive while a vote is being stored were typed for a question that is gone; leaving is always possible.
  const release = options.terminal().input((bytes) => {
    const keys = keysIn(bytes);
    if (busy) {
      leaving ||= keys.includes('quit');
      return;
    }
    busy = true;
    act(keys).then(() => {
      busy = false;
    }, reject);
  });
  try {
    return turns.question() === null ? 'done' : await promise;
  } finally {
    release();
    signal.removeEventListener('abort', stop);
    view.close();
  }
}

/** The screen: the present question, and which part of it is shown. */
class BallotView {
  readonly #turns: VotingTurns;
  readonly #options: BallotOptions;
  #top = 0;
  #last = '';

  constructor(turns: VotingTurns, options: BallotOptions) {
    this.#turns = turns;
    this.#options = options;
  }

  /** On the terminal's other screen, so that what stood there before returns at the end. */
  open(): void {
    this.#write(`${ESCAPE}[?1049h${ESCAPE}[?25l`);
    this.draw();
  }

  close(): void {
    this.#write(`${ESCAPE}[?25h${ESCAPE}[?1049l`);
  }

  async press(key: BallotKey): Promise<void> {
    const question = this.#turns.question();
    if (question === null) return;
    if (key === 'left' || key === 'right' || key === 'tie' || key === 'skip') {
      await this.#turns.cast(key);
      this.#show(`${VERDICT_TEXT[key]} ${this.#resultsOf(question)}`);
    } else if (key === 'undo') {
      const undone = await this.#turns.undo();
      this.#show(undone ? 'Your last vote does not count any more.' : 'There is no vote to undo.');
    } else this.#scroll(key, question);
  }

  draw(): void {
    const question = this.#turns.question();
    if (question === null) return;
    const { rows, columns: width } = this.#options.terminal();
    const { paint } = this.#options;
    const page = this.#pageOf(question, width);
    this.#top = Math.min(this.#top, lastTop(page, rows));
    const status = [this.#turns.progress(), this.#last].filter((text) => text !== '').join(' ');
    const lines = screenLines({ page, top: this.#top, rows, width, status, paint });
    this.#write(`${ESCAPE}[H${ESCAPE}[J${lines.join('\r\n')}`);
  }

  #show(last: string): void {
    this.#last = last.trim();
    this.#top = 0;
  }

  #resultsOf(question: BallotQuestion): string {
    return this.#options.results === 'after' ? (resultsText(question) ?? '') : '';
  }

  #pageOf(question: BallotQuestion, width: number): BallotPage {
    const { paint, results } = this.#options;
    return ballotPage(question, { width, paint, showResults: results === 'before' });
  }

  #scroll(key: BallotKey, question: BallotQuestion): void {
    const { rows, columns } = this.#options.terminal();
    const page = this.#pageOf(question, columns);
    const to: Partial<Record<BallotKey, number>> = {
      'line-up': this.#top - 1,
      'line-down': this.#top + 1,
      'page-up': this.#top - rowsOfPage(rows) + 1,
      'page-down': this.#top + rowsOfPage(rows) - 1,
      start: 0,
      end: page.lines.length,
      'go-to-a': page.startOfA,
      'go-to-b': page.startOfB,
    };
    this.#top = Math.max(0, Math.min(to[key] ?? this.#top, lastTop(page, rows)));
  }

  #write(text: string): void {
    this.#options.terminal().onOutput(new TextEncoder().encode(text));
  }
}

const VERDICT_TEXT = {
  left: 'You preferred A.',
  right: 'You preferred B.',
  tie: 'You called it a tie.',
  skip: 'You skipped that pair.',
} as const;
