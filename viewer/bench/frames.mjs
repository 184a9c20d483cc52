// How fast the viewer is without a graphics processor: node viewer/bench/frames.mjs. script/bench view builds what it needs.
import { readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { launch, openPage, ready, recordings, stopAll, until, view } from "../test/browser/support.mjs";

const median = (times) => times[times.length >> 1];
const p95 = (times) => times[Math.floor(0.95 * times.length)];

/** Processor time [ms] of everything this program started: unlike time on the wall it does not depend on what else runs. */
function processorTime() {
  const all = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      all.set(pid, { parent: fields[1], time: 10 * (Number(fields[11]) + Number(fields[12])) }); // ticks of 1/100 s
    } catch {
      continue; // it has ended
    }
  }
  const ours = (pid) => pid === String(process.pid) || (all.has(pid) && ours(all.get(pid).parent));
  return [...all].filter(([pid, { parent }]) => pid !== String(process.pid) && ours(parent)).reduce((sum, [, { time }]) => sum + time, 0);
}

/** Plays a recording from its beginning; times between `count` pictures [ms], sorted. */
async function frameTimes(browser, name, count) {
  const page = await openPage(browser, await view(path.join(recordings, name)));
  await ready(page);
  await page.waitForTimeout(1500); // what is compiled and scanned once has been
  const before = processorTime();
  await page.keyboard.press(" ");
  await until(page, (n) => window.kansetsu.frameTimes.length >= n, count, 300000, 250); // asks seldom: asking costs
  const all = await page.evaluate(() => window.kansetsu.frameTimes);
  const work = (processorTime() - before) / all.length;
  await page.context().close();
  return { times: all.slice(0, count).sort((a, b) => a - b), work };
}

/** Opens ten minutes and looks at places all over them. */
async function scrub(browser) {
  const url = await view(path.join(recordings, "long.mcap"));
  const page = await openPage(browser, null);
  let bytes = 0;
  page.on("response", (response) => {
    if (response.url().includes("/recording") && response.request().method() === "GET") bytes += Number(response.headers()["content-length"] ?? 0);
  });
  const start = performance.now();
  await page.goto(url);
  await ready(page);
  const opened = performance.now() - start, first = bytes;
  const seeks = await page.evaluate(async () => {
    const times = [];
    for (const t of [431.5, 12.25, 599, 300.1, 77.7, 512, 155, 250.5, 388.8, 40]) {
      const start = performance.now();
      await window.kansetsu.seek(t);
      times.push(performance.now() - start);
    }
    return times;
  });
  await page.context().close();
  return { opened, first, bytes, seeks: seeks.sort((a, b) => a - b) };
}

const browser = await launch();
try {
  console.log(`${os.cpus()[0].model}, ${os.cpus().length} cores, load ${os.loadavg()[0].toFixed(1)}; Chromium ${browser.version()}, SwiftShader, 1280 × 720`);
  for (const [title, name, count] of [["one figure", "squat.mcap", 600], ["a hundred figures", "crowd.mcap", 60]]) {
    const { times, work } = await frameTimes(browser, name, count);
    console.log(`${title}, ${count} frames: median ${median(times).toFixed(1)} ms, p95 ${p95(times).toFixed(1)} ms; processor time per frame ${work.toFixed(1)} ms`);
  }
  const long = await scrub(browser);
  console.log(`ten minutes: opened in ${long.opened.toFixed(0)} ms with ${(long.first / 1e6).toFixed(1)} MB read; ten seeks: median ${median(long.seeks).toFixed(0)} ms, ` +
    `worst ${long.seeks[9].toFixed(0)} ms, ${(long.bytes / 1e6).toFixed(1)} MB read in all`);
} finally {
  await browser.close();
  await stopAll();
}
