// Opens pages in one headless browser: each line of stdin is a request, each line of stdout its answer, until stdin ends.
//   node driver.mjs CHROMIUM      {url, width, height, voxels} -> {outcome, errors, picture, panel, volumes, properties} or {thrown}
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";

// Chromium without a graphics card now and then never shows a page, and then perhaps none any more: each attempt but the
// first is in a new browser. Nothing that works takes a twentieth of this.
const patience = 60_000, attempts = 3;

async function attempt(request) {
  const page = await browser.newPage();
  const progress = { waits: "for the page" };
  const late = setTimeout(patience, null, { ref: false }).then(() => ({ late: progress.waits }));
  const looked = look(page, request, progress).catch((error) => ({ thrown: String(error) }));
  const first = await Promise.race([looked, late]);
  if (!first.late) await page.close();
  return first;
}

async function answer(request) {
  const waited = [];
  while (waited.length < attempts) {
    const found = await attempt(request);
    if (!found.late) return found;
    waited.push(found.late);
    await browser.close();
    browser = await launch();
  }
  return { thrown: `the page is never ready; the attempts waited ${waited.join(", ")}` };
}

async function look(page, { url, width, height, voxels }, progress) {
  const spoken = [];
  page.on("pageerror", (error) => spoken.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" ? !/^Failed to load resource/.test(text) : /^Error/.test(text)) spoken.push(text);
  });
  page.setDefaultTimeout(0);
  await page.setViewportSize({ width, height });
  await page.goto(url);
  progress.waits = "for the sources";
  await page.waitForFunction(() => globalThis.probe?.loaded());
  progress.waits = "for the chunks";
  const outcome = await page.evaluate(() => probe.outcome());
  progress.waits = "for the picture";
  const panel = await page.evaluate(() => probe.draw());
  const picture = (await page.screenshot()).toString("base64");
  const errors = [...(await page.evaluate(() => probe.errors())), ...spoken];
  const volumes = voxels ? await page.evaluate(() => probe.volumes()) : [];
  const properties = await page.evaluate(() => probe.properties());
  return { outcome, errors, panel, picture, volumes, properties };
}

function launch() {
  return chromium.launch({
    executablePath: process.argv[2],
    args: [
      "--no-sandbox", // root may not have one
      "--use-angle=swiftshader", // WebGL without a graphics card
      "--enable-unsafe-swiftshader",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-quic",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}

let browser = await launch();
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
}
await browser.close();
