import {
  INSTALLED_REASONS,
  type Looked,
  type NotableKind,
  namedFile,
  PACKAGE_KINDS,
} from './package-kinds.ts';

/** Added lines with invisible characters, or with characters that display code in another order than it runs. */
const UNSEEN_LINE =
  /^\+(?:.*[^\n])?(?!(?<=^\+)\ufeff|(?<=\p{Extended_Pictographic}\ufe0f?|[\p{Emoji_Component}])[\u200d\ufe0f])[\p{Cf}\p{Default_Ignorable_Code_Point}]/mu;

/** A Latin word that contains a look-alike letter of another script. */
const LOOK_ALIKE =
  /\p{Script=Latin}[\p{Script=Cyrillic}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]|[\p{Script=Cyrillic}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]\p{Script=Latin}/u;
const LOOK_ALIKE_LINE = new RegExp(`^\\+.*(?:${LOOK_ALIKE.source})`, 'mu');

/**
 * Blanks other than the space, private-use letters, emoji styles, and letters that look like a slash, a backslash or
 * a dot.
 */
const MISLEADING_NAME =
  /(?! )\p{Zs}|\p{Co}|\p{Variation_Selector}|[\u{1d159}\u{16fe4}]|[\u2044\u2215\u2571\u29f8\u2f03\u3033\uff0f\u2216\u29f5\u29f9\ufe68\uff3c]|[\u2024-\u2026\ufe52\uff0e\u0660\u06d4]/u;
const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}|\p{Script=Adlam}/u;

/**
 * The kinds, in listing order: files whose effects tests do not detect, such as those that affect other machines,
 * later agents, CI and deployment, and content that a reader of the diff cannot see. Compiled by hand; add rows for
 * missing kinds.
 */
const NOTABLE_KINDS: readonly NotableKind[] = [
  {
    what: 'points to Git LFS content that was not inspected',
    line: /^\+version https:\/\/git-lfs\.github\.com\/spec\/v1$/m,
  },
  { what: 'adds lines with invisible characters', line: UNSEEN_LINE },
  { what: 'mixes look-alike letters of two alphabets', line: LOOK_ALIKE_LINE },
  {
    what: 'has a misleading name: blanks, look-alike characters or right-to-left letters',
    when: ({ path }) =>
      MISLEADING_NAME.test(path) ||
      LOOK_ALIKE.test(path) ||
      RIGHT_TO_LEFT.test(path) ||
      path !== path.normalize('NFC') ||
      path.split('/').some((part) => part.trim() !== part),
  },
  {
    what: 'instructs coding agents',
    path: /(?:^|\/)(?:(?:AGENTS|CLAUDE|GEMINI|QWEN|CONVENTIONS)(?:\.[\w-]+)?\.md|\.(?:cursorrules|clinerules|windsurfrules|aider\.conf\.ya?ml|mcp\.json)|opencode\.jsonc?|\.(?:agents|claude|codex|cursor|gemini|qwen|opencode|pi|copilot|continue|junie|kiro|roo|goose|windsurf|clinerules|amazonq|augment|trae)\/.*)$|^\.github\/(?:copilot-instructions\.md|instructions\/.*|prompts\/.*|agents\/.*|skills\/.*|chatmodes\/.*)$/i,
  },
  {
    what: 'defines who must review what',
    path: namedFile('CODEOWNERS', 'OWNERS(?:_ALIASES)?', '\\.mailmap'),
  },
  {
    what: 'is run by git or on a developer’s machine',
    path: namedFile(
      ...[
        '\\.husky/.*',
        '\\.?(?:git)?hooks/.*',
        '\\.git-hooks/.*',
        '\\.?lefthook(?:-local)?\\.(?:ya?ml|toml|json)',
      ],
      ...['\\.pre-commit-(?:config|hooks)\\.ya?ml', '\\.lintstagedrc.*', '\\.overcommit\\.yml', '\\.envrc'],
      ...[
        '\\.vscode/.*',
        '[^/]*\\.code-workspace',
        '\\.devcontainer/.*',
        '\\.devcontainer\\.json',
        '\\.idea/.*',
      ],
      ...[
        '\\.fleet/.*',
        '\\.run/.*',
        '\\.helix/.*',
        '\\.zed/.*',
        '\\.theia/.*',
        '\\.(?:n?vim|g?vim)rc',
        '\\.exrc',
        '\\.nvim\\.lua',
      ],
      ...['\\.dir-locals(?:-2)?\\.el', '\\.lvimrc', '\\.projectile', '[^/]*\\.sublime-(?:project|build)'],
      ...['\\.(?:bash|zsh)rc', '\\.(?:bash_|z)?profile', '\\.gdbinit', '\\.lldbinit', '\\.irbrc', '\\.pryrc'],
      ...[
        'mise\\.toml',
        '\\.mise(?:\\.[\\w-]+)?\\.toml',
        '\\.mise/.*',
        '\\.tool-versions',
        'rust-toolchain(?:\\.toml)?',
        '\\.(?:python|node|ruby|java|go|terraform|opentofu)-version',
        '\\.nvmrc',
        '\\.sdkmanrc',
        'shell\\.nix',
        'flake\\.nix',
      ],
      ...['(?:GNU)?Makefile(?:\\.[\\w-]+)?', '[^/]*\\.mk', 'Taskfile(?:\\.dist)?\\.ya?ml', '\\.?justfile'],
      ...['\\.gitpod\\.ya?ml', '\\.replit', '\\.env(?:\\.[\\w.-]+)?'],
    ),
  },
  { what: 'changes how git reads files', path: namedFile('\\.gitattributes', '\\.lfsconfig') },
  { what: 'is a Git bundle or pack', path: namedFile('[^/]*\\.(?:bundle|pack|idx)') },
  {
    what: 'is inside a Git repository in the tree',
    path: /(?:^|\/)(?:[^/]+\.git|\.gitted|_git|dotgit)\//i,
  },
  ...PACKAGE_KINDS,
  {
    what: 'builds or runs containers',
    path: namedFile(
      '(?:[\\w.-]+\\.)?(?:Docker|Container)file(?:\\.[\\w.-]+)?',
      '(?:docker-)?compose[\\w.-]*\\.ya?ml',
      '\\.dockerignore',
      'docker-bake\\.(?:hcl|json)',
      'Vagrantfile',
      'Earthfile',
    ),
  },
  {
    what: 'is run by CI or deploys',
    path: namedFile(
      ...[
        '\\.gitlab-ci[\\w.-]*\\.ya?ml',
        '\\.gitlab/.*',
        'Jenkinsfile(?:\\.[\\w-]+)?',
        '\\.circleci/.*',
        '\\.travis\\.ya?ml',
      ],
      ...[
        'azure-pipelines[\\w.-]*\\.ya?ml',
        'bitbucket-pipelines\\.ya?ml',
        '\\.?appveyor\\.ya?ml',
        '\\.drone\\.ya?ml',
      ],
      ...[
        '\\.woodpecker(?:\\.ya?ml|/.*)',
        '\\.buildkite/.*',
        '\\.cirrus\\.(?:ya?ml|star)',
        '\\.semaphore/.*',
        '\\.teamcity/.*',
      ],
      ...[
        '\\.forgejo/.*',
        '\\.gitea/.*',
        'cloudbuild[\\w.-]*\\.ya?ml',
        'buildspec[\\w.-]*\\.ya?ml',
        'codemagic\\.yaml',
      ],
      ...['renovate\\.json5?', '\\.renovaterc(?:\\.json)?', '\\.goreleaser\\.ya?ml', '\\.releaserc.*'],
      ...[
        '[^/]*\\.(?:tf|tfvars|tofu|hcl|nomad|bicep)',
        'Pulumi[\\w.-]*\\.ya?ml',
        'serverless\\.(?:ya?ml|ts|js)',
        'cdk\\.json',
      ],
      ...[
        '(?:k8s|kubernetes|helm|charts?|kustomize|manifests|deploy(?:ment)?|argocd|flux|ansible|terraform)/.*\\.(?:ya?ml|json|tpl|j2)',
      ],
      ...[
        'kustomization\\.ya?ml',
        'skaffold\\.ya?ml',
        'Tiltfile',
        'helmfile\\.ya?ml',
        'netlify\\.toml',
        'vercel\\.json',
      ],
      ...[
        'fly\\.toml',
        'Procfile',
        'render\\.ya?ml',
        'railway\\.(?:toml|json)',
        'wrangler\\.(?:toml|jsonc?)',
      ],
      ...[
        'app\\.ya?ml',
        'heroku\\.ya?ml',
        'appspec\\.ya?ml',
        '\\.ebextensions/.*',
        '\\.do/.*',
        '(?:[\\w.-]*cloudformation[\\w.-]*|template|samconfig)\\.(?:ya?ml|json|toml)',
        '\\.?mergify\\.ya?ml',
        '\\.mergify/.*',
        'firebase\\.json',
        'amplify\\.ya?ml',
        'now\\.json',
        '\\.platform(?:\\.app\\.yaml|/.*)',
        '[^/]*\\.service',
      ],
    ),
  },
  {
    what: 'is run by CI or deploys',
    path: /^\.github\/(?:actions\/.*|(?:dependabot|settings|mergify|auto-merge)\.ya?ml)$/i,
  },
  { what: 'is, or becomes, executable', line: /^new (?:file )?mode 100755$/m },
  { what: 'is a link to another file', line: /^new file mode 120000$/m },
  { what: 'is binary, so no diff shows its content', when: ({ binary }) => binary },
];

function notableReasons({ path, section = '', binary = false }: Looked): readonly string[] {
  const file = { path, section, binary };
  const found = NOTABLE_KINDS.filter(
    (kind) =>
      (kind.path?.test(path) ?? true) && (kind.line?.test(section) ?? true) && (kind.when?.(file) ?? true),
  );
  return [...new Set(found.map(({ what }) => what))];
}

/**
 * Why a reader should look twice at a changed file, although it is allowed: such files affect other machines or later
 * agents, and no test detects that. Null for an ordinary file. `section` is the file's part of the patch.
 */
export function notable(file: Looked): string | null {
  const found = notableReasons(file);
  return found.length === 0 ? null : found.join('; it ');
}

/** Changed files by reason for a second look, in the order of the table; a file can have several reasons. */
export function notableGroups(
  files: readonly Looked[],
): readonly { readonly what: string; readonly paths: readonly string[] }[] {
  const found = files.map((file) => ({ path: file.path, why: notableReasons(file) }));
  return [...new Set(NOTABLE_KINDS.map(({ what }) => what))].flatMap((what) => {
    const paths = found.filter(({ why }) => why.includes(what)).map(({ path }) => path);
    return paths.length === 0 ? [] : [{ what, paths }];
  });
}

/**
 * Paths of changed files that determine which packages are installed: manifests with changed dependencies, and lock
 * files.
 */
export const changedPackageFiles = (files: readonly Looked[]): readonly string[] =>
  files
    .filter((file) => notableReasons(file).some((reason) => INSTALLED_REASONS.includes(reason)))
    .map(({ path }) => path);

/** Whether a file with this path can determine which packages are installed. */
export const isPackageFile = (path: string): boolean =>
  PACKAGE_KINDS.some((kind) => INSTALLED_REASONS.includes(kind.what) && kind.path?.test(path) === true);
