import { imageSize } from 'image-size';
import type { Limits } from '../../shared/limits.ts';
import type { Content } from '../../shared/tool.ts';

/** What model providers take. Types by image-size's names. */
const ACCEPTED = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);

/** The images of one result, against the limits that hold for all of them together. */
export class ImageGate {
  readonly #limits: Limits;
  #bytes = 0;
  count = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** The image as canonical base64 with the type its bytes show, or a text that names what was left out and why. */
  admit(data: unknown, declared: unknown): Content {
    const mime = declaredType(declared);
    if (typeof data !== 'string') return omitted(mime, 0, 'no data');
    const { imageBytes, imagesBytes, imagesPerResult, imageSidePixels } = this.#limits;
    // Looked at before decoding: a bomb is never turned into a Buffer.
    if (estimatedBytes(data) > imageBytes + 1024)
      return omitted(mime, estimatedBytes(data), `over ${imageBytes} bytes`);
    const bytes = Buffer.from(withoutDataUrl(data), 'base64');
    if (bytes.length > imageBytes) return omitted(mime, bytes.length, `over ${imageBytes} bytes`);
    const shape = shapeOf(bytes);
    const mimeType = shape && ACCEPTED.get(shape.type);
    if (!shape || !mimeType) return omitted(mime, bytes.length);
    if (Math.max(shape.width, shape.height) > imageSidePixels) {
      return omitted(mimeType, bytes.length, `${shape.width}x${shape.height} pixels`);
    }
    if (this.count >= imagesPerResult) return omitted(mimeType, bytes.length, `over ${imagesPerResult} images`);
    if (this.#bytes + bytes.length > imagesBytes) {
      return omitted(mimeType, bytes.length, `images over ${imagesBytes} bytes in sum`);
    }
    this.count += 1;
    this.#bytes += bytes.length;
    return { type: 'image', data: bytes.toString('base64'), mimeType };
  }
}

function omitted(mime: string, bytes: number, why?: string): Content {
  return { type: 'text', text: `[image omitted: ${mime}, ${bytes} bytes${why ? `, ${why}` : ''}]` };
}

function estimatedBytes(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function withoutDataUrl(data: string): string {
  if (!data.startsWith('data:')) return data;
  const comma = data.indexOf(',');
  return comma < 0 ? data : data.slice(comma + 1);
}

/** Node decodes newlines, URL-safe characters and missing padding by itself. */
function shapeOf(bytes: Buffer): { type: string; width: number; height: number } | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const { type, width, height } = imageSize(bytes);
    return type === undefined ? undefined : { type, width, height };
  } catch {
    return undefined;
  }
}

/** `png` and `IMAGE/PNG; charset=binary` are said as people meant them; it is only shown, never believed. */
function declaredType(declared: unknown): string {
  if (typeof declared !== 'string') return 'unknown type';
  const bare = (declared.split(';')[0] ?? '').trim().toLowerCase().slice(0, 100);
  if (/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(bare)) return bare;
  return /^[a-z0-9.+-]+$/.test(bare) ? `image/${bare}` : 'unknown type';
}
