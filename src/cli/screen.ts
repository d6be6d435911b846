import { createLogUpdate } from 'log-update';
import { EXIT, type LiveBlock, type Screen, type Terminal } from '../shell.ts';
import { terminalText } from './render/index.ts';

/** A stream of this process that a person may be looking at. */
export type OutputStream = Pick<NodeJS.WriteStream, 'columns' | 'isTTY' | 'rows' | 'write'>;

interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A terminal that does not know its size, as in some containers, says 0. */
const UNKNOWN_WIDTH = 80;
const UNKNOWN_HEIGHT = 24;
const columnsOf = ({ columns }: OutputStream): number => (columns > 0 ? columns : UNKNOWN_WIDTH);

/**
 * The two streams as a screen. Everything that goes to a terminal loses the escape sequences that are not our own. A
 * terminal that cannot move its cursor (`TERM=dumb`) gets plain lines.
 */
export function openScreen({ stdout, stderr, env }: Streams): Screen {
  const moves = stderr.isTTY === true && env.TERM !== 'dumb';
  const mayColour = !env.NO_COLOR && env.TERM !== 'dumb';
  const outIsTerminal = stdout.isTTY === true;
  const block = moves ? openBlock(stderr) : null;
  /** Text between two drawings of the block stands above it. */
  const above = (write: () => void): void => (block === null ? write() : block.below(write));
  return {
    // Files and other programs receive a patch unmodified.
    out: (text) => above(() => stdout.write(outIsTerminal ? terminalText(text) : text)),
    err: (text) => above(() => stderr.write(terminalText(text))),
    outIsTerminal,
    get width() {
      return moves ? columnsOf(stderr) : null;
    },
    colour: stderr.isTTY === true && mayColour,
    outColour: outIsTerminal && mayColour,
    live: block,
  };
}

/**
 * Ends the process whose standard output cannot be written. Its reader may stop reading: `runoff select … | head` is not
 * an error.
 */
export function endUnwritten(
  { screen, exit }: Pick<Terminal, 'screen'> & { exit(code: number): unknown },
  error: NodeJS.ErrnoException,
): void {
  if (error.code === 'EPIPE') {
    exit(EXIT.done);
    return;
  }
  screen.err(
    `\nStandard output cannot be written: ${error.message}.\n→ Free disk space, or send it elsewhere, then run the same command again.\n`,
  );
  exit(EXIT.failed);
}

/**
 * A block of lines at the end of the terminal. Only lines that changed are written, in one synchronized update, so that
 * nothing flickers; the cursor is hidden meanwhile.
 */
function openBlock(stream: OutputStream): LiveBlock & { below(write: () => void): void } {
  const sized: OutputStream = {
    get columns() {
      return columnsOf(stream);
    },
    get rows() {
      return stream.rows > 0 ? stream.rows : UNKNOWN_HEIGHT;
    },
    isTTY: true,
    write: (text: string | Uint8Array) => stream.write(text),
  };
  const update = createLogUpdate(sized as NodeJS.WriteStream);
  let drawn: string | null = null;
  return {
    draw(lines) {
      drawn = lines.map(terminalText).join('\n');
      update(drawn);
    },
    end() {
      if (drawn === null) return;
      drawn = null;
      update.done();
    },
    below(write) {
      if (drawn === null) return write();
      update.clear();
      write();
      update(drawn);
    },
  };
}
