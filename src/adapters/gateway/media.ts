import { type Body, camel, isObject } from './bodies/index.ts';

type Kind = 'image' | 'document' | 'audio or video';

/** Fields that contain the agent's own JSON, in which no provider looks for content. */
const ARBITRARY = [
  'inputSchema',
  'outputSchema',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
  'schema',
  'args',
  'arguments',
];

/** Fields of a part that contain its image. */
const IMAGE_PLACES = ['source', 'imageUrl', 'inlineData'];

/** Every object in a body, except an image's own and the agent's JSON. */
export function* partsOf(body: Body): Generator<Body> {
  const open: unknown[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (Array.isArray(value)) for (const one of value) open.push(one);
    if (!isObject(value)) continue;
    yield value;
    const passed =
      value === body ? [] : mediaKindOf(value) === 'image' ? [...IMAGE_PLACES, ...ARBITRARY] : ARBITRARY;
    for (const [key, within] of Object.entries(value)) {
      if (!passed.includes(camel(key)) && (value === body || !isArbitrary(key, value))) open.push(within);
    }
  }
}

/** In Gemini's protocol a function's `response` is the agent's JSON, and its `parts` are content. */
const isArbitrary = (key: string, within: Body): boolean =>
  (key === 'input' && /tool_use$/.test(String(within.type))) || (key === 'response' && 'name' in within);

/**
 * Null for text, and for objects that only contain other content. Anything unknown counts as a document, and so does
 * what is sent as an image and declares any other type: some servers follow the declaration and read a PDF.
 */
export function mediaKindOf(part: Body): Kind | null {
  const kind = kindByName(part);
  if (kind === null) return null;
  const declared = declaredTypes(part);
  if (declared.some((type) => /^(?:audio|video)\//.test(type))) return 'audio or video';
  const image = declared.length > 0 && declared.every((type) => IMAGE_TYPE.test(type));
  return kind === 'image' && !image ? 'document' : kind;
}

/** Formats of pictures that the vendors name; https://www.iana.org/assignments/media-types has the names. */
const IMAGE_TYPE = /^image\/(?:png|jpe?g|webp|gif|heic|heif|avif)$/;

function kindByName(part: Body): Kind | null {
  const keys = Object.keys(part).map(camel);
  const type = typeof part.type === 'string' ? part.type : '';
  if (/audio|video/.test(type) || keys.some((key) => ['inputAudio', 'audioUrl', 'videoUrl'].includes(key)))
    return 'audio or video';
  if (inlineOf(part) !== undefined)
    return declaredTypes(part).every((mime) => mime === 'text/plain') ? null : 'image';
  if (/image|screenshot/.test(type) || keys.includes('imageUrl')) return 'image';
  if (['file', 'input_file', 'container_upload'].includes(type) || keys.some((key) => FILES.includes(key)))
    return 'document';
  // Each sentence of a document that may be cited gets a mark, so its size in bytes is no measure.
  if (isObject(part.citations) && part.citations.enabled !== false) return 'document';
  const source = isObject(part.source) ? part.source.type : undefined;
  return type === 'document' && source !== 'text' && source !== 'content' ? 'document' : null;
}

const FILES = ['fileData', 'fileId', 'fileUrl', 'documentUrl'];

const inlineOf = (part: Body): unknown => part.inlineData ?? part.inline_data;

/** Every media type that a part declares, in lower case; an empty one where a place for it is left empty. */
function declaredTypes(part: Body): readonly string[] {
  const inline = inlineOf(part);
  const places = [part.source, part.image_url, part.document_url, part.file, inline];
  const types = [part, ...places].flatMap((place) => {
    const fields: Body = isObject(place) ? place : { url: place };
    const named = [fields.media_type, fields.mimeType, fields.mime_type];
    const addresses = [fields.url, fields.image_url, fields.document_url, fields.data, fields.file_data];
    return [
      ...named.filter((one) => typeof one === 'string'),
      ...addresses.flatMap((one) =>
        typeof one === 'string' ? (/^data:([^,]{0,200})/i.exec(one)?.[1] ?? []) : [],
      ),
    ];
  });
  const own = types.map((type) => (type.split(';')[0] ?? '').trim().toLowerCase());
  return inline !== undefined && own.length === 0 ? [''] : own;
}

/** If no detail is requested, some models use as many tokens as the image has pixels for. */
export function boundDetail(part: Body): void {
  const image = isObject(part.image_url) ? part.image_url : part.type === 'input_image' ? part : null;
  if (image && image.detail !== 'low') image.detail = 'high';
}

/** Number of bytes of the image itself, which the vendors read as an image or reject. */
export function dataBytes(part: Body): number {
  const places = [part.source, part.image_url, part.inlineData, part.inline_data].filter(isObject);
  const data = [part.image_url, ...places.flatMap(({ data: own, url }) => [own, url])];
  return data.reduce<number>((sum, one) => sum + (typeof one === 'string' ? one.length : 0), 0);
}
