export { overFile, readEnvFile, variablesNamedIn, withPrivateKey } from './env-file.ts';
