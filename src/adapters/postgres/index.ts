export { type ConnectOptions, newClient, openClient, openPool, type PoolOptions } from './connect.ts';
export { type ConnectionLimits, LIMITS, LONG_WORK } from './limits.ts';
