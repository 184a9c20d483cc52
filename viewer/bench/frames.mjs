// How fast the viewer is without a graphics processor: node viewer/bench/frames.mjs [WHAT]. script/bench view builds what it needs.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { kansetsu, launch, openPage, ready, recordings, root, stopAll, until, view } from "../test/browser/support.mjs";

const scratch = mkdtempSync(path.join(os.tmpdir(), "kansetsu-"));
const robots = path.join(process.env.KANSETSU_DATA_DIR ?? path.join(root, "../shared/data"), "robots/mjcf_meshes");

/** A hundred boxes that fall onto each other. */
function boxes() {
  const file = path.join(scratch, "boxes.toml");
  const one = (i) => `[[body]]\nname = "box ${i}"\ntype = "box"\nsize = [0.2, 0.2, 0.2]\nmass = 1.0\npose = {p = [${0.22 * (i % 5)}, ${0.22 * (Math.floor(i / 5) % 5)}, ${0.15 + 0.25 * Math.floor(i / 25)}]}\n`;
  writeFileSync(file, `[scene]\nname = "boxes"\nduration = 60.0\n[[environment]]\nname = "floor"\ntype = "plane"\n${Array.from({ length: 100 }, (_, i) => one(i)).join("")}`);
  return file;
}
/** What becomes of a scene or robot in three seconds. */
function recorded(file) {
  const out = path.join(scratch, `${path.basename(file)}.mcap`);
  execFileSync(kansetsu, ["simulate", file, "--duration", "3", "--rate", "60", "--allow-partial", "--record", out], { stdio: "ignore" });
  return out;
}

const median = (times) => times[times.length >> 1];
const p95 = (times) => times[Math.floor(0.95 * times.length)];
const rate = (times) => (1000 * times.length) / times.reduce((sum, t) => sum + t, 0);

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

/** Plays a recording from its beginning, or watches a scene live; times between `count` pictures [ms], sorted. */
async function frameTimes(browser, count, ...shown) {
  const page = await openPage(browser, await view(...shown));
  await ready(page);
  await page.waitForTimeout(1500); // what is compiled and scanned once has been
  const before = processorTime();
  if (shown.includes("--live")) await page.evaluate(() => (window.kansetsu.frameTimes.length = 0));
  else await page.keyboard.press(" ");
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
  const shown = [["one figure", 600, () => [path.join(recordings, "squat.mcap")]], ["a hundred figures", 60, () => [path.join(recordings, "crowd.mcap")]]];
  shown.push(["a hundred boxes", 150, () => [recorded(boxes())]], ["a hundred boxes, live", 150, () => [boxes(), "--live"]]);
  for (const name of existsSync(robots) ? ["wonik_allegro/right_hand.xml", "skydio_x2/x2.xml", "umi_gripper/umi_gripper.xml"] : []) {
    const robot = path.join(robots, name), title = path.dirname(name);
    shown.push([title, 150, () => [recorded(robot)]], [`${title}, live`, 150, () => [robot, "--live"]]);
  }
  for (const [title, count, what] of shown.filter(([title]) => title.includes(process.argv[2] ?? ""))) {
    const { times, work } = await frameTimes(browser, count, ...what());
    console.log(`${title}, ${count} frames: median ${median(times).toFixed(1)} ms, p95 ${p95(times).toFixed(1)} ms, ${rate(times).toFixed(0)} a second; processor time per frame ${work.toFixed(1)} ms`);
  }
  const long = await scrub(browser);
  console.log(`ten minutes: opened in ${long.opened.toFixed(0)} ms with ${(long.first / 1e6).toFixed(1)} MB read; ten seeks: median ${median(long.seeks).toFixed(0)} ms, ` +
    `worst ${long.seeks[9].toFixed(0)} ms, ${(long.bytes / 1e6).toFixed(1)} MB read in all`);
} finally {
  await browser.close();
  await stopAll();
  rmSync(scratch, { recursive: true });
}
