export { noSuchRepository, openAccess, writableRepositories } from './access.ts';
export { FormKey, refuseForgedForms } from './csrf.ts';
export { openLocalSignIn } from './local.ts';
export { openNames } from './names.ts';
export { openSignIn } from './sign-in.ts';
export { openConcurrencyLimit, openVisitLimit, personKey } from './visits.ts';
