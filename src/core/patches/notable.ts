import type { PatchFile } from './patch.ts';

/** Why a reader should look twice at a file: what follows after "it", in a few words. */
const KINDS: readonly { readonly what: string; readonly names: RegExp }[] = [
  {
    what: 'steers coding agents',
    names:
      /(?:^|\/)(?:(?:AGENTS|CLAUDE|GEMINI|QWEN|CONVENTIONS)(?:\.[\w-]+)?\.md|\.(?:cursorrules|clinerules|windsurfrules|aider\.conf\.ya?ml|mcp\.json)|opencode\.jsonc?|\.(?:agents|claude|codex|cursor|gemini|qwen|opencode|pi|copilot|continue|junie|kiro|roo|goose)\/.*)$|^\.github\/(?:copilot-instructions\.md|instructions\/.*|prompts\/.*|agents\/.*|skills\/.*)$/i,
  },
  {
    what: 'is run by git or on a developer’s machine',
    names:
      /(?:^|\/)(?:\.husky\/.*|\.githooks\/.*|lefthook\.ya?ml|\.pre-commit-config\.ya?ml|\.envrc|\.vscode\/(?:tasks|launch|settings|mcp)\.json|\.devcontainer\/.*|\.devcontainer\.json|\.idea\/.*)$/i,
  },
  {
    what: 'decides which packages are installed, and from where',
    names:
      /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|poetry\.lock|uv\.lock|Pipfile\.lock|requirements[\w.-]*\.txt|pip\.conf|Cargo\.lock|go\.sum|Gemfile\.lock|composer\.lock|gradle-wrapper\.properties)$/i,
  },
  { what: 'changes how git reads files', names: /(?:^|\/)\.(?:gitattributes|lfsconfig)$/i },
];

/** The first line of a Git LFS pointer (its specification, version 1). */
const LFS = /^\+version https:\/\/git-lfs\.github\.com\/spec\/v1$/m;

/** Added lines in which something is that nobody sees, or that shows code in another order than it runs in. */
const UNSEEN =
  /^\+(?:.*[^\n])?(?!(?<=^\+)\ufeff|(?<=\p{Extended_Pictographic}\ufe0f?|[\p{Emoji_Component}])[\u200d\ufe0f])[\p{Cf}\p{Default_Ignorable_Code_Point}]/mu;

/** Added lines with a word of the Latin alphabet in which a letter of another one stands that looks like one of its own. */
const LOOK_ALIKE =
  /^\+.*(?:\p{Script=Latin}[\p{Script=Cyrillic}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]|[\p{Script=Cyrillic}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]\p{Script=Latin})/mu;

/**
 * Why a reader should look twice at a changed file, although nothing forbids it: such files act on other people's machines
 * or on later agents, and no test sees that. Null for an ordinary file. `section` is the file's part of the patch.
 */
export function notable({
  path,
  section = '',
}: Pick<PatchFile, 'path'> & Partial<Pick<PatchFile, 'section'>>): string | null {
  if (LFS.test(section)) return 'points to content in Git LFS that nobody has seen';
  if (UNSEEN.test(section)) return 'has characters that nobody sees in lines that it adds';
  if (LOOK_ALIKE.test(section)) return 'has words with letters of two alphabets that look alike';
  return KINDS.find(({ names }) => names.test(path))?.what ?? null;
}
