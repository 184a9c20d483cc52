// Models, pages to keep, pictures, and what is said about files that cannot be shown.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { accessibility, kansetsu, launch, looksLike, openPage, pictures, ready, recordings, shot, stopAll, until, view } from "./support.mjs";

const scratch = mkdtempSync(path.join(tmpdir(), "kansetsu-viewer-"));
const squat = path.join(recordings, "squat.mcap");

let browser, page;
before(async () => {
  browser = await launch();
});
afterEach(async () => {
  const problems = page?.problems;
  await page?.context().close();
  page = undefined;
  assert.deepEqual(problems ?? [], []);
});
after(async () => {
  await browser?.close();
  await stopAll();
  rmSync(scratch, { recursive: true });
});

it("a model can be posed by sliders", async () => {
  page = await openPage(browser, await view("human28"));
  await ready(page);
  const sum = () => page.evaluate(() => window.kansetsu.kinematics[0].poses.map((m) => m.elements[12]).reduce((a, b) => a + b));
  const before = await sum();
  await page.getByRole("slider", { name: "hipL_y" }).fill("-1");
  assert.notEqual(await sum(), before);
  await page.waitForTimeout(1000);
  await looksLike(page, "model");
});

it("a page of its own works from a file", async () => {
  const html = path.join(scratch, "squat.html");
  execFileSync(kansetsu, ["view", squat, "--html", html]);
  page = await openPage(browser, `file://${html}`);
  await ready(page);
  await page.keyboard.press(" ");
  await until(page, () => Number(document.documentElement.dataset.time) > 0.1);
});

it("a picture is made without a window", () => {
  const png = path.join(pictures, "strip.png");
  execFileSync(kansetsu, ["view", path.join(recordings, "flight.mcap"), "--png", png, "--strip", "6", "--camera", "side"], { timeout: 120000 });
  const bytes = readFileSync(png);
  assert.equal(bytes.readUInt32BE(16), 1440);
  assert.equal(bytes.readUInt32BE(20), 420);
});

it("a picture has its ground under what hangs below zero, as the page has", async () => {
  const made = [-0.5, 0.5].map((z) => {
    const file = path.join(scratch, `box${z}.urdf`), png = path.join(scratch, `box${z}.png`);
    writeFileSync(file, `<robot name="box"><link name="box"><visual><origin xyz="0 0 ${z}"/><geometry><box size="1 1 1"/></geometry></visual></link></robot>`);
    execFileSync(kansetsu, ["view", file, "--png", png, "--size", "320x200"], { timeout: 120000, stdio: "ignore" });
    return readFileSync(png).toString("base64");
  });
  page = await openPage(browser, "about:blank");
  const different = await page.evaluate(async (pictures) => {
    const pixels = [];
    for (const data of pictures) {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
      const g = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
      g.drawImage(image, 0, 0);
      pixels.push(g.getImageData(0, 0, image.width, image.height).data);
    }
    return pixels[0].reduce((count, value, i) => count + (Math.abs(value - pixels[1][i]) > 16), 0) / pixels[0].length;
  }, made);
  assert.ok(different < 0.002, `${(100 * different).toFixed(1)} % of the picture`); // the same but for roundings: the ground went through the box
});

describe("bad input", () => {
  it("foreign, empty and newer files say what is wrong", async () => {
    const html = path.join(scratch, "bad.html"), good = path.join(scratch, "good.html");
    execFileSync(kansetsu, ["view", squat, "--html", good]);
    const text = readFileSync(good, "utf8");
    const newer = Buffer.from(readFileSync(squat));
    const at = newer.indexOf(Buffer.from("\x06\0\0\0format\x01\0\0\0" + "1", "latin1"));
    assert.ok(at > 0, "the format's number is found");
    newer[at + 14] = "9".charCodeAt(0);
    const cases = [["", "REC002"], [Buffer.from("solid cube"), "REC002"], [readFileSync(squat).subarray(0, 60), "REC003"], [newer, "REC004"]];
    for (const [data, code] of cases) {
      writeFileSync(html, text.replace(/(<script type="application\/octet-stream"[^>]*>)[^<]*/, (_, tag) => tag + Buffer.from(data).toString("base64")));
      page = await openPage(browser, `file://${html}`);
      await until(page, () => document.documentElement.dataset.failed);
      assert.ok(await page.getByRole("alert").getByText(code).isVisible(), code);
      assert.ok(!(await page.locator("#side").isVisible()), "there are no links to list");
      if (code === "REC004") {
        assert.deepEqual(await accessibility(page), []);
        await shot(page, "error");
      }
      assert.deepEqual(page.problems, []);
      await page.context().close();
      page = undefined;
    }
  });

  it("a truncated recording shows what is whole, and says so", async () => {
    const cut = path.join(scratch, "cut.mcap");
    const bytes = readFileSync(squat);
    writeFileSync(cut, bytes.subarray(0, Math.floor(bytes.length * 0.6)));
    page = await openPage(browser, await view(cut));
    await ready(page);
    assert.ok(await page.getByText("truncated").isVisible());
  });

  it("a page without the token says where to find it", async () => {
    const url = new URL(await view(squat));
    page = await openPage(browser, null);
    const answer = await page.goto(`${url.origin}/?token=wrong`);
    assert.equal(answer.status(), 403);
    page.problems.length = 0; // Chromium reports the 403 itself
  });
});
