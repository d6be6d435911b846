import { failureLines, howEnded, quotedCode } from '../../core/reports/index.ts';
import { type FailedTry, shownSetup } from '../../core/settings/index.ts';

const STEP_NAMES = { 'set-up': 'set-up', build: 'the build', tests: 'the tests' } as const;

/** The failure of the detected commands, and which others were tried. */
export function brokenText(message: string, [, ...others]: readonly FailedTry[]): string {
  if (others.length === 0) return message;
  const tried = others.map(({ recipe, step, output, stopped }) => {
    const name = step === 'set-up' ? 'setup' : step === 'build' ? 'build' : 'test';
    const command = recipe.commands[name] ?? '';
    const limit = stopped ? [howEnded({ exitCode: null, stopped })] : [];
    const why = [...limit, ...failureLines(output, 1).map(quotedCode)].join(', ');
    return `${quotedCode(shownSetup(command).slice(0, 200))} (${STEP_NAMES[step]} failed${why === '' ? '' : `: ${why}`})`;
  });
  return `${message} Runoff also tried ${tried.join(', ')}.`;
}

/** Maximum lines of pip's output in a note. */
const PIP_LINES = 2;

/** Set-up succeeded nevertheless: some tests may fail for it. */
export function pipNote(output: string): string {
  const lines = output.split('\n').filter((line) => line.startsWith('ERROR: '));
  const told = lines
    .slice(0, PIP_LINES)
    .map((line) => quotedCode(line.slice(0, 300)))
    .join(', ');
  return `pip did not install the packages of set-up: ${told}. The tests ran with those that this machine has.`;
}
