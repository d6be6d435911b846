export { type GitHubOptions, openGitHub } from './github.ts';
