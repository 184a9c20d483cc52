// What the tests in the browser share: servers to look at, a browser, and what must not happen in it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, "../../..");
export const kansetsu = process.env.KANSETSU_BIN ?? path.join(root, "build/kansetsu");
export const liveFigure = path.join(path.dirname(kansetsu), "tests/viewer/live_figure");
export const recordings = process.env.KANSETSU_RECORDINGS ?? path.join(root, "build/recordings");
export const pictures = process.env.KANSETSU_SCREENSHOTS ?? path.join(root, "build/screenshots");
mkdirSync(pictures, { recursive: true });

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
export const ready = (page) => page.waitForFunction(() => document.documentElement.dataset.ready === "true", null, { timeout: 60000 });
export const timeOf = (page) => page.evaluate(() => Number(document.documentElement.dataset.time));
export const shot = (page, name) => page.screenshot({ path: path.join(pictures, `${name}.png`) });

export async function stopAll() {
  for (const child of running) {
    if (child.exitCode !== null) continue;
    child.kill("SIGTERM");
    await Promise.race([once(child, "exit"), new Promise((done) => setTimeout(done, 3000))]);
  }
}
