import { expect, test } from "vitest";
import { Governor, RATIOS } from "../src/governor";

/** So many pictures of a time each [ms]; how often the ratio changed. */
function draw(governor: Governor, count: number, time: (ratio: number) => number): number {
  let changes = 0;
  for (let i = 0; i < count; ++i) changes += Number(governor.note(time(governor.ratio)));
  return changes;
}

test("a machine that is fast enough gets smooth edges, a slow one fewer pixels", () => {
  const fast = new Governor(), slow = new Governor(), fair = new Governor();
  draw(fast, 600, () => 16.7);
  expect(fast.ratio).toBe(Math.max(...RATIOS));
  draw(slow, 600, () => 50);
  expect(slow.ratio).toBe(Math.min(...RATIOS));
  expect(draw(fair, 600, () => 33.3)).toBe(0); // 30 pictures a second are enough
  expect(fair.ratio).toBe(1);
});

test("thresholds: 18 ms is early and 36 ms is in time, just beyond is not", () => {
  const after = (time: number) => {
    const governor = new Governor();
    draw(governor, 12, () => time);
    return governor.ratio;
  };
  expect([17.9, 18.1, 35.9, 36.1].map(after)).toEqual([1.5, 1, 1, 0.75]);
});

test("a level that failed is tried ever less often", () => {
  const governor = new Governor();
  // 60 a second with as many pixels as the page has, not with more: 2 changes per attempt.
  const changes = draw(governor, 12 * 1000, (ratio) => (ratio > 1 ? 25 : 16.7));
  expect(changes).toBeLessThan(2 * 25); // 1, 2, 4 … 64 decisions apart: 7 attempts in 127 decisions, then every 65
  expect(changes).toBeGreaterThan(10); // but tried: a machine that was busy may be idle again
});

test("no more pixels where every third picture is late already", () => {
  const governor = new Governor();
  for (let i = 0; i < 600; ++i) governor.note(i % 3 === 0 ? 33.3 : 16.7);
  expect(governor.ratio).toBe(1);
});

test("single late pictures and pauses change nothing", () => {
  const governor = new Governor();
  for (let i = 0; i < 600; ++i) governor.note(i % 5 === 0 ? 200 : 30);
  expect(governor.ratio).toBe(1);
  for (let i = 0; i < 600; ++i) governor.note(i % 8 === 0 ? undefined : 200);
  expect(governor.ratio).toBe(1);
});
