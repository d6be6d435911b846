export type { DayCaps } from './caps.ts';
export { type GatewayOptions, openGateway } from './gateway.ts';
export { memoryLedger } from './ledger.ts';
export type { TokenPrice } from './prices.ts';
export type { ProviderAccess, Providers } from './providers.ts';
