//! Chunks that the crate zarrs encodes with `zarrs.vlen` and `zarrs.gdeflate`, as a JSON list.
use serde_json::{json, Value};
use std::sync::Arc;
use zarrs::array::{Array, ArrayMetadata};
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{ReadableStorageTraits, StoreKey};

fn array(data_type: &str, count: usize, codecs: &Value) -> (Arc<MemoryStore>, Array<MemoryStore>) {
    let fill = if data_type == "uint8" { json!(255) } else if data_type == "string" { json!("") } else { json!([]) };
    let metadata = json!({
        "zarr_format": 3, "node_type": "array", "shape": [count], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [count]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill, "codecs": codecs,
    });
    let metadata: ArrayMetadata = serde_json::from_value(metadata).unwrap();
    let store = Arc::new(MemoryStore::new());
    let array = Array::new_with_metadata(store.clone(), "/", metadata).unwrap();
    (store, array)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stored(store: &MemoryStore) -> String {
    hex(&store.get(&StoreKey::new("c/0").unwrap()).unwrap().unwrap())
}

fn vlen_rows(rows: &mut Vec<Value>) {
    let texts = ["", "shard", "żółw 🐢", "", "a longer text, a longer text, a longer text"];
    let zstd = json!({"name": "zstd", "configuration": {"level": 3, "checksum": false}});
    let crc = json!({"name": "crc32c"});
    for (index_type, location) in [("uint32", "start"), ("uint32", "end"), ("uint64", "start"), ("uint64", "end")] {
        for compressed in [false, true] {
            let mut index = vec![json!({"name": "bytes", "configuration": {"endian": if compressed { "big" } else { "little" }}})];
            let mut data = vec![json!({"name": "bytes"})];
            if compressed {
                index.push(crc.clone());
                data.push(zstd.clone());
            }
            let codecs = json!([{"name": "zarrs.vlen", "configuration": {"index_codecs": index, "data_codecs": data,
                "index_data_type": index_type, "index_location": location}}]);
            let (store, array) = array("string", texts.len(), &codecs);
            array.store_chunk(&[0], &texts[..]).unwrap();
            rows.push(json!({"codecs": codecs, "texts": texts, "encoded": stored(&store)}));
        }
    }
}

/// Bytes that a generator of 32 bits makes, in which what was there before is repeated.
fn sample(count: usize, alphabet: u32) -> Vec<u8> {
    let mut state: u32 = 1;
    let mut next = || { state = state.wrapping_mul(1664525).wrapping_add(1013904223); state >> 8 };
    let mut bytes: Vec<u8> = Vec::new();
    while bytes.len() < count {
        let byte = next();
        if bytes.len() > 100 && byte % 3 == 0 {
            let from = bytes.len() - 1 - (next() as usize % (bytes.len() - 1));
            for i in 0..(next() as usize % 60) { let copied = bytes[from + i]; bytes.push(copied); }
        } else {
            bytes.push((byte % alphabet) as u8);
        }
    }
    bytes.truncate(count);
    bytes
}

fn gdeflate_rows(rows: &mut Vec<Value>) {
    for (count, alphabet) in [(1usize, 256u32), (40, 3), (3000, 256), (3000, 7), (70000, 3), (140000, 1)] {
        for level in [0, 1, 6, 12] {
            if count > 3000 && (level == 0 || level == 6) { continue; }
            let codecs = json!([{"name": "bytes"}, {"name": "zarrs.gdeflate", "configuration": {"level": level}}]);
            let (store, array) = array("uint8", count, &codecs);
            let bytes = sample(count, alphabet);
            array.store_chunk(&[0], &bytes[..]).unwrap();
            rows.push(json!({"codecs": codecs, "count": count, "alphabet": alphabet, "encoded": stored(&store)}));
        }
    }
}

fn main() {
    let mut rows = Vec::new();
    vlen_rows(&mut rows);
    gdeflate_rows(&mut rows);
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    println!("[\n{}\n]", lines.join(",\n"));
}
