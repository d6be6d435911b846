import { join, resolve } from 'node:path';
import { overFile, readEnvFile, withPrivateKey } from '../adapters/config/index.ts';
import { Fault } from '../core/model/index.ts';
import { type Operator, parseEnvironment } from '../core/policy/index.ts';
import { defaultData } from './paths.ts';

/** The operator's settings from `.env` in the current folder and the environment, which wins. */
export async function readOperator(env: NodeJS.ProcessEnv, cwd: string): Promise<Operator> {
  const file = await readEnvFile(join(cwd, '.env'));
  const given = overFile(file, env);
  const data = resolve(cwd, given.RUNOFF_DATA?.trim() || defaultData(env));
  const agents = given.RUNOFF_AGENTS?.trim();
  const parsed = parseEnvironment(
    await withPrivateKey({
      ...given,
      RUNOFF_DATA: data,
      ...(agents ? { RUNOFF_AGENTS: resolve(cwd, agents) } : {}),
    }),
  );
  if (parsed.kind === 'ok') return parsed.operator;
  const problems = parsed.problems.map((problem) => `${problem.name}: ${problem.message}`);
  throw new Fault('ENVIRONMENT_INVALID', `The environment cannot be used:\n  ${problems.join('\n  ')}`);
}
