export { type GatewayOptions, openGateway } from './gateway.ts';
export { memoryLedger } from './memory-ledger.ts';
export type { TokenPrice } from './prices.ts';
export type { ProviderAccess, Providers } from './providers.ts';
export type { DayCaps } from './scopes.ts';
