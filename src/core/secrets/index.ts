export { secretsIn } from './known.ts';
export { MARK, type Redact, redactor, redactText, secretsOf } from './redact.ts';
