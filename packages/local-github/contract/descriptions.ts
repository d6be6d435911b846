import { readFileSync } from 'node:fs';
import { checker, type Schema } from './schemas.ts';

type Ref = { readonly $ref: string };
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}
export interface ResponseBody {
  readonly schema: Schema | null;
}
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly (Parameter | Ref)[];
  readonly body: { readonly required: boolean; readonly schema: Schema | null } | null;
  readonly responses: Readonly<Record<string, ResponseBody | Ref>>;
}
interface RestDescription {
  readonly operations: readonly Operation[];
  readonly components: {
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly responses?: Readonly<Record<string, ResponseBody>>;
  };
}
interface WebhookDescription {
  readonly events: Readonly<Record<string, Schema>>;
  readonly components: object;
}

export interface Route {
  readonly operation: Operation;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly literalLength: number;
  readonly parameters: readonly Parameter[];
}

function routes(description: RestDescription): readonly Route[] {
  const parameter = (p: Parameter | Ref): Parameter => {
    if (!('$ref' in p)) return p;
    const found = description.components.parameters?.[p.$ref.split('/').at(-1) ?? ''];
    if (!found) throw new Error(`The contract lacks ${p.$ref}.`);
    return found;
  };
  return description.operations
    .map((operation) => {
      const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
      const literal = operation.path.replaceAll(/\{\w+\}/g, '');
      const source = operation.path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '([^/]+)');
      return {
        operation,
        pattern: new RegExp(`^${source}$`),
        names,
        literalLength: literal.length,
        parameters: operation.parameters.map(parameter),
      };
    })
    .sort((a, b) => b.literalLength - a.literalLength);
}

const readDescription = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as T;

/** GitHub's descriptions, and what checks values against them. */
function openDescriptions() {
  const rest = readDescription<RestDescription>('rest.json');
  const hooks = readDescription<WebhookDescription>('webhooks.json');
  return {
    rest,
    hooks,
    table: routes(rest),
    checkRest: checker(rest.components),
    checkHook: checker(hooks.components),
  };
}

/** Shared by all contracts of a process: to compile the schemas that one test meets takes about a second. */
export const descriptions = (() => {
  let opened: ReturnType<typeof openDescriptions> | undefined;
  return () => {
    opened ??= openDescriptions();
    return opened;
  };
})();
