import { globLiteral } from './collect.ts';
import { type FileOwner, openFolders, removeWithin } from './trees.ts';

/**
 * Parts of the HOME of a set-up that are not kept, as patterns below it. Packages, caches and programs are kept. Files
 * that configure shells, git, package clients or agents, or may contain a key, are not: any package can write one
 * during its installation, and it would affect every later command.
 */
const NOT_KEPT = [
  // Keys, and settings of clients that can hold them.
  '.npmrc .netrc _netrc .git-credentials .ssh .gnupg .pypirc .docker .aws .azure .kube .yarnrc .yarnrc.yml',
  '.bunfig.toml .pip .config/pip .config/gh .config/gcloud .config/NuGet .nuget/NuGet .cargo/credentials*',
  '.gem/credentials .m2/settings*.xml .gradle/gradle.properties .gradle/init.d .gradle/init.gradle*',
  '.composer/auth.json .config/composer/auth.json .npm/_logs .runoff',
  // Shells.
  '.profile .bash* .zsh* .zprofile .zlog* .kshrc .mkshrc .cshrc .tcshrc .inputrc .login .logout .env .envrc',
  '.config/fish .config/environment.d .pam_environment',
  // git, and what sets up its hooks.
  '.git .gitconfig .gitignore .gitattributes .githooks .git-template* .config/git .huskyrc* .config/husky',
  '.config/pre-commit .config/lefthook',
  // Agents.
  '.claude* .codex .gemini .qwen .copilot .cursor .pi .agents .config/opencode .opencode',
  '.config/github-copilot AGENTS.md CLAUDE.md GEMINI.md',
].flatMap((line) => line.split(' '));

/** Removes from the HOME of a set-up what must not reach later commands. No process may be running in it. */
export async function cleanHome(home: string, owner: FileOwner): Promise<void> {
  await openFolders(home, owner);
  const place = globLiteral(home);
  await removeWithin(
    home,
    NOT_KEPT.map((pattern) => `${place}/${pattern}`),
  );
}
