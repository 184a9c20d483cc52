import { ByteReader, ViewerError } from "./bytes";
import type { BodyRef, Connection, Contact, Frame, Numbers } from "./frame";
import type { Scene } from "./scene";

/** Frames of a running simulation (docs/formats/live.md): whole ones, and changes since the previous frame. */

const CONTACT_VALUES = 16, CONNECTION_VALUES = 9;
const CHANGE = 1;

/** The bodies that touch or are connected. Frames share it until it changes. */
interface Parts {
  contacts: { a: BodyRef; b: BodyRef }[];
  connections: { name: string; a: BodyRef; b: BodyRef }[];
}

/** A frame as raw numbers, so that a minute of frames fits into memory. Objects are made on demand. */
export class LiveFrame implements Frame {
  constructor(readonly time: number, readonly events: string[], readonly values: Float32Array, readonly parts: Parts, private readonly sizes: Sizes) {}

  get figures(): { q: Numbers; v: Numbers }[] {
    let at = 0;
    const take = (n: number) => this.values.subarray(at, (at += n));
    return this.sizes.figures.map(({ nq, nv }) => ({ q: take(nq), v: take(nv) }));
  }
  get numbers(): Numbers {
    return this.values.subarray(this.sizes.states, this.sizes.fixed);
  }
  get contacts(): Contact[] {
    return this.parts.contacts.map((bodies, i) => {
      const [point, normal, force, moment, impulse] = this.vectors(this.sizes.fixed + CONTACT_VALUES * i, 5);
      return { ...bodies, point: point!, normal: normal!, force: force!, moment: moment!, impulse: impulse!, state: this.values[this.sizes.fixed + CONTACT_VALUES * i + 15]! };
    });
  }
  get connections(): Connection[] {
    const start = this.sizes.fixed + CONTACT_VALUES * this.parts.contacts.length;
    return this.parts.connections.map((named, i) => {
      const [point, force, moment] = this.vectors(start + CONNECTION_VALUES * i, 3);
      return { ...named, point: point!, force: force!, moment: moment! };
    });
  }

  private vectors(at: number, count: number): number[][] {
    return Array.from({ length: count }, (_, k) => [...this.values.subarray(at + 3 * k, at + 3 * k + 3)]);
  }
}

interface Sizes {
  figures: { nq: number; nv: number }[];
  states: number; // numbers of q and v
  fixed: number; // and of channels
}

/** Decodes messages in their order of arrival. */
export class LiveFrames {
  private readonly sizes: Sizes;
  private last: LiveFrame | undefined;

  constructor(scene: Scene) {
    const figures = scene.figures.map(({ nq, nv }) => ({ nq, nv }));
    const states = figures.reduce((sum, f) => sum + f.nq + f.nv, 0);
    this.sizes = { figures, states, fixed: states + scene.numbers.length };
  }

  next(bytes: Uint8Array): LiveFrame {
    const input = new ByteReader(bytes);
    const change = input.u8() === CHANGE;
    const time = input.f64();
    const events = list(input, (i) => i.text());
    const before = change ? this.last : undefined;
    const parts = input.u8() ? readParts(input) : before?.parts;
    if (!parts || (change && !before)) throw new ViewerError("A frame of the simulation is damaged.", "Reload the page.");
    const values = new Float32Array(this.sizes.fixed + CONTACT_VALUES * parts.contacts.length + CONNECTION_VALUES * parts.connections.length);
    if (before) values.set(before.values.subarray(0, values.length));
    while (input.left > 0) {
      const first = input.u32(), count = input.u32();
      const run = new Uint8Array(values.buffer, 4 * first, 4 * count); // throws where it does not fit
      run.set(input.raw(4 * count));
    }
    return (this.last = new LiveFrame(time, events, values, parts, this.sizes));
  }
}

function list<T>(input: ByteReader, read: (input: ByteReader) => T): T[] {
  const count = input.u32();
  if (count > input.left) throw new ViewerError("A frame of the simulation is damaged.", "Reload the page."); // every entry has bytes
  return Array.from({ length: count }, () => read(input));
}

function readParts(input: ByteReader): Parts {
  const body = (i: ByteReader): BodyRef => ({ figure: i.u32() | 0, link: i.u32() | 0 });
  const contacts = list(input, (i) => ({ a: body(i), b: body(i) }));
  const connections = list(input, (i) => {
    const bodies = { a: body(i), b: body(i) };
    return { name: i.text(), ...bodies };
  });
  return { contacts, connections };
}
