// The viewer as its users have it, and `probe`: what the driver asks it, in terms of Neuroglancer's own objects.
import "neuroglancer";
import {
  ChunkPriorityTier,
  ChunkState,
  getChunkStateStatisticIndex,
  numChunkMemoryStatistics,
} from "neuroglancer/unstable/chunk_manager/base.js";
import { setupDefaultViewer } from "neuroglancer/unstable/ui/default_viewer_setup.js";
import { DATA_TYPE_ARRAY_CONSTRUCTOR, DataType } from "neuroglancer/unstable/util/data_type.js";
import { MessageSeverity } from "neuroglancer/unstable/util/message_list.js";

const asked = JSON.parse(decodeURIComponent(location.hash.slice(2)));
const viewer = setupDefaultViewer();
const layers = () => viewer.layerManager.managedLayers.map(({ layer }) => layer);
const sources = () => layers().flatMap((layer) => layer?.dataSources ?? []);

// Whether every source of every layer is known, or was refused. On a busy machine the viewer may lose the layers of its URL
// while its panels are made, and then offers a new one.
function loaded() {
  const names = viewer.layerManager.managedLayers.map(({ name }) => name);
  if (!asked.layers.every(({ name }) => names.includes(name))) {
    viewer.state.reset();
    viewer.state.restoreState(asked);
    return false;
  }
  return layers().length > 0 && layers().every(Boolean) && sources().every(({ loadState }) => loadState);
}

// What Neuroglancer shows its user of things that went wrong in a layer.
function errors() {
  const messages = layers().flatMap((layer) => [...layer.messages]);
  return messages.filter(({ severity }) => severity === MessageSeverity.error).map(({ message }) => message);
}

async function countChunks(...states) {
  const tiers = [ChunkPriorityTier.VISIBLE, ChunkPriorityTier.PREFETCH];
  const indices = states.flatMap((state) => tiers.map((tier) => getChunkStateStatisticIndex(state, tier)));
  let count = 0;
  for (const statistics of (await viewer.chunkQueueManager.getStatistics()).values())
    for (const index of indices) count += statistics[index * numChunkMemoryStatistics];
  return count;
}

// Waits until everything that belongs into the picture is in it, "ready", or the rest of it never will be, "failed".
async function outcome() {
  while (true) {
    if (errors().length > 0) return "failed";
    if (viewer.isReady()) return "ready";
    const coming = await countChunks(ChunkState.NEW, ChunkState.QUEUED, ChunkState.DOWNLOADING);
    if (!coming && (await countChunks(ChunkState.FAILED))) return "failed";
    await new Promise(requestAnimationFrame);
  }
}

// Draws again, and says where in the page the first panel is.
async function draw() {
  viewer.display.draw();
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const [panel] = viewer.display.panels;
  const { x, y, width, height } = panel.element.getBoundingClientRect();
  return { x, y, width, height };
}

// Every scale of every volume: all chunks are fetched through the chunk source that a layer draws from, in the worker
// that does it for the layer. The first dimension of the elements is the fastest; `missing` and `failed` tell what came of
// the chunks that have none.
async function volumes() {
  const found = [];
  for (const { loadState } of sources()) {
    const { subsources, modelTransform } = loadState.dataSource ?? { subsources: [] };
    for (const { subsource } of subsources) {
      for (const { chunkSource, chunkToMultiscaleTransform } of subsource.volume ? scales(subsource.volume) : []) {
        const { names } = modelTransform.inputSpace;
        found.push({ names, transform: [...chunkToMultiscaleTransform], ...(await elements(chunkSource)) });
      }
    }
  }
  return found;
}

function scales(volume) {
  const { rank } = volume;
  const multiscaleToViewTransform = new Float32Array((rank + 1) ** 2);
  for (let i = 0; i <= rank; ++i) multiscaleToViewTransform[i * (rank + 2)] = 1;
  const [all] = volume.getSources({
    multiscaleToViewTransform,
    displayRank: rank,
    modelChannelDimensionIndices: [],
    discreteValues: false,
  });
  return all;
}

async function elements(source) {
  const { dataType, upperVoxelBound, chunkDataSize } = source.spec;
  const shape = [...upperVoxelBound];
  const values = new DATA_TYPE_ARRAY_CONSTRUCTOR[dataType](shape.reduce((a, b) => a * b, 1));
  const missing = [];
  const failed = {};
  const grid = shape.map((length, i) => Math.ceil(length / chunkDataSize[i]));
  const fetched = [...positions(grid)].map(async (position) => {
    const origin = position.map((p, i) => p * chunkDataSize[i]);
    const place = (chunk) => chunk.data !== null && copy(chunk, origin, shape, values);
    try {
      if (!(await source.fetchChunk(Float32Array.from(position), place, {}))) missing.push(position);
    } catch (error) {
      failed[position] = String(error?.message ?? error);
    }
  });
  await Promise.all(fetched);
  const bytes = new Uint8Array(values.buffer);
  return { type: DataType[dataType].toLowerCase(), shape, missing, failed, values: bytes.toBase64() };
}

// The part of a chunk that lies inside the volume, element by element, for only the chunk knows how it keeps them.
function copy(chunk, origin, shape, values) {
  const part = shape.map((length, i) => Math.min(chunk.chunkDataSize[i], length - origin[i]));
  for (const position of positions(part)) {
    const index = shape.reduceRight((sum, length, i) => sum * length + origin[i] + position[i], 0);
    values[index] = chunk.getValueAt(position);
  }
  return true;
}

// All positions in a box, the first dimension fastest.
function* positions(shape) {
  const position = shape.map(() => 0);
  while (true) {
    yield [...position];
    let i = 0;
    while (i < shape.length && ++position[i] === shape[i]) position[i++] = 0;
    if (i === shape.length) return;
  }
}

// What each source says of segments: their ids, and the properties with a value for each. Tags are numbers of its list.
function properties() {
  const maps = sources().flatMap(({ loadState }) => loadState.dataSource?.subsources ?? []);
  return maps.flatMap(({ subsource }) => {
    const inline = subsource.segmentPropertyMap?.inlineProperties;
    if (!inline) return [];
    const found = inline.properties.map(({ id, type, values, tags }) => {
      const plain = type === "tags" ? [...values].map((text) => [...text].map((c) => c.charCodeAt(0))) : [...values];
      return { id, type, tags, values: plain };
    });
    return [{ ids: [...inline.ids].map(String), properties: found }];
  });
}

globalThis.probe = { loaded, errors, outcome, draw, volumes, properties };
