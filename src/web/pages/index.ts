export { frontPage, sendSignedOut } from './front.ts';
export { installationPage } from './installation.ts';
export { leaderboardPages } from './leaderboard.ts';
export { runPages } from './run/index.ts';
export { runList } from './runs.ts';
export { tokenPages } from './tokens.ts';
