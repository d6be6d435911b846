export { overFile, readEnvFile, withPrivateKey } from './env-file.ts';
export { readSettingsText } from './settings-text.ts';
