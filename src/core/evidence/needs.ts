/** What a test can need that the sandbox does not have. */
export const NEEDS = ['database', 'browser', 'docker', 'display', 'time-zone', 'network'] as const;
export type Need = (typeof NEEDS)[number];

/** PostgreSQL, MySQL, Redis, MongoDB, RabbitMQ, Elasticsearch. */
const PORTS = '(?:5432|3306|6379|27017|5672|9200)';
/** Names that such a service usually has in a compose file. */
const SERVICES = '(?:postgres(?:ql)?|mysql|mariadb|redis|mongo(?:db)?|rabbitmq|elasticsearch|db)';

/** In the order in which they are asked: a database that is not there is also a connection that is refused. */
const SIGNS: readonly (readonly [Need, RegExp])[] = [
  [
    'database',
    new RegExp(
      `(?:ECONNREFUSED|[Cc]onnection refused|[Cc]onnecting to|[Cc]onnect to)[^\\n]{0,120}\\b${PORTS}\\b` +
        `|\\b${PORTS}\\b[^\\n]{0,120}(?:ECONNREFUSED|refused)` +
        `|(?:ENOTFOUND|EAI_AGAIN|could not translate host name|lookup) "?${SERVICES}\\b` +
        `|Can't connect to (?:local )?MySQL server`,
    ),
  ],
  [
    'browser',
    /Executable doesn't exist at|playwright install\b|Could not find (?:Chrom|expected browser)|Failed to launch the browser process|No binary for Chrom|cannot find Chrome binary|(?:chromedriver|geckodriver)'? executable needs to be in PATH/,
  ],
  ['docker', /Cannot connect to the Docker daemon|docker\.sock\b|Could not find a valid Docker environment/],
  ['display', /cannot open display|no display name and no \$DISPLAY|Missing X server/i],
  [
    'time-zone',
    /ZoneInfoNotFoundError|No time zone found with key|unknown time zone|Invalid time zone specified/,
  ],
  [
    'network',
    /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b|getaddrinfo|Temporary failure in name resolution|Name or service not known|Could not resolve host|UnknownHostException|NameResolutionError|no such host|failed to lookup address information|[Nn]etwork is unreachable/,
  ],
];

/** Characters of one output that are looked at. */
const MAX_OUTPUT_CHARS = 20_000;

/** What a failure's output shows to be missing; null where it shows nothing of the kind. */
export const needOf = (output: string): Need | null =>
  SIGNS.find(([, sign]) => sign.test(output.slice(-MAX_OUTPUT_CHARS)))?.[0] ?? null;
