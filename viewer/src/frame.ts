import { ByteReader, ViewerError } from "./bytes";

/** A frame: the message kansetsu.Frame (docs/formats/recording.md). */
export interface Frame {
  readonly time: number;
  readonly figures: { q: Numbers; v: Numbers }[];
  readonly contacts: Contact[];
  readonly connections: Connection[];
  readonly numbers: Numbers;
  readonly events: string[];
}
export type Numbers = Float64Array | Float32Array; // of a recording; of a running simulation
export interface BodyRef {
  figure: number;
  link: number;
}
export interface Contact {
  a: BodyRef;
  b: BodyRef;
  point: number[];
  normal: number[];
  force: number[];
  moment: number[];
  impulse: number[]; // of impacts since the previous frame [N s]
  state: number; // see CONTACT_STATES
}
export const CONTACT_STATES = ["", "sticks", "slides", "spins", "impact"];
export interface Connection {
  name: string;
  a: BodyRef;
  b: BodyRef;
  point: number[];
  force: number[];
  moment: number[];
}

const WORLD: BodyRef = { figure: -1, link: -1 };

/** Calls `visit` for each field of a protobuf message; a value is a number (varint), or bytes. */
function fields(bytes: Uint8Array, visit: (field: number, value: number, data: Uint8Array) => void) {
  const input = new ByteReader(bytes);
  const varint = () => {
    let value = 0, scale = 1;
    for (let i = 0; i < 10; ++i) {
      const b = input.u8();
      value += (b & 0x7f) * scale;
      if (b < 0x80) return value;
      scale *= 128;
    }
    throw new ViewerError("A frame is damaged.", "", "REC012");
  };
  const none = new Uint8Array(0);
  while (input.left > 0) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0: visit(field, varint(), none); break;
      case 1: visit(field, 0, input.raw(8)); break;
      case 2: visit(field, 0, input.raw(varint())); break;
      case 5: visit(field, 0, input.raw(4)); break;
      default: throw new ViewerError("A frame is damaged.", "", "REC012");
    }
  }
}

const zigzag = (n: number) => (n % 2 ? -(n + 1) / 2 : n / 2);

function doubles(data: Uint8Array): Float64Array {
  const out = new Float64Array(data.length >> 3);
  new Uint8Array(out.buffer).set(data.subarray(0, out.byteLength));
  return out;
}

function bodies(target: { a: BodyRef; b: BodyRef }, index: number, value: number) {
  const body = index < 2 ? target.a : target.b;
  if (index % 2 === 0) body.figure = zigzag(value);
  else body.link = zigzag(value);
}

export function decodeFrame(bytes: Uint8Array): Frame {
  const frame = { time: 0, figures: [] as Frame["figures"], contacts: [] as Contact[], connections: [] as Connection[], numbers: new Float64Array(0), events: [] as string[] };
  fields(bytes, (field, _, data) => {
    if (field === 1) frame.time = doubles(data)[0] ?? 0;
    else if (field === 2) {
      const state = { q: new Float64Array(0), v: new Float64Array(0) };
      fields(data, (f, _v, d) => {
        if (f === 1) state.q = doubles(d);
        else if (f === 2) state.v = doubles(d);
      });
      frame.figures.push(state);
    } else if (field === 3) {
      const c: Contact = { a: { ...WORLD }, b: { ...WORLD }, point: [0, 0, 0], normal: [0, 0, 0], force: [0, 0, 0], moment: [0, 0, 0], impulse: [0, 0, 0], state: 0 };
      fields(data, (f, v, d) => {
        if (f <= 4) bodies(c, f - 1, v);
        else if (f === 5) c.point = [...doubles(d)];
        else if (f === 6) c.normal = [...doubles(d)];
        else if (f === 7) c.force = [...doubles(d)];
        else if (f === 8) c.moment = [...doubles(d)];
        else if (f === 9) c.impulse = [...doubles(d)];
        else if (f === 10) c.state = zigzag(v);
      });
      frame.contacts.push(c);
    } else if (field === 4) {
      const c: Connection = { name: "", a: { ...WORLD }, b: { ...WORLD }, point: [0, 0, 0], force: [0, 0, 0], moment: [0, 0, 0] };
      fields(data, (f, v, d) => {
        if (f === 1) c.name = new TextDecoder().decode(d);
        else if (f <= 5) bodies(c, f - 2, v);
        else if (f === 6) c.point = [...doubles(d)];
        else if (f === 7) c.force = [...doubles(d)];
        else if (f === 8) c.moment = [...doubles(d)];
      });
      frame.connections.push(c);
    } else if (field === 5) frame.numbers = doubles(data);
    else if (field === 6) frame.events.push(new TextDecoder().decode(data));
  });
  return frame;
}
