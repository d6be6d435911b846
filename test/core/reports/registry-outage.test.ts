import { describe, expect, test } from 'vitest';
import { registryOutage } from '../../../src/core/reports/index.ts';

const failed = { tail: '', refusedHosts: [], failedHosts: [], hasNetwork: true };

describe('a set-up that failed because of its registry', () => {
  test('names the hosts that could not be reached', () => {
    const failedHosts = [
      { host: 'registry.test:443', why: 'does not accept connections (ECONNREFUSED)' },
      { host: 'files.test:8443', why: 'has no address' },
    ];
    expect(registryOutage({ ...failed, failedHosts })).toBe(
      'registry.test does not accept connections (ECONNREFUSED), files.test:8443 has no address',
    );
  });

  test.each([
    ['npm', 'npm error code E503\nnpm error 503 Service Unavailable - GET https://registry.test/left-pad'],
    ['npm, slow', 'npm error code ETIMEDOUT\nnpm error errno ETIMEDOUT'],
    ['pnpm', ' ERR_PNPM_FETCH_502  GET https://registry.test/left-pad: Bad Gateway - 502'],
    ['yarn 1', 'error Error: https://registry.test/x: Request failed "503 Service Unavailable"'],
    ['yarn', '➤ YN0035: │   Response Code: 503 (Service Unavailable)'],
    ['pip', 'ERROR: HTTP error 503 while getting https://files.test/a.whl'],
    ['uv', 'error: HTTP status client error (429 Too Many Requests) for url (https://index.test/simple/a/)'],
    ['cargo', 'Caused by:\n  failed to get successful HTTP response from `https://index.test/x`, got 503'],
    ['go', 'go: example.test/m@v1: reading https://proxy.test/m: 502 Bad Gateway'],
    ['go, slow', 'go: example.test/m@v1: Get "https://proxy.test/m": net/http: TLS handshake timeout'],
    ['maven', '[ERROR] Could not transfer artifact a:b from central: status code: 503, reason phrase: x'],
    ['gradle', "> Could not GET 'https://x.test'. Received status code 503 from server: Backend"],
    ['dotnet', 'error : Response status code does not indicate success: 503 (Unavailable).'],
  ])('is recognised by what %s prints', (_client, tail) => {
    expect(registryOutage({ ...failed, tail })).toMatch(/^`.*`$/);
  });

  test.each([
    ['a package that does not exist', 'npm error code E404\nnpm error 404 Not Found - GET https://x.test/a'],
    ['a lock file that does not match', 'npm error code EUSAGE'],
    ['a login that is missing', 'npm error code E401'],
    [
      'a try that was repeated',
      "WARNING: Retrying after 'ReadTimeoutError'\nERROR: No matching distribution",
    ],
    ['a request that succeeded later', 'npm http fetch GET 503 https://x.test/a attempt 1\nnpm error code 1'],
    ['a number', 'src/a.c:503: error: expected ;'],
  ])('is not %s', (_what, tail) => {
    expect(registryOutage({ ...failed, tail })).toBeNull();
  });

  test('is never an outage where a host was refused, nor without a network', () => {
    const tail = 'npm error code E503';
    expect(registryOutage({ ...failed, tail, refusedHosts: ['x.test:443'] })).toBeNull();
    expect(registryOutage({ ...failed, tail, hasNetwork: false })).toBeNull();
  });
});
