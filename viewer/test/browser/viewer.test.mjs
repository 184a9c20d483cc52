// The viewer in a real browser: node --test viewer/test/browser (script/check viewer does it).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { kansetsu, launch, liveFigure, openPage, pictures, ready, recordings, serve, shot, stopAll, timeOf, view } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const scratch = mkdtempSync(path.join(tmpdir(), "kansetsu-viewer-"));
const squat = path.join(recordings, "squat.mcap");

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await stopAll();
});

async function clean(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

/** Share of pixels of the scene that differ clearly from the upper left corner: something is drawn. */
async function ink(page) {
  const png = await page.locator("#canvas").screenshot();
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const g = canvas.getContext("2d");
    g.drawImage(image, 0, 0);
    const { data: p } = g.getImageData(0, 0, image.width, image.height);
    let count = 0;
    for (let i = 0; i < p.length; i += 4) count += Math.abs(p[i] - p[0]) + Math.abs(p[i + 1] - p[1]) + Math.abs(p[i + 2] - p[2]) > 90;
    return count / (p.length / 4);
  }, png.toString("base64"));
}

describe("a recording", () => {
  let url;
  before(async () => {
    url = await view(squat);
  });

  it("loads and shows a figure", async () => {
    const page = await openPage(browser, url);
    await ready(page);
    assert.match(await page.title(), /A squat/);
    assert.ok((await ink(page)) > 0.01, "the figure is drawn");
    await shot(page, "squat-light");
    await page.keyboard.press("d");
    await page.waitForTimeout(300);
    await shot(page, "squat-dark");
    await clean(page);
  });

  it("plays, pauses, steps, scrubs and loops", async () => {
    const page = await openPage(browser, url);
    await ready(page);
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) > 0.2);
    await page.getByRole("button", { name: "Pause" }).click();
    const paused = await timeOf(page);
    await page.waitForTimeout(200);
    assert.equal(await timeOf(page), paused);
    await page.keyboard.press("Home");
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) === 0);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) > 0);
    assert.ok(Math.abs((await timeOf(page)) - 1 / 60) < 1e-6, "one frame");
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) === 0);
    await page.getByLabel("Time").fill("2.5");
    await page.waitForFunction(() => Math.abs(Number(document.documentElement.dataset.time) - 2.5) < 1e-6);
    await page.keyboard.press("End");
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) >= 3.999);
    await page.keyboard.press("+");
    assert.equal(await page.locator("#speed").inputValue(), "2");
    await page.locator("#canvas").focus();
    await page.evaluate(() => window.kansetsu.seek(3.9));
    await page.keyboard.press(" ");
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) < 1, null, { timeout: 15000 });
    await clean(page);
  });

  it("selects by a click, by search and by the tree's keys", async () => {
    const page = await openPage(browser, url);
    await ready(page);
    const box = await page.locator("#canvas").boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(() => document.documentElement.dataset.selected);
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.selected), "");
    await page.keyboard.press("/");
    await page.keyboard.type("lowerlegL");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.selected), "LowerLegL");
    assert.ok(await page.locator("#details").getByText("kneeL_y").isVisible());
    await page.keyboard.press("ArrowDown");
    await shot(page, "selected");
    await clean(page);
  });

  it("plots a channel, and the plot scrubs", async () => {
    const page = await openPage(browser, url);
    await ready(page);
    await page.keyboard.press("p");
    await page.getByLabel("Add a channel to plot").fill("com height");
    await page.getByLabel("Add a channel to plot").press("Enter");
    await page.getByLabel("Add a channel to plot").fill("human/q/kneeL_y");
    await page.getByLabel("Add a channel to plot").press("Enter");
    await page.waitForTimeout(800);
    assert.equal(await page.locator(".plot").count(), 2);
    const plot = await page.locator(".plot canvas").first().boundingBox();
    await page.mouse.click(plot.x + plot.width * 0.6, plot.y + plot.height / 2);
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) > 1.8);
    await shot(page, "plots");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
    const lines = readFileSync(await file.path(), "utf8").trim().split("\n");
    assert.equal(lines.length, 242);
    assert.equal(lines[0], "time,com height,human/q/kneeL_y");
    await page.getByRole("button", { name: "Remove com height" }).click();
    assert.equal(await page.locator(".plot").count(), 1);
    await clean(page);
  });

  it("shows axes, frames, centres, trails and a capsule body", async () => {
    const page = await openPage(browser, url);
    await ready(page);
    for (const key of ["m", "j", "a", "t", "b"]) await page.keyboard.press(key);
    await page.keyboard.press("3");
    await page.keyboard.press(" ");
    await page.waitForTimeout(700);
    await page.keyboard.press(" ");
    await shot(page, "overlays");
    await page.getByLabel("What is shown").click();
    assert.ok(await page.getByLabel("Joint axes").isChecked());
    await clean(page);
  });

  it("has a help sheet, labels, contrast and focus", async () => {
    for (const look of ["light", "dark"]) {
      const page = await openPage(browser, url, { colorScheme: look, bypassCSP: true });
      await ready(page);
      await page.keyboard.press("p");
      await page.keyboard.press("/");
      await page.keyboard.type("FootL");
      await page.keyboard.press("Enter");
      await page.addScriptTag({ content: axe });
      const check = async () => (await page.evaluate(() => window.axe.run())).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`);
      assert.deepEqual(await check(), [], look);
      await page.keyboard.press("?");
      assert.ok(await page.getByRole("dialog").isVisible());
      assert.deepEqual(await check(), [], `${look}, help`);
      await shot(page, `help-${look}`);
      await page.keyboard.press("Escape");
      assert.ok(!(await page.locator("#help").isVisible()));
      await clean(page);
    }
  });

  it("fits a phone", async () => {
    const page = await openPage(browser, url, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
    await ready(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
    await shot(page, "phone");
    await page.getByLabel("Links panel").click();
    assert.ok(await page.locator("#tree").isVisible());
    await shot(page, "phone-links");
    await clean(page);
  });

  it("keeps its pace: one figure, 1280 × 720, software rendering", async () => {
    const page = await openPage(browser, url);
    await ready(page);
    await page.keyboard.press(" ");
    await page.waitForFunction(() => window.kansetsu.frameTimes.length >= 600, null, { timeout: 120000 });
    const times = (await page.evaluate(() => window.kansetsu.frameTimes.slice(0, 600))).sort((a, b) => a - b);
    console.log(`frame time of one figure: median ${times[300].toFixed(1)} ms, p95 ${times[570].toFixed(1)} ms`);
    await clean(page);
  });
});

it("a crowd of a hundred figures", async () => {
  const page = await openPage(browser, await view(path.join(recordings, "crowd.mcap")));
  await ready(page);
  await page.keyboard.press(" ");
  await page.waitForFunction(() => window.kansetsu.frameTimes.length >= 60, null, { timeout: 120000 });
  const times = (await page.evaluate(() => window.kansetsu.frameTimes.slice(0, 60))).sort((a, b) => a - b);
  console.log(`frame time of a hundred figures: median ${times[30].toFixed(1)} ms`);
  await shot(page, "crowd");
  await clean(page);
});

it("a recording of ten minutes opens within two seconds and scrubs", async () => {
  const url = await view(path.join(recordings, "long.mcap"));
  const page = await openPage(browser, null);
  let bytes = 0;
  page.on("response", async (response) => {
    if (response.url().includes("/recording")) bytes += Number(response.headers()["content-length"] ?? 0) * (response.request().method() === "GET");
  });
  const start = Date.now();
  await page.goto(url);
  await ready(page);
  const opened = Date.now() - start;
  const scrub = Date.now();
  await page.evaluate(() => window.kansetsu.seek(431.5));
  await page.waitForFunction(() => Math.abs(Number(document.documentElement.dataset.time) - 431.5) < 0.02);
  console.log(`ten minutes: opened in ${opened} ms, ${(bytes / 1e6).toFixed(1)} MB loaded, scrubbed in ${Date.now() - scrub} ms`);
  await clean(page);
});

it("other recordings: a somersault and a rope", async () => {
  for (const name of ["flight", "rope"]) {
    const page = await openPage(browser, await view(path.join(recordings, `${name}.mcap`)));
    await ready(page);
    await page.evaluate(() => window.kansetsu.seek(0.6));
    await page.waitForTimeout(300);
    await shot(page, name);
    await clean(page);
  }
});

it("a model can be posed by sliders", async () => {
  const page = await openPage(browser, await view("human28"));
  await ready(page);
  const foot = () => page.evaluate(() => window.kansetsu.kinematics[0].poses.map((m) => m.elements[12]).reduce((a, b) => a + b));
  const before = await foot();
  await page.getByRole("slider", { name: "hipL_y" }).fill("-1");
  assert.notEqual(await foot(), before);
  await shot(page, "model");
  await clean(page);
});

it("a page of its own works from a file", async () => {
  const html = path.join(scratch, "squat.html");
  execFileSync(kansetsu, ["view", squat, "--html", html]);
  const page = await openPage(browser, `file://${html}`);
  await ready(page);
  await page.keyboard.press(" ");
  await page.waitForFunction(() => Number(document.documentElement.dataset.time) > 0.1);
  await clean(page);
});

it("a picture is made without a window", () => {
  const png = path.join(pictures, "strip.png");
  execFileSync(kansetsu, ["view", path.join(recordings, "flight.mcap"), "--png", png, "--strip", "6", "--camera", "side"], { timeout: 120000 });
  const bytes = readFileSync(png);
  assert.equal(bytes.readUInt32BE(16), 1440);
  assert.equal(bytes.readUInt32BE(20), 420);
});

describe("bad input", () => {
  it("foreign and empty pages say what is wrong", async () => {
    const html = path.join(scratch, "bad.html");
    const page = readFileSync(path.join(scratch, "squat.html"), "utf8");
    const cases = [["", "REC002"], [Buffer.from("solid cube").toString("base64"), "REC002"], [readFileSync(squat).subarray(0, 60).toString("base64"), "REC003"]];
    for (const [data, code] of cases) {
      writeFileSync(html, page.replace(/(<script type="application\/octet-stream"[^>]*>)[^<]*/, (_, tag) => tag + data));
      const shown = await openPage(browser, `file://${html}`);
      await shown.waitForFunction(() => document.documentElement.dataset.failed);
      assert.ok(await shown.getByRole("alert").getByText(code).isVisible());
      if (code === "REC003") await shot(shown, "error");
      await clean(shown);
    }
  });
  it("a truncated recording shows what is whole, and says so", async () => {
    const cut = path.join(scratch, "cut.mcap");
    copyFileSync(squat, cut);
    const bytes = readFileSync(cut);
    writeFileSync(cut, bytes.subarray(0, Math.floor(bytes.length * 0.6)));
    const page = await openPage(browser, await view(cut));
    await ready(page);
    assert.ok(await page.getByText("ends early").isVisible());
    await clean(page);
  });
});

describe("live", () => {
  it("streams, pauses, is dragged, grabbed and released", async () => {
    const page = await openPage(browser, await serve(liveFigure, []));
    await ready(page);
    await page.waitForFunction(() => Number(document.documentElement.dataset.time) > 0.2);
    const box = await page.locator("#canvas").boundingBox();
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    const pelvis = () => page.evaluate(() => window.kansetsu.kinematics[0].poses[0].elements.slice(12, 15));
    const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    const start = await pelvis();
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let i = 1; i <= 20; ++i) {
      await page.mouse.move(x + 9 * i, y - 3 * i);
      await page.waitForTimeout(40);
    }
    await shot(page, "live-drag");
    await page.mouse.up();
    assert.ok(distance(await pelvis(), start) > 0.1, "the body followed the mouse");
    // Grabbed, it resists gravity; released, it falls.
    await page.evaluate(() => window.kansetsu.live.send({ type: "reset" }));
    await page.waitForTimeout(300);
    await page.mouse.dblclick(x, y);
    await page.getByText("Grabbed").waitFor();
    await page.getByLabel("gravity").fill("9.8");
    await page.waitForTimeout(1200);
    const held = await pelvis();
    assert.ok(distance(held, start) < 0.5, `held: ${held}`);
    await page.evaluate(() => window.kansetsu.live.send({ type: "release", figure: window.kansetsu.selection?.figure ?? 0, link: window.kansetsu.selection?.link ?? 0 }));
    await page.waitForFunction((z) => window.kansetsu.kinematics[0].poses[0].elements[14] < z - 1, held[2], { timeout: 20000 });
    await page.locator("#canvas").focus();
    await page.keyboard.press(" ");
    await page.waitForTimeout(300);
    const stopped = await timeOf(page);
    await page.waitForTimeout(300);
    assert.equal(await timeOf(page), stopped);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((t) => Number(document.documentElement.dataset.time) > t, stopped);
    await clean(page);
  });
});
