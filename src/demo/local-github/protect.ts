import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Inside } from './inside.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Refuses pushes to branches that match, in all repositories, in GitHub's words for a broken rule. `pattern` is a
 * shell pattern of branch names such as `auto-dev/*`.
 */
export async function protect(inside: Inside, pattern: string, message: string): Promise<void> {
  if (!/^[\w./*?-]+$/.test(pattern)) throw new Error(`Not a pattern of branch names: ${pattern}`);
  inside.rules.push({ pattern, message });
  const cases = inside.rules.map(
    (rule) => `refs/heads/${rule.pattern})
  echo "error: GH013: Repository rule violations found for $1." >&2
  echo ${quoted(`- ${rule.message}`)} >&2
  exit 1;;`,
  );
  const script = `#!/bin/sh\ncase "$1" in\n${cases.join('\n')}\nesac\n`;
  for (const { directory } of inside.repositories.values()) {
    const hook = join(directory, 'hooks', 'update');
    await mkdir(join(directory, 'hooks'), { recursive: true });
    await writeFile(hook, script);
    await chmod(hook, 0o755);
  }
}
