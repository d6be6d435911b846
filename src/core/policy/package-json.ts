import { z } from 'zod';

const Manifest = z.object({
  scripts: z.record(z.string(), z.unknown()).catch({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}),
  packageManager: z.string().optional().catch(undefined),
});

/** The parts of a package.json that say how a project is built and tested. */
export interface PackageFacts {
  readonly scripts: ReadonlyMap<string, string>;
  /** Names of packages that setup has to install. */
  readonly packages: ReadonlySet<string>;
  /** `npm`, `pnpm`, `yarn` or `bun`, if the file says so. */
  readonly manager: string | null;
}

/** Null when the text is not a JSON object. */
export function readPackage(text: string): PackageFacts | null {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // A package.json that cannot be read says nothing; the project's own tools will complain about it.
    return null;
  }
  const parsed = Manifest.safeParse(value);
  if (!parsed.success) return null;
  const { scripts, dependencies, devDependencies, packageManager } = parsed.data;
  return {
    scripts: new Map(
      Object.entries(scripts).flatMap(([name, script]) =>
        typeof script === 'string' && script.trim() !== '' ? [[name, script] as const] : [],
      ),
    ),
    packages: new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]),
    manager: /^(npm|pnpm|yarn|bun)@/.exec(packageManager ?? '')?.[1] ?? null,
  };
}
