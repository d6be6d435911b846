export { REDACTED, type Redact, redactor, redactText, secretsIn, secretsOf } from './redact.ts';
