export { overFile, readEnvFile, variablesNamedIn, withPrivateKey } from './env-file.ts';
export { readSettingsText } from './settings-text.ts';
