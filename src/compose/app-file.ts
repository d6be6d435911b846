import { isMap, isScalar, parseDocument } from 'yaml';

interface AppFileText {
  /** The file, parsed. */
  readonly appFile: unknown;
  /** The comment above each permission, as one line, by the permission's name. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** Reads `app.yml`, where the reason for each permission is the comment above it. */
export function readAppFile(text: string): AppFileText {
  const document = parseDocument(text);
  const permissions = document.get('default_permissions');
  const pairs = isMap(permissions) ? permissions.items : [];
  const reasons = pairs.map(({ key }, index) => {
    const first = index === 0 && isMap(permissions) ? permissions.commentBefore : null;
    const comment = (isScalar(key) ? key.commentBefore : null) ?? first ?? '';
    return [String(key), comment.replace(/\s+/g, ' ').trim()] as const;
  });
  return { appFile: document.toJS() as unknown, reasons: Object.fromEntries(reasons) };
}
