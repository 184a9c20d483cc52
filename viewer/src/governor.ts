/** Adapts the resolution of moving pictures to the speed of software rendering. */

const PACED = 12; // pictures per decision: the median decides whether there are too many pixels, the upper quartile whether there may be more
const LATE = 36; // [ms] a picture: below 28 a second there are too many pixels
const EARLY = 18; // [ms] a picture: 60 a second, as fast as pages are shown; there may be room for more
const MOST_PATIENCE = 64; // decisions between two attempts at a level that failed: half a minute at most

/** Pixels of the picture per pixel of the page. More than one smooth edges; that is kept only while every picture comes early. */
export const RATIOS = [1.5, 1, 0.75, 0.5];
const START = 1; // index

export class Governor {
  private level = START;
  private times: number[] = []; // [ms]
  private early = 0; // decisions in a row that found time to spare
  private readonly patience = RATIOS.map(() => 1); // such decisions before a level is tried

  get ratio(): number {
    return RATIOS[this.level]!;
  }

  /** Takes the time of the last picture [ms], or none if it was not part of a sequence. Returns whether the ratio has changed. */
  note(elapsed: number | undefined): boolean {
    if (elapsed === undefined) this.times.length = 0;
    else this.times.push(elapsed);
    if (this.times.length < PACED) return false;
    const sorted = this.times.sort((a, b) => a - b), middle = sorted[PACED / 2]!, upper = sorted[(3 * PACED) / 4]!;
    this.times.length = 0;
    if (middle > (this.ratio > 1 ? EARLY : LATE)) return this.lower();
    this.early = upper < EARLY ? this.early + 1 : 0;
    return this.raise();
  }

  private lower(): boolean {
    this.early = 0;
    this.patience[this.level] = Math.min(MOST_PATIENCE, 2 * this.patience[this.level]!);
    if (this.level === RATIOS.length - 1) return false;
    ++this.level;
    return true;
  }

  private raise(): boolean {
    if (this.level === 0 || this.early < this.patience[this.level - 1]!) return false;
    this.early = 0;
    --this.level;
    return true;
  }
}
