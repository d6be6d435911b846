// Writes docs/images/github: what Runoff posts on GitHub, as GitHub shows it on a desktop and on a phone. Plays the
// runs itself. Needs Chromium (apt-get install chromium). `npm run github-pictures` takes some minutes; names of scenes behind
// it, such as `-- clear`, draw only these, and `-- earlier` the texts of the earlier layout, which are files.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, parse } from 'node:path';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import type { Page } from 'playwright-core';
import { launchChromium } from '../test/browser/launch.ts';
import { type PostedText, playScene, SCENES } from './github-texts.ts';

/** Widths of a comment on GitHub, on a desktop and on a phone. */
const WIDTHS = [860, 390] as const;
const GAP = 24;
/** Folder of the texts that Runoff posted in its earlier layout, for comparison. */
const EARLIER = 'earlier';
/** Of one picture: what is below it is more of the same. */
const MAX_HEIGHT = 1_500;

const STYLES = await readFile(
  createRequire(import.meta.url).resolve('github-markdown-css/github-markdown-light.css'),
  'utf8',
);
/** The frame of a comment; the rest is GitHub's own. */
const FRAME = `
  body { margin: 0; padding: ${GAP}px; background: #fff; display: flex; gap: ${GAP}px; align-items: flex-start;
    font: 14px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; }
  section { flex: none; box-sizing: border-box; border: 1px solid #d1d9e0; border-radius: 6px; overflow: hidden; }
  header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; color: #59636e; }
  h1.title { font-size: 20px; font-weight: 400; margin: 0; padding: 12px 16px 0; }
  .markdown-body { padding: 16px; font-size: 14px; }
`;

const rendered = (text: PostedText): string => {
  const html = micromark(text.body, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  const title = text.title === undefined ? '' : `<h1 class="title"></h1>`;
  const boxes = WIDTHS.map(
    (width) =>
      `<section style="width: ${width}px"><header><b>runoff</b> bot commented</header>${title}<div class="markdown-body">${html}</div></section>`,
  );
  return `<!doctype html><meta charset="utf-8"><style>${STYLES}${FRAME}</style>${boxes.join('')}`;
};

/** Draws each text at both widths, side by side. */
async function drawTexts(texts: readonly PostedText[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const browser = await launchChromium();
  try {
    const width = WIDTHS.reduce((sum, one) => sum + one + GAP, GAP);
    const page = await browser.newPage({ viewport: { width, height: 400 }, colorScheme: 'light' });
    for (const text of texts) {
      await page.setViewportSize({ width, height: 200 });
      await page.setContent(rendered(text));
      for (const title of await page.locator('h1.title').all())
        await title.evaluate((element, words) => {
          element.textContent = words;
        }, text.title ?? '');
      const height = await page.locator('html').evaluate(({ scrollHeight }) => scrollHeight);
      await page.setViewportSize({ width, height: Math.min(height, MAX_HEIGHT) });
      await writeFile(join(folder, `${text.name}.webp`), await asWebP(page, await page.screenshot()));
      process.stderr.write(`drew ${text.name}.webp\n`);
    }
  } finally {
    await browser.close();
  }
}

/** A third of the bytes of a PNG; letters stay sharp. */
const QUALITY = 0.85;

/** The browser's own encoder: no other program is needed. A text, since the compiler knows nothing of pages here. */
async function asWebP(page: Page, png: Buffer): Promise<Buffer> {
  const bytes = await page.evaluate<number[]>(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png.toString('base64')}';
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d').drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${QUALITY} });
    return Array.from(new Uint8Array(await blob.arrayBuffer()));
  })()`);
  return Buffer.from(bytes);
}

/** The texts in `*.md` files of a folder, as they were posted. A first line `# …` is the title of a pull request. */
async function textsIn(folder: string): Promise<readonly PostedText[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.md')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8');
      const [, title, body = text] = /^# (.+)\n\n([\s\S]*)$/.exec(text) ?? [];
      return { name: parse(file).name, body, ...(title === undefined ? {} : { title }) };
    }),
  );
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '..', 'docs', 'images', 'github');
  const earlier = join(folder, EARLIER);
  const texts: PostedText[] = [];
  const wanted = process.argv.slice(2);
  const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);
  if (isWanted(EARLIER)) await drawTexts(await textsIn(earlier), earlier);
  for (const [name, scene] of Object.entries(SCENES)) {
    if (!isWanted(name)) continue;
    process.stderr.write(`playing ${name} …\n`);
    texts.push(...(await playScene(scene)));
  }
  await drawTexts(texts, folder);
  // Engines of several scenes in one process leave handles behind.
  process.exit();
}
