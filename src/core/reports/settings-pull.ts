import { SETTINGS_FILE } from '../model/index.ts';
import {
  COMMAND_NAMES,
  type CommandName,
  SUGGESTED,
  settingsOfRecipe,
  shownSetup,
} from '../settings/index.ts';
import { code, inertSentence, report, table } from './markdown.ts';
import type { ChecksView, RunView } from './view.ts';

interface SettingsPull {
  /** Of the settings file. */
  readonly text: string;
  readonly title: string;
  readonly body: string;
}

const DOES = {
  setup: 'installs packages, once for each base commit, in a sandbox that reaches package registries only',
  build: 'builds the base commit and each candidate, without network',
  test: 'tests the base commit and each candidate, without network',
} as const satisfies Record<CommandName, string>;

/** The settings file that keeps the commands of a run; null if they are not known yet, or there are none. */
function settingsOfRun(checks: ChecksView | undefined): string | null {
  if (checks?.settled !== true) return null;
  const commands = Object.fromEntries(
    COMMAND_NAMES.flatMap((name) => (checks[name] ? [[name, checks[name]]] : [])),
  );
  return settingsOfRecipe(null, { commands, ...(checks.instead ? { instead: checks.instead } : {}) }, []);
}

/** Whether a person could keep the commands of a run in a settings file, which this run found without one. */
export const couldKeepCommands = ({ checks, origin }: Pick<RunView, 'checks' | 'origin'>): boolean =>
  origin.kind === 'github' &&
  settingsOfRun(checks) !== null &&
  !Object.values(checks?.from ?? {}).includes(SETTINGS_FILE);

/** Title and description of a draft pull request that adds the settings file. Null if there is nothing to keep. */
export function settingsPull({ id, base, checks, origin }: RunView): SettingsPull | null {
  const text = settingsOfRun(checks);
  if (text === null || checks === undefined || origin.kind === 'local') return null;
  const on = base ? ` on commit ${code(base.sha.slice(0, 10))}` : '';
  const suggested = COMMAND_NAMES.some((name) => checks.from?.[name] === SUGGESTED);
  const { body } = report('pull', id, [
    `This adds ${code(SETTINGS_FILE)} with the commands that worked for #${origin.issue} (run ${code(id)})${on}. Runoff then uses them as they are, instead of finding them by trying.`,
    table(['line', 'what it does', 'where it comes from'], 'lll', rows(checks)),
    suggested
      ? '**A model suggested commands here.** They run in a sandbox; read them before you merge.'
      : '',
    'All other settings keep their defaults. Runoff reads this file on the default branch only, and never changes it. If the commands of this repository change, change the file, or delete it so that Runoff finds them again.',
  ]);
  return { text, title: `Settings of Runoff: ${SETTINGS_FILE}`, body };
}

function rows(checks: ChecksView): readonly (readonly string[])[] {
  return COMMAND_NAMES.flatMap((name) => {
    const [command, failed] = [checks[name], checks.instead?.[name]];
    if (command)
      return [
        [code(`${name}: ${shownSetup(command)}`, 300), DOES[name], originOf(checks.from?.[name], failed)],
      ];
    if (failed === undefined) return [];
    const why = `${code(shownSetup(failed), 200)} failed on the base commit`;
    return [[code(`${name}: ""`), 'no such command', why]];
  });
}

function originOf(file: string | undefined, failed: string | undefined): string {
  const origin = file === undefined ? '' : file === SUGGESTED ? SUGGESTED : code(file, 100);
  const instead = failed === undefined ? '' : `${code(shownSetup(failed), 200)} failed on the base commit`;
  return [origin, instead].filter((one) => one !== '').join('; ') || inertSentence('–', 10);
}
