"""Operations on a bucket whose requests fail, one after the other: interop/remote_faults_test.py."""

import json

import numpy as np
import sherd
from shardings import sharding

SHAPE, CHUNKS, SHARDS = (64, 64), (8, 64), (64, 64)
LARGE = 1536  # rows of 4 KiB, in a shard that is stored in parts
OLD, NEW = 1, 2


def array_at(url, options, **more):
    given = {"shape": SHAPE, "dtype": "u4", "chunks": CHUNKS, "shards": SHARDS, "compressors": None} | more
    return sherd.create_array(url, storage_options=options, **given)


class Create:
    """An array at a new path."""

    def prepare(self, url, options):
        pass

    def run(self, url, options):
        array_at(url, options, attributes={"a": 1})

    def state(self, url, options):
        try:
            return "new" if sherd.open_array(url, storage_options=options).attrs["a"] == 1 else "wrong"
        except sherd.NotFound:
            return "old"


class Attributes:
    """A document that is replaced."""

    def prepare(self, url, options):
        sherd.create_group(url, attributes={"a": OLD}, storage_options=options)

    def run(self, url, options):
        sherd.open_group(url, mode="r+", storage_options=options).attrs["a"] = NEW

    def state(self, url, options):
        attributes = dict(sherd.open_group(url, storage_options=options).attrs)
        return {OLD: "old", NEW: "new"}[attributes["a"]]


class Resize(Attributes):
    """An array that is made smaller: its document, and the chunks outside, which are erased."""

    def prepare(self, url, options):
        array_at(url, options, shards=None)[...] = OLD

    def run(self, url, options):
        sherd.open_array(url, mode="r+", storage_options=options).resize((16, 64))

    def state(self, url, options):
        values = sherd.open_array(url, storage_options=options)[...]
        assert (values[:16] == OLD).all()
        return {64: "old", 16: "new"}[len(values)]


class Shard:
    """A whole shard, by one request."""

    create = {}

    def prepare(self, url, options):
        array_at(url, options, **self.create)[...] = OLD

    def run(self, url, options):
        sherd.open_array(url, mode="r+", storage_options=options)[...] = NEW

    def state(self, url, options):
        values = sherd.open_array(url, storage_options=options)[...]
        first = values.ravel()[0]
        assert (values == first).all()
        return {OLD: "old", NEW: "new"}[first]


class Parts(Shard):
    """A whole shard in parts."""

    create = {"shape": (LARGE, 1024), "chunks": (64, 1024), "shards": (LARGE, 1024)}


class Part(Shard):
    """An inner chunk of a small shard, which is sent again."""

    def run(self, url, options):
        sherd.open_array(url, mode="r+", storage_options=options)[8:16] = NEW

    def state(self, url, options):
        values = sherd.open_array(url, storage_options=options)[...]
        changed = values[8:16]
        assert (values[:8] == OLD).all() and (values[16:] == OLD).all() and (changed == changed[0, 0]).all()
        return {OLD: "old", NEW: "new"}[changed[0, 0]]


class Appended(Part):
    """An inner chunk of a large shard, which the server copies."""

    create = Parts.create


class Rows:
    """Rows that are appended: each once."""

    def prepare(self, url, options):
        array_at(url, options, shape=(5, 64))[...] = OLD

    def run(self, url, options):
        sherd.open_array(url, mode="r+", storage_options=options).append(np.full((3, 64), NEW, "u4"))

    def state(self, url, options):
        values = sherd.open_array(url, storage_options=options)[...]
        assert (values[:5] == OLD).all()
        if len(values) == 5:
            return "old"
        assert len(values) == 8
        # The document comes first: a failure may leave the rows without elements.
        return {0: "lengthened", NEW: "new"}[values[5, 0]] if (values[5:] == values[5, 0]).all() else "wrong"


class Values:
    """A value by id."""

    SHARDING = sharding("identity", (0, 0, 0), "gzip", "gzip")

    def open(self, url, options):
        return sherd.neuroglancer.ShardedStore(url, self.SHARDING, mode="r+", config={"storage_options": options})

    def prepare(self, url, options):
        self.open(url, options).put_many({1: b"one", 2: b"two"})

    def run(self, url, options):
        self.open(url, options).put(3, b"three")

    def state(self, url, options):
        values = self.open(url, options).get_many([1, 2, 3])
        values = [values[id] for id in (1, 2, 3)] if isinstance(values, dict) else list(values)
        assert values[:2] == [b"one", b"two"]
        return {None: "old", b"three": "new"}[values[2]]


class Erase:
    """A node of many objects."""

    node = "a"

    def prepare(self, url, options):
        group = sherd.create_group(url, storage_options=options)
        group.create_array("a", shape=SHAPE, chunks=(16, 64), dtype="u4")[...] = OLD

    def run(self, url, options):
        del sherd.open_group(url, mode="r+", storage_options=options)["a"]

    def words(self, url):
        return ["rm", f"{url}/a"]

    def state(self, url, options):
        store = sherd.Store(url, storage_options=options)
        assert json.loads(store.get("zarr.json"))["node_type"] == "group"
        left = [key for key in store.keys() if key.startswith("a/")]
        if not left:
            return "new"
        return "old" if "a/zarr.json" in left else "chunks are left"


class Copy:
    """Objects that the server copies, the document last."""

    changes = "b"

    def prepare(self, url, options):
        array_at(f"{url}/a", options, shards=(32, 64))[...] = NEW

    def run(self, url, options):
        sherd.copy(f"{url}/a", f"{url}/b", raw=True, storage_options=options)

    def words(self, url):
        return ["copy", "--raw", f"{url}/a", f"{url}/b"]

    def state(self, url, options):
        try:
            return "new" if (sherd.open_array(f"{url}/b", storage_options=options)[...] == NEW).all() else "wrong"
        except sherd.NotFound:
            return "old"


OPERATIONS = {each.__name__.lower(): each for each in (Create, Attributes, Resize, Shard, Parts, Part, Appended, Rows, Values, Erase, Copy)}
