export { type ContainerOptions, openContainer } from './container.ts';
