// Incremental SHA-256, which the Web Crypto API does not offer.

// Signed, because JavaScript engines optimize signed 32-bit integers; the bits are the same.
const K = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
const BLOCK = 64;
/** Bytes hashed before control returns to the event loop. */
const SLICE = 1 << 20;

/** An incremental hash. */
export class Sha256 {
  readonly #state = new Int32Array([
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ]);
  readonly #words = new Int32Array(64);
  /** Bytes that do not fill a block yet, `#restLength` of them. */
  readonly #rest = new Uint8Array(BLOCK);
  #restLength = 0;
  #length = 0;

  /** Appends bytes to the hashed data. */
  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    let at = 0;
    if (this.#restLength > 0) {
      at = Math.min(BLOCK - this.#restLength, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#restLength);
      this.#restLength += at;
      if (this.#restLength < BLOCK) return this;
      this.#compress(this.#rest, 0);
      this.#restLength = 0;
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.#compress(bytes, at);
    this.#rest.set(bytes.subarray(at));
    this.#restLength = bytes.length - at;
    return this;
  }

  /** Returns the hash as 64 lower-case hexadecimal characters. The object must not be used afterwards. */
  hex(): string {
    const length = this.#length;
    const padding = new Uint8Array(((this.#restLength < 56 ? 56 : 120) - this.#restLength) + 8);
    padding[0] = 0x80;
    const bits = new DataView(padding.buffer, padding.length - 8);
    bits.setUint32(0, Math.floor(length / 0x2000_0000));
    bits.setUint32(4, (length << 3) >>> 0);
    this.update(padding);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #compress(bytes: Uint8Array, start: number): void {
    const w = this.#words;
    const state = this.#state;
    for (let i = 0, at = start; i < 16; i += 1, at += 4) {
      w[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    }
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    let a = state[0]!;
    let b = state[1]!;
    let c = state[2]!;
    let d = state[3]!;
    let e = state[4]!;
    let f = state[5]!;
    let g = state[6]!;
    let h = state[7]!;
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}

/** Returns the hash of `bytes`. */
export function sha256(bytes: Uint8Array): string {
  return new Sha256().update(bytes).hex();
}

/** Returns the hash of a file of any size. Hashes it in slices, so that a page stays responsive. */
export async function sha256OfBlob(
  blob: Blob,
  options: { signal?: AbortSignal; onProgress?: (hashed: number) => void } = {},
): Promise<string> {
  const hash = new Sha256();
  for (let at = 0; at < blob.size; at += SLICE) {
    options.signal?.throwIfAborted();
    hash.update(new Uint8Array(await blob.slice(at, at + SLICE).arrayBuffer()));
    options.onProgress?.(Math.min(at + SLICE, blob.size));
    // Reading a file yields to the event loop, but reading memory does not.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return hash.hex();
}
