export { frontPage, sendSignedOut } from './front.ts';
export { installationPage } from './installation.ts';
export { runList } from './runs.ts';
