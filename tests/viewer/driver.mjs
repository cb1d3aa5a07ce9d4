// Opens pages in one headless browser: each line of stdin is a request, each line of stdout its answer, until stdin ends.
//   node driver.mjs CHROMIUM      {url, width, height, voxels} -> {outcome, errors, picture, panel, volumes, properties} or {thrown}
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";

// Chromium without a graphics card now and then never shows a page; the second attempt is in a new one. Nothing that
// works takes a twentieth of this.
const patience = 60_000, attempts = 2;

async function attempt(request) {
  const page = await browser.newPage();
  const late = setTimeout(patience, null, { ref: false }).then(() => ({ late: true }));
  const looked = look(page, request).catch((error) => ({ thrown: String(error) }));
  const first = await Promise.race([looked, late]);
  await page.close();
  return first;
}

async function answer(request) {
  for (let i = 0; i < attempts; ++i) {
    const found = await attempt(request);
    if (!found.late) return found;
  }
  return { thrown: "the page is never ready" };
}

async function look(page, { url, width, height, voxels }) {
  const spoken = [];
  page.on("pageerror", (error) => spoken.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" ? !/^Failed to load resource/.test(text) : /^Error/.test(text)) spoken.push(text);
  });
  page.setDefaultTimeout(0);
  await page.setViewportSize({ width, height });
  await page.goto(url);
  await page.waitForFunction(() => globalThis.probe?.loaded());
  const outcome = await page.evaluate(() => probe.outcome());
  const panel = await page.evaluate(() => probe.draw());
  const picture = (await page.screenshot()).toString("base64");
  const errors = [...(await page.evaluate(() => probe.errors())), ...spoken];
  const volumes = voxels ? await page.evaluate(() => probe.volumes()) : [];
  const properties = await page.evaluate(() => probe.properties());
  return { outcome, errors, panel, picture, volumes, properties };
}

const browser = await chromium.launch({
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
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
}
await browser.close();
