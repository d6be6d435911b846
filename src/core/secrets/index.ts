export { secretsIn } from './known.ts';
export { REDACTED, type Redact, redactor, redactText, secretsOf } from './redact.ts';
