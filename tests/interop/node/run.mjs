// Lets zarrita write or read a list of arrays: requests as JSON on stdin, one outcome each as JSON on stdout.
// Elements travel as files of their bytes, little-endian in C order; strings as lists.
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { FileSystemStore } from "@zarrita/storage";
import * as zarr from "zarrita";

// FileSystemStore allocates what it is asked for, which ends the process where an index was misread.
class BoundedStore extends FileSystemStore {
  async getRange(key, range, options) {
    const { size } = await stat(join(this.root, key)).catch(() => ({ size: Infinity }));
    if ((range.offset ?? 0) + (range.length ?? range.suffixLength) > size)
      throw new RangeError("the range is not inside the object");
    return super.getRange(key, range, options);
  }
}

async function read({ store, output, format }) {
  const open = format === 2 ? zarr.open.v2 : zarr.open.v3;
  const array = await open(new BoundedStore(store), { kind: "array" });
  const chunk = await zarr.get(array);
  if (array.shape.length === 0) {
    // a scalar comes as it is, without the bytes it was made of
    const { data } = await array.getChunk([]);
    return finish(listed(data, format), [], [], output);
  }
  return finish(listed(chunk.data, format), chunk.shape, chunk.stride, output);
}

// Texts and booleans of Zarr v2 are views that can be iterated.
function listed(data, format) {
  return format === 2 && data.get ? Array.from(data) : data;
}

async function finish(data, shape, stride, output) {
  if (Array.isArray(data)) return { shape, stride, list: data };
  await writeFile(output, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { shape, stride };
}

async function write({ store, document, shape, list, input, format }) {
  const location = zarr.root(new FileSystemStore(store));
  // It creates no arrays of Zarr v2; chunks of one that exists it can write.
  const array = format === 2 ? await zarr.open.v2(location, { kind: "array" }) : await create(location, store, document);
  const { data: sample } = await array.getChunk(shape.map(() => 0));

  const data = list ?? (await elements(sample.constructor, sample.BYTES_PER_ELEMENT, input));
  if (shape.length === 0) {
    const value = data.get ? data.get(0) : data[0];
    await zarr.set(array, null, value);
    return {};
  }
  const stride = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  const selection = shape.map((_, i) => (i === 0 ? zarr.slice(0, shape[0]) : null));
  await zarr.set(array, selection, { data, shape, stride });
  return {};
}

// zarr.create knows the default keys only; for others the document is laid there as it is.
async function create(location, store, document) {
  const metadata = JSON.parse(document);
  const keys = metadata.chunk_key_encoding;
  if (keys.name !== "default") {
    await mkdir(store);
    await writeFile(`${store}/zarr.json`, document);
    return zarr.open.v3(location, { kind: "array" });
  }
  return zarr.create(location, {
    shape: metadata.shape,
    dtype: metadata.data_type,
    chunkShape: metadata.chunk_grid.configuration.chunk_shape,
    chunkSeparator: keys.configuration.separator,
    codecs: metadata.codecs,
    fillValue: metadata.fill_value,
  });
}

async function elements(Elements, size, input) {
  const { buffer } = new Uint8Array(await readFile(input)); // a copy that begins at 0
  return new Elements(buffer, 0, buffer.byteLength / (size ?? 1));
}

const outcomes = [];
for (const request of JSON.parse(await text(process.stdin))) {
  try {
    outcomes.push(await (request.do === "read" ? read : write)(request));
  } catch (error) {
    const texts = [];
    for (let e = error; e; e = e.cause) texts.push(`${e.name}: ${e.message}`);
    outcomes.push({ error: texts.join(" <- ") });
  }
}
process.stdout.write(JSON.stringify(outcomes));
