import { artifactsProblems } from './artifacts-place.ts';
import type { Environment } from './environment.ts';
import type { EnvironmentProblem } from './operator.ts';

/** Keys below a variable, as they stand in front of a problem. */
export const where = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? '' : `${path.map((key) => JSON.stringify(String(key).slice(0, 60))).join('.')}: `;

/** What each variable for itself allows, and all together do not. */
export function contradictions(env: Environment): readonly EnvironmentProblem[] {
  const problems: EnvironmentProblem[] = [...artifactsProblems(env)];
  if (env.WEBHOOK_SECRET && new Set(env.WEBHOOK_SECRET).size < 6) {
    problems.push({
      name: 'WEBHOOK_SECRET',
      message: 'is too easy to guess; `openssl rand -hex 32` makes a good one',
    });
  }
  if (env.PRIVATE_KEY_PATH && !env.PRIVATE_KEY) {
    problems.push({ name: 'PRIVATE_KEY_PATH', message: 'was not read: the file is missing or empty' });
  }
  if (env.ANTHROPIC_BASE_URL && !env.ANTHROPIC_API_KEY) {
    problems.push({ name: 'ANTHROPIC_BASE_URL', message: 'is set without ANTHROPIC_API_KEY' });
  }
  if (env.GEMINI_BASE_URL && !env.GEMINI_API_KEY) {
    problems.push({ name: 'GEMINI_BASE_URL', message: 'is set without GEMINI_API_KEY' });
  }
  if (env.RUNOFF_SANDBOX === 'container' && !env.RUNOFF_SANDBOX_IMAGE) {
    problems.push({
      name: 'RUNOFF_SANDBOX_IMAGE',
      message: 'is not set; RUNOFF_SANDBOX=container needs an image with git and what your tests need',
    });
  }
  for (const [name, { folder }] of Object.entries(env.AGENT_COMMANDS)) {
    if (folder !== undefined && overlap(folder, env.RUNOFF_DATA)) {
      const message = `${where([name])}its folder holds the data folder or is part of it; sandboxes must not see that`;
      problems.push({ name: 'AGENT_COMMANDS', message });
    }
  }
  if (env.OTEL_EXPORTER_OTLP_HEADERS && !env.OTEL_EXPORTER_OTLP_ENDPOINT) {
    problems.push({
      name: 'OTEL_EXPORTER_OTLP_HEADERS',
      message: 'is set without OTEL_EXPORTER_OTLP_ENDPOINT',
    });
  }
  if (env.GHE_HOST && env.GITHUB_API_URL) {
    problems.push({ name: 'GHE_HOST', message: 'contradicts GITHUB_API_URL; set one of the two' });
  }
  return problems;
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => `${path.replace(/\/+/g, '/').replace(/\/$/, '')}/`) as [
    string,
    string,
  ];
  return a.startsWith(b) || b.startsWith(a);
}
