import type { BodyRef, Frame } from "./frame";

/** Touchdown and lift-off of bodies, from the contacts of frame after frame. */

const SHORTEST_GAP = 0.05; // [s] without force that ends a contact: a foot that rolls from heel to toe does not leave the ground
const MOST = 400; // marks; in a heap they would be useless

export interface Mark {
  time: number;
  text: string; // "touch A, B" or "lift A, B"
}

interface Lasting {
  from: number;
  to: number;
}

export class Landings {
  private readonly lasting = new Map<string, Lasting>();
  private readonly marks: Mark[] = [];
  private start: number | undefined;
  private end = 0;

  constructor(private readonly nameOf: (body: BodyRef) => string) {}

  add(frame: Frame) {
    this.start ??= frame.time;
    this.end = frame.time;
    for (const c of frame.contacts) {
      if (!(Math.hypot(c.force[0]!, c.force[1]!, c.force[2]!) > 0)) continue;
      const key = [this.nameOf(c.a), this.nameOf(c.b)].filter((name) => name).join(", ");
      const known = this.lasting.get(key);
      if (known) known.to = frame.time;
      else this.lasting.set(key, { from: frame.time, to: frame.time });
    }
    for (const [key, contact] of this.lasting) if (frame.time - contact.to > SHORTEST_GAP) this.close(key, contact);
  }

  /** All marks by time; none if there are too many to be useful. */
  finish(): Mark[] {
    for (const [key, contact] of this.lasting) this.close(key, contact);
    return this.marks.length > MOST ? [] : this.marks.sort((a, b) => a.time - b.time);
  }

  /** Contacts that exist at the start are no touchdowns, those that exist at the end no lift-offs. */
  private close(key: string, { from, to }: Lasting) {
    this.lasting.delete(key);
    if (from > this.start!) this.marks.push({ time: from, text: `touch ${key}` });
    if (this.end - to > SHORTEST_GAP) this.marks.push({ time: to, text: `lift ${key}` });
  }
}
