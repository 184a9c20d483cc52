import { ViewerError } from "./bytes";

const damaged = () => new ViewerError("A compressed piece of the recording is damaged.", "", "REC011");

/** Decodes one LZ4 block into `out` at `to`; returns the end. Matches may refer to earlier blocks. */
function block(input: Uint8Array, out: Uint8Array, to: number): number {
  let i = 0;
  const length = (start: number) => {
    let n = start;
    if (start === 15) {
      let b = 255;
      while (b === 255) {
        if (i >= input.length) throw damaged();
        b = input[i++]!;
        n += b;
      }
    }
    return n;
  };
  while (i < input.length) {
    const token = input[i++]!;
    const literals = length(token >> 4);
    if (i + literals > input.length || to + literals > out.length) throw damaged();
    out.set(input.subarray(i, i + literals), to);
    i += literals;
    to += literals;
    if (i === input.length) return to; // the last sequence has no match
    if (i + 2 > input.length) throw damaged();
    const offset = input[i]! | (input[i + 1]! << 8);
    i += 2;
    const count = length(token & 15) + 4;
    if (offset === 0 || offset > to || to + count > out.length) throw damaged();
    if (offset >= count) {
      out.copyWithin(to, to - offset, to - offset + count);
      to += count;
    } else {
      for (let k = 0; k < count; ++k, ++to) out[to] = out[to - offset]!; // overlapping: byte by byte
    }
  }
  return to;
}

/** An LZ4 frame (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md) of known size. */
export function decompressLz4(input: Uint8Array, size: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input.length < 11 || view.getUint32(0, true) !== 0x184d2204) throw damaged();
  const flags = input[4]!;
  if (flags >> 6 !== 1) throw damaged();
  const blockChecksum = (flags & 0x10) !== 0;
  let at = 6 + ((flags & 0x08) !== 0 ? 8 : 0) + ((flags & 0x01) !== 0 ? 4 : 0) + 1;
  const out = new Uint8Array(size);
  let to = 0;
  for (;;) {
    if (at + 4 > input.length) throw damaged();
    const head = view.getUint32(at, true);
    at += 4;
    if (head === 0) break;
    const stored = head >>> 31 === 1;
    const length = head & 0x7fffffff;
    if (at + length > input.length) throw damaged();
    const piece = input.subarray(at, at + length);
    if (stored) {
      if (to + length > size) throw damaged();
      out.set(piece, to);
      to += length;
    } else to = block(piece, out, to);
    at += length + (blockChecksum ? 4 : 0);
  }
  if (to !== size) throw damaged();
  return out;
}
