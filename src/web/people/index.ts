export { openAccess } from './access.ts';
export { refuseForgedForms } from './csrf.ts';
export { openLocalSignIn } from './local.ts';
export { openSignIn, SIGN_IN_PATH, type SignIn, type SignInOptions } from './sign-in.ts';
export { openVisitLimit } from './visits.ts';
