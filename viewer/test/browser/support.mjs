// What the tests in the browser share: servers to look at, a browser, and what must not happen in it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import path from "node:path";
import { chromium } from "playwright-core";

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, "../../..");
export const kansetsu = process.env.KANSETSU_BIN ?? path.join(root, "build/kansetsu");
export const recordings = process.env.KANSETSU_RECORDINGS ?? path.join(root, "build/recordings");
export const pictures = process.env.KANSETSU_SCREENSHOTS ?? path.join(root, "build/screenshots");
mkdirSync(pictures, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const running = [];

/** Starts a program that prints its address; the address. */
export async function serve(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  const lines = [];
  const found = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        if (line.startsWith("http://")) resolve(line.trim());
      });
    }
    child.on("exit", () => reject(new Error(`${program} ${args.join(" ")} ended:\n${lines.join("\n")}`)));
  });
  return found;
}
export const view = (...args) => serve(kansetsu, ["view", ...args, "--no-browser"]);

export async function launch() {
  return chromium.launch({
    executablePath: process.env.KANSETSU_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
  });
}

/** A page whose console errors, failed requests and exceptions are kept in `page.problems`. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.problems = [];
  page.on("console", (message) => {
    // Software rendering says so in warnings; they are Chromium's, not ours.
    if (message.type() === "error" || (message.type() === "warning" && !/GPU stall|GL Driver|swiftshader|software WebGL/i.test(message.text()))) page.problems.push(message.text());
  });
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("request", (request) => {
    if (!/^(http:\/\/127\.0\.0\.1|data:|blob:|file:)/.test(request.url())) page.problems.push(`asks the network: ${request.url()}`);
  });
  if (url) await page.goto(url);
  return page;
}
/** Waits until `condition` holds in the page. (Playwright's own waitForFunction needs eval, which the page's policy forbids.) */
export async function until(page, condition, argument, limit = 30000, every = 25) {
  for (const end = Date.now() + limit; ; await page.waitForTimeout(every)) {
    if (await page.evaluate(condition, argument)) return;
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${condition}`);
  }
}
export const ready = (page) => until(page, () => document.documentElement.dataset.ready === "true", null, 60000);
export const timeOf = (page) => page.evaluate(() => Number(document.documentElement.dataset.time));

/** Keeps a picture of the page for people to look at. */
export const shot = (page, name) => page.screenshot({ path: path.join(pictures, `${name}.png`), timeout: 120000 }); // a busy machine renders slowly

const SMALL = [160, 90];
/** The page, small; compared loosely with the picture in expected/, as fonts and versions of Chromium differ a little.
 * KANSETSU_UPDATE=1 writes that picture anew: look at it before it is committed. */
export async function looksLike(page, name) {
  const small = async (png) =>
    page.evaluate(
      async ([data, width, height]) => {
        const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes]), { resizeWidth: width, resizeHeight: height, resizeQuality: "high" });
        const canvas = Object.assign(document.createElement("canvas"), { width, height });
        const g = canvas.getContext("2d");
        g.drawImage(image, 0, 0);
        return { pixels: [...g.getImageData(0, 0, width, height).data], png: canvas.toDataURL().split(",")[1] };
      },
      [png.toString("base64"), ...SMALL],
    );
  const now = await small(await shot(page, name));
  const file = path.join(here, "expected", `${name}.png`);
  if (process.env.KANSETSU_UPDATE || !existsSync(file)) {
    if (!process.env.KANSETSU_UPDATE) assert.fail(`${file} is missing; KANSETSU_UPDATE=1 makes it`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(now.png, "base64"));
    return;
  }
  const then = await small(readFileSync(file));
  let sum = 0, far = 0;
  const count = now.pixels.length / 4;
  for (let i = 0; i < now.pixels.length; i += 4) {
    const d = Math.max(...[0, 1, 2].map((k) => Math.abs(now.pixels[i + k] - then.pixels[i + k])));
    sum += d;
    far += d > 64;
  }
  assert.ok(sum / count < 5 && far / count < 0.03, `${name}.png differs from expected/: ${(sum / count).toFixed(1)} of 255 on average, ${((100 * far) / count).toFixed(1)} % of it clearly`);
}

/** Where on the page the middle of a link is. */
export const placeOf = (page, name) =>
  page.evaluate((wanted) => {
    const { stage, kinematics } = window.kansetsu;
    const figure = kinematics[0].figure, link = figure.links.findIndex((l) => l.name === wanted);
    const p = stage.controls.target.clone().set(...figure.links[link].com).applyMatrix4(kinematics[0].poses[link]).project(stage.camera);
    const r = stage.canvas.getBoundingClientRect();
    return [r.left + ((p.x + 1) / 2) * r.width, r.top + ((1 - p.y) / 2) * r.height];
  }, name);

/** What axe finds wrong. */
export async function accessibility(page) {
  await page.addScriptTag({ content: axe });
  const found = await page.evaluate(() => window.axe.run());
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`);
}

export async function stopAll() {
  for (const child of running) {
    if (child.exitCode !== null) continue;
    child.kill("SIGTERM");
    await Promise.race([once(child, "exit"), new Promise((done) => setTimeout(done, 3000))]);
  }
}
