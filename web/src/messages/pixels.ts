import type { Attachment } from "../api/types";
import { addressOf } from "./files";

/** So much of a file is read to find its size. Photographs may have a small picture and a profile of colours before it. */
const HEAD = 128 * 1024;

const text = (bytes: DataView, at: number, length: number) =>
  at + length <= bytes.byteLength ? String.fromCharCode(...new Uint8Array(bytes.buffer, bytes.byteOffset + at, length)) : "";

/** How many pixels a picture has, by the beginning of its file; null if that does not say. */
export function pixelsIn(head: Uint8Array): number | null {
  const bytes = new DataView(head.buffer, head.byteOffset, head.byteLength);
  try {
    if (text(bytes, 1, 3) === "PNG") return bytes.getUint32(16) * bytes.getUint32(20);
    if (text(bytes, 0, 4) === "GIF8") return bytes.getUint16(6, true) * bytes.getUint16(8, true);
    if (text(bytes, 8, 4) === "WEBP") return pixelsInWebp(bytes);
    if (bytes.getUint16(0) === 0xffd8) return pixelsInJpeg(bytes);
  } catch {
    // It ends too early.
  }
  return null;
}

function pixelsInWebp(bytes: DataView): number | null {
  const kind = text(bytes, 12, 4);
  const low = (at: number) => bytes.getUint16(at, true);
  if (kind === "VP8 ") return (low(26) & 0x3fff) * (low(28) & 0x3fff);
  if (kind === "VP8X") return (1 + low(24) + (bytes.getUint8(26) << 16)) * (1 + low(27) + (bytes.getUint8(29) << 16));
  if (kind !== "VP8L") return null;
  const packed = bytes.getUint32(21, true);
  return (1 + (packed & 0x3fff)) * (1 + ((packed >>> 14) & 0x3fff));
}

function pixelsInJpeg(bytes: DataView): number | null {
  let at = 2;
  while (at < bytes.byteLength) {
    if (bytes.getUint8(at) !== 0xff) return null;
    const marker = bytes.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return bytes.getUint16(at + 5) * bytes.getUint16(at + 7);
    at += 2 + bytes.getUint16(at + 2);
  }
  return null;
}

/** How many pixels a file has; null if neither the hub nor the file says it. */
export async function readPixels(file: Attachment): Promise<number | null> {
  // A hub that has measured the picture says so.
  const { width, height } = file as { width?: number | null; height?: number | null };
  if (width && height) return width * height;
  const answer = await fetch(addressOf(file), { headers: { Range: `bytes=0-${HEAD - 1}` } });
  return answer.ok ? pixelsIn(new Uint8Array(await answer.arrayBuffer())) : null;
}
