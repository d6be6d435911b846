export { type GatewayOptions, openGateway, PROVIDER_URLS, type Providers } from './gateway.ts';
export type { TokenPrice } from './prices.ts';
