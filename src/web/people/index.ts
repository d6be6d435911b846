export { openAccess } from './access.ts';
export { refuseForgedForms } from './csrf.ts';
export { openLocalSignIn } from './local.ts';
export { openSignIn, type SignIn } from './sign-in.ts';
export { openConcurrencyLimit, openVisitLimit, personKey } from './visits.ts';
export { writableRepositories } from './writable.ts';
