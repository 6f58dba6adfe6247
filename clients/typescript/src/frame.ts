// Binary frames: four bytes of magic, the length of the header (32 bits, big-endian), the header as JSON, the bytes.

import type { ArtifactDownloadChunkHeader, ArtifactUploadChunkHeader } from "./generated.js";

const UPLOAD = "ARTU";
const DOWNLOAD = "ARTD";
const HEADER_AT = 8;

/** Encodes a chunk for the gateway. */
export function encodeUpload(header: ArtifactUploadChunkHeader, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const frame = new Uint8Array(HEADER_AT + json.length + bytes.length);
  frame.set(new TextEncoder().encode(UPLOAD));
  new DataView(frame.buffer).setUint32(4, json.length);
  frame.set(json, HEADER_AT);
  frame.set(bytes, HEADER_AT + json.length);
  return frame;
}

/** Decodes a chunk from the gateway; returns `undefined` if the frame is of another kind or malformed. */
export function decodeDownload(
  frame: ArrayBuffer,
): { header: ArtifactDownloadChunkHeader; bytes: Uint8Array<ArrayBuffer> } | undefined {
  if (frame.byteLength < HEADER_AT) return undefined;
  const magic = new TextDecoder().decode(new Uint8Array(frame, 0, 4));
  const length = new DataView(frame).getUint32(4);
  if (magic !== DOWNLOAD || HEADER_AT + length > frame.byteLength) return undefined;
  try {
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, HEADER_AT, length)));
    return { header, bytes: new Uint8Array(frame, HEADER_AT + length) };
  } catch {
    return undefined;
  }
}
