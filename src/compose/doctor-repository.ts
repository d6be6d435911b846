import { openWorkspaces } from '../adapters/git/index.ts';
import { toolsText, visibleLine } from '../core/reports/index.ts';
import { ceilingsOf, type Operator, shownSetup } from '../core/settings/index.ts';
import type { Sandbox } from '../ports/index.ts';
import { type Survey, surveyRepository } from '../runs/index.ts';
import type { DoctorFinding } from '../shell.ts';
import { openLog } from './instrumentation.ts';
import { ownerOf, toolchainsOf } from './sandbox.ts';

/**
 * Determines how a local repository would be set up, built and tested here. None of its code is executed. Faults as its
 * admission would.
 */
export async function repositoryFindings(
  operator: Operator,
  sandbox: Sandbox,
  path: string,
): Promise<readonly DoctorFinding[]> {
  const owner = ownerOf(operator);
  const workspaces = openWorkspaces({ dataDir: operator.data, sandbox, owner, log: openLog(operator) });
  const { top } = await workspaces.describe(path);
  const survey = await surveyRepository(
    {
      workspaces,
      toolchains: toolchainsOf(operator, sandbox),
      ceilings: ceilingsOf(operator),
      defaults: { models: [] },
    },
    { kind: 'local', path: top },
  );
  return [commandsFinding(survey), ...toolFindings(survey)];
}

function commandsFinding({ commands, from, services }: Survey): DoctorFinding {
  const shown = Object.entries(commands).map(
    ([name, command]) =>
      `${name} \`${visibleLine(shownSetup(command), 120)}\` (${from[name as keyof typeof from] ?? ''})`,
  );
  const name = 'repository';
  if (commands.test === undefined)
    return {
      name,
      state: 'warning',
      detail: [...shown, 'no test command was found'].join(', '),
      remedy: 'Set `checks.test` in .github/auto-dev.yml, for example `test: npm test`.',
    };
  if (services.length > 0)
    return {
      name,
      state: 'warning',
      detail: `${shown.join(', ')}; its CI starts ${services.join(', ')} beside the tests, and the sandbox has none of them`,
      remedy: 'Tests that need one fail on the base commit and are set aside. `runoff prepare` shows which.',
    };
  return { name, state: 'ok', detail: shown.join(', ') };
}

/** The start of the remedy in a sentence about a missing tool. */
const REMEDY = ' Install it on this machine';

function toolFindings({ tools, missing }: Survey): readonly DoctorFinding[] {
  const name = 'tools';
  const missingTools = missing.map((sentence): DoctorFinding => {
    const at = sentence.indexOf(REMEDY);
    return at < 0
      ? { name, state: 'warning', detail: sentence }
      : { name, state: 'warning', detail: sentence.slice(0, at), remedy: sentence.slice(at + 1) };
  });
  return tools.length === 0
    ? missingTools
    : [{ name, state: 'ok', detail: toolsText(tools) }, ...missingTools];
}
