export { bundleAcpCoder } from './bundle.ts';
export { ACP_PATH, acpCoder, acpLaunch, readAcp } from './coder.ts';
