"""zarr-python 2.18 on stores of the 2022 draft, run by the Python of .venv-draft2022: one request, one answer.

    draft2022_peer.py read STORE PATH OUT.npy     the array at PATH ("": the root) as zarr-python reads it
    draft2022_peer.py write STORE PATH IN.npy     makes it, with the keywords of zarr.create as JSON on standard input
    draft2022_peer.py tree STORE                  what groups hold, as JSON
    draft2022_peer.py operate STORE PATH          operations of the array's sharding transformers, a line of JSON each:
                                                  [name, arguments…] in, the result out; bytes as text of Latin-1

`chunks_per_shard`, a list of lists, becomes the sharding transformers.
"""

import json
import os
import sys
import warnings

os.environ |= {"ZARR_V3_EXPERIMENTAL_API": "1", "ZARR_V3_SHARDING": "1"}
warnings.simplefilter("ignore")

import numcodecs
import numpy
import zarr
from zarr._storage.v3 import DirectoryStoreV3
from zarr._storage.v3_storage_transformers import ShardingStorageTransformer


def read(store, path, out):
    array = zarr.Array(store, path=path or None, read_only=True, zarr_version=3)  # open_array takes no root
    numpy.save(out, array[...], allow_pickle=array.dtype == object)


def write(store, path, source):
    keywords = json.load(sys.stdin)
    data = numpy.load(source, allow_pickle=True)
    levels = keywords.pop("chunks_per_shard", [])
    if levels:
        keywords["storage_transformers"] = [ShardingStorageTransformer("indexed", level) for level in levels]
    for name in ("compressor", "object_codec"):
        if keywords.get(name):
            keywords[name] = numcodecs.get_codec(keywords[name])
    if "filters" in keywords:
        keywords["filters"] = [numcodecs.get_codec(each) for each in keywords["filters"]]
    attributes = keywords.pop("attributes", {})
    array = zarr.create(data.shape, dtype=keywords.pop("dtype", data.dtype), store=store, path=path or None, **keywords)
    array[...] = data
    if attributes:
        array.attrs.update(attributes)


def tree(store):
    def members(group):
        found = {name: list(array.shape) for name, array in group.arrays()}
        return found | {name: members(child) for name, child in group.groups()}

    root = zarr.open_group(store, path="/", mode="r", zarr_version=3)
    print(json.dumps(members(root), sort_keys=True))


def operate(store, path):
    transformer = zarr.Array(store, path=path or None, zarr_version=3).chunk_store
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        result = None
        if name == "get":
            result = transformer.get(*arguments)
        elif name == "get_partial_values":
            result = transformer.get_partial_values([(key, tuple(part)) for key, part in arguments[0]])
        elif name == "set":
            transformer[arguments[0]] = arguments[1].encode("latin-1")
        elif name == "set_partial_values":
            transformer.set_partial_values([(key, start, value.encode("latin-1")) for key, start, value in arguments[0]])
        elif name == "erase":
            if arguments[0] in transformer:
                transformer.erase(*arguments)
        elif name == "erase_prefix":
            transformer.erase_prefix(*arguments)
        elif name == "list_prefix":
            result = sorted(transformer.list_prefix(*arguments))
        elif name == "list_dir":
            result = [sorted(names) for names in transformer.list_dir(*arguments)]
        print(json.dumps(result, default=lambda value: bytes(value).decode("latin-1")), flush=True)


if __name__ == "__main__":
    function, folder, *arguments = sys.argv[1:]
    {"read": read, "write": write, "tree": tree, "operate": operate}[function](DirectoryStoreV3(folder), *arguments)
