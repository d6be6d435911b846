import { join } from 'node:path';
import { readPlainToml } from '../../core/settings/index.ts';
import {
  accessTo,
  besideIndex,
  type ClientAnswer,
  type ClientEnvironment,
  fileText,
  homeOf,
  isText,
  loginIn,
  netrcAt,
  placeOf,
  withoutLogin,
} from './answers.ts';

interface Index {
  readonly url: string;
  readonly isDefault: boolean;
}

/**
 * uv has no command that prints its settings, so the variables and files that its documentation names are read, the
 * user's file before the machine's. Missing settings default to pip's.
 */
export async function askUv(env: ClientEnvironment): Promise<ClientAnswer> {
  const home = env.XDG_CONFIG_HOME ?? join(homeOf(env), '.config');
  const files = await Promise.all(
    [env.UV_CONFIG_FILE, join(home, 'uv/uv.toml'), '/etc/uv/uv.toml'].map(fileText),
  );
  const found = [
    ...indexesOfVariables(env),
    ...files.flatMap((text) => indexesOf(readPlainToml(text))),
  ].filter(({ url }) => URL.canParse(url) && url.startsWith('https:'));
  const first = found.find(({ isDefault }) => isDefault);
  const more = [...new Set(found.filter(({ isDefault }) => !isDefault).map(({ url }) => url))];
  const urls = [...(first ? [first.url] : []), ...more];
  return accessTo(urls, {
    logins: [
      ...urls.flatMap((url) => loginIn(url, besideIndex(url))),
      ...(await netrcAt(
        env,
        urls.map((url) => placeOf(url, besideIndex(url))),
      )),
    ],
    env: {
      ...(first ? { UV_DEFAULT_INDEX: withoutLogin(first.url) } : {}),
      ...(more.length > 0 ? { UV_INDEX: more.map(withoutLogin).join(' ') } : {}),
    },
  });
}

const asIndexes = (text: string | undefined, isDefault: boolean): readonly Index[] =>
  (text ?? '')
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => ({ url: word.replace(/^[\w.-]+=/, ''), isDefault }));

const indexesOfVariables = (env: ClientEnvironment): readonly Index[] => [
  ...asIndexes(env.UV_DEFAULT_INDEX ?? env.UV_INDEX_URL, true),
  ...asIndexes([env.UV_INDEX, env.UV_EXTRA_INDEX_URL].filter(Boolean).join(' '), false),
];

function indexesOf(settings: Readonly<Record<string, unknown>>): readonly Index[] {
  const tables = Array.isArray(settings.index) ? settings.index : [];
  const more = settings['extra-index-url'];
  return [
    ...tables.flatMap((table: Readonly<Record<string, unknown>>) =>
      isText(table.url) ? [{ url: table.url, isDefault: table.default === true }] : [],
    ),
    ...(isText(settings['index-url']) ? asIndexes(settings['index-url'], true) : []),
    ...(Array.isArray(more) ? more : [more]).filter(isText).flatMap((url) => asIndexes(url, false)),
  ];
}
