"""More operations for interop/remote_faults_test.py: metadata and chunks of other formats, and what makes whole nodes."""

import pathlib
import subprocess
import tempfile

import numpy as np
import sherd
from cli.conftest import BINARY
from interop.remote_datasets import CDL
from shardings import sharding

VALUES = np.arange(64 * 64, dtype="u4").reshape(64, 64)
OLD, NEW = 1, 2


def in_config(options):
    return {"storage_options": options}


def files_of(operation):
    """A directory of its own, which is removed with the operation."""
    operation.made = tempfile.TemporaryDirectory(prefix="sherd-faults-")
    return pathlib.Path(operation.made.name)


def command(options, arguments):
    """The command line of `sherd` with these arguments."""
    return [BINARY, *arguments, *(word for name, value in options.items() for word in ("--store-option", f"{name}={value}"))]


def run_command(options, arguments):
    """Runs it; raises CalledProcessError if it fails."""
    subprocess.run(command(options, arguments), check=True, capture_output=True)


class New:
    """A node where there was none."""

    def prepare(self, url, options):
        pass

    def state(self, url, options):
        try:
            return "new" if self.is_whole(url, options) else "wrong"
        except sherd.NotFound:
            return "old"


class Consolidated:
    """Metadata of all nodes in the document of their group."""

    format = "zarr3"
    # The next changes of nodes below the group go on with what is stored.

    def prepare(self, url, options):
        group = sherd.create_group(url, format=self.format, attributes={"a": OLD}, storage_options=options)
        for name in ("x", "y"):
            group.create_array(f"in/{name}", shape=(8,), dtype="u1", chunks=(4,))

    def run(self, url, options):
        sherd.consolidate_metadata(url, format=self.format, storage_options=options)

    def words(self, url):
        return ["consolidate", url]

    def state(self, url, options):
        store = sherd.Store(url, storage_options=options)
        document = store.get(".zmetadata" if self.format == "zarr2" else "zarr.json") or b""
        group = sherd.open_group(url, storage_options=options)
        assert sorted(group["in"].keys()) == ["x", "y"] and group.attrs["a"] == OLD
        return "new" if b'"in/x' in document else "old"


class Consolidated2(Consolidated):
    """Those of Zarr v2 are a document of their own."""

    format = "zarr2"


class Create2(New):
    """An array of Zarr v2 at a new path. Its attributes are another document."""

    def run(self, url, options):
        sherd.create_array(url, format="zarr2", shape=(64, 64), dtype="u4", chunks=(8, 64), attributes={"a": 1}, storage_options=options)

    def state(self, url, options):
        try:
            attributes = dict(sherd.open_array(url, storage_options=options).attrs)
        except sherd.NotFound:
            return "old"
        return {None: "without attributes", 1: "new"}[attributes.get("a")]


class Part2:
    """Elements of a chunk of Zarr v2, which is read before it is replaced."""

    def prepare(self, url, options):
        self.create(url, options)[...] = OLD

    def create(self, url, options):
        return sherd.create_array(url, format="zarr2", shape=(64, 64), dtype="u4", chunks=(32, 64), storage_options=options)

    def run(self, url, options):
        sherd.open_array(url, mode="r+", storage_options=options)[8:16] = NEW

    def state(self, url, options):
        values = sherd.open_array(url, storage_options=options)[...]
        changed = values[8:16]
        assert (values[:8] == OLD).all() and (values[16:] == OLD).all() and (changed == changed.ravel()[0]).all()
        return {OLD: "old", NEW: "new"}[changed.ravel()[0]]


class PartDraft(Part2):
    """A chunk in a shard of the 2022 draft."""

    def create(self, url, options):
        return sherd.create_array(url, format="draft2022", shape=(64, 64), dtype="u4", chunks=(8, 64), shards=(64, 64), storage_options=options)


class Transformer(PartDraft):
    """Chunks that the transformer of the 2022 draft is given as keys and values."""

    def create(self, url, options):
        return sherd.draft2022.create_array(url, shape=(64, 64), dtype="u4", chunks=(8, 64), chunks_per_shard=(8, 1), compressors=None,
                                            config=in_config(options))

    def run(self, url, options):
        store = sherd.Store(url, storage_options=options)
        (key,) = [each for each in store.keys() if each.startswith("meta/") and each.endswith(".array.json")]
        path = key.removeprefix("meta/root").removesuffix(".array.json").strip("/")
        transformer = sherd.draft2022.ShardingTransformer(store, path)
        (first,) = [each for each in transformer.list() if each.endswith("c1/0")]
        transformer.set(first, np.full((8, 64), NEW, "u4").tobytes())


class CreateDraft:
    """An array of the 2022 draft at a new path, in a new hierarchy."""

    stays = {"zarr.json"}

    def prepare(self, url, options):
        pass

    def run(self, url, options):
        sherd.create_array(url, format="draft2022", shape=(64, 64), dtype="u4", chunks=(8, 64), shards=(64, 64), attributes={"a": 1},
                           storage_options=options)

    def state(self, url, options):
        try:
            node = sherd.open(url, storage_options=options)
        except sherd.NotFound:
            return "old"
        # The document of the hierarchy comes first.
        return "empty hierarchy" if isinstance(node, sherd.Group) and not list(node) else {1: "new"}[node.attrs["a"]]


class Volume(New):
    """A precomputed volume of two scales."""

    SHARDING = sharding("murmurhash3_x86_128", (0, 1, 0), "gzip", "gzip")

    def run(self, url, options):
        scales = [{"size": [16 // each] * 3, "resolution": [each] * 3, "chunk_size": [8, 8, 8], "sharding": self.SHARDING} for each in (1, 2)]
        sherd.neuroglancer.create_precomputed(url, type="segmentation", dtype="uint64", scales=scales, config=in_config(options))

    def is_whole(self, url, options):
        return sherd.open_array(url, storage_options=options).shape == (16, 16, 16, 1)


class Voxels(Volume):
    """A chunk of a volume, in a hashed shard."""

    def prepare(self, url, options):
        super().run(url, options)
        sherd.open_array(url, mode="r+", storage_options=options)[...] = OLD

    def run(self, url, options):
        sherd.open_array(url, mode="r+", storage_options=options)[8:, :8, 8:] = NEW

    def state(self, url, options):
        values = sherd.open_array(url, storage_options=options)[...]
        changed = values[8:, :8, 8:]
        assert (changed == changed.ravel()[0]).all() and (values == OLD).sum() >= values.size - changed.size
        return {OLD: "old", NEW: "new"}[changed.ravel()[0]]


class Build:
    """Four shards of values by id, which are built beside the document that describes them."""

    SHARDING = sharding("identity", (0, 0, 2), "gzip", "gzip")
    VALUES = {id: b"%d" % id * 100 for id in range(12)}

    def prepare(self, url, options):
        info = sherd.neuroglancer.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons", "sharding": self.SHARDING})
        sherd.neuroglancer.Collection.create(url, info, config=in_config(options))

    def run(self, url, options):
        sherd.neuroglancer.build(url, self.SHARDING, self.VALUES.items(), config=in_config(options))

    def state(self, url, options):
        store = sherd.neuroglancer.ShardedStore(url, config=in_config(options))
        found = store.list()
        assert store.get_many(found) == [self.VALUES[id] for id in found]
        shards = {id % 4 for id in found}
        assert len(found) == 3 * len(shards), "each shard is complete"
        return {0: "old", 4: "new"}.get(len(shards), "some shards")


class Annotations(New):
    """Annotations with three indexes, the document last."""

    def run(self, url, options):
        points = np.arange(30, dtype="f4").reshape(10, 3)
        sherd.neuroglancer.write_annotations(url, points, kind="point", dimensions=(8, 8, 40), relationships={"segment": range(10)},
                                             storage_options=options)

    def is_whole(self, url, options):
        collection = sherd.neuroglancer.Collection(url, config=in_config(options))
        return [collection.read(id).geometry.tolist() for id in (0, 9)] == [[0, 1, 2], [27, 28, 29]]


class Import(New):
    """An array of a file."""

    def __init__(self):
        self.file = files_of(self) / "x.npy"
        np.save(self.file, VALUES)

    def run(self, url, options):
        sherd.import_(self.file, url, chunks=(16, 64), config=in_config(options))

    def words(self, url):
        return ["import", self.file, url, "--chunks", "16,64"]

    def is_whole(self, url, options):
        return (sherd.open_array(url, storage_options=options)[...] == VALUES).all()


class Ncgen(New):
    """A netCDF dataset of text: groups, dimensions and variables."""

    has_lists = True

    def __init__(self):
        self.file = files_of(self) / "x.cdl"
        self.file.write_text(CDL)

    def run(self, url, options):
        run_command(options, self.words(url))

    def words(self, url):
        return ["ncgen", "-o", url, self.file]

    def is_whole(self, url, options):
        dataset = sherd.netcdf.open_dataset(url, config=in_config(options))
        self.title = dataset.attributes.get("title", "")
        return dataset["t"][...].ravel().tolist() == list(range(72)) and dataset["deep/z"][...].tolist() == [1, 2, 3, 4]

    def state(self, url, options):
        state = super().state(url, options)
        return "without attributes" if state == "new" and self.title != "made for servers" else state


class Nccopy(Ncgen):
    """A copy of such a dataset."""

    def __init__(self):
        super().__init__()
        self.dataset = self.file.with_name("x.zarr")
        run_command({}, super().words(self.dataset))

    def run(self, url, options):
        sherd.netcdf.copy(self.dataset, url, config=in_config(options))

    def words(self, url):
        return ["nccopy", self.dataset, url]


class Variable:
    """A variable in a netCDF dataset: its documents, and the list of members of its group."""

    has_lists = True

    def prepare(self, url, options):
        with sherd.netcdf.create_dataset(url, storage_options=options) as dataset:
            dataset.create_dimension("x", 4)
            dataset.create_variable("a", "int", "x")[:] = OLD

    def run(self, url, options):
        with sherd.netcdf.edit_dataset(url, storage_options=options) as dataset:
            dataset.create_variable("b", "int", "x", attributes={"units": "K"})[:] = NEW

    def state(self, url, options):
        dataset = sherd.netcdf.open_dataset(url, storage_options=options)
        assert dataset["a"][...].tolist() == [OLD] * 4
        if "b" not in dataset.variables:
            return "old"
        return "new" if dataset["b"][...].tolist() == [NEW] * 4 and dataset["b"].attributes == {"units": "K"} else "defined"


class Overwrite:
    """An array that a copy replaces. Its documents are removed first."""

    def __init__(self):
        self.source = files_of(self) / "x.zarr"
        sherd.create_array(self.source, data=VALUES, chunks=(32, 64))

    def prepare(self, url, options):
        sherd.create_array(url, data=VALUES * 2, chunks=(16, 64), storage_options=options)

    def run(self, url, options):
        sherd.copy(self.source, url, overwrite=True, storage_options=options)

    def words(self, url):
        return ["copy", "--overwrite", self.source, url]

    def state(self, url, options):
        try:
            values = sherd.open_array(url, storage_options=options)[...]
        except sherd.NotFound:
            return "nothing"
        return "new" if (values == VALUES).all() else {True: "old"}[(values == VALUES * 2).all()]


NODE_OPERATIONS = {
    each.__name__.lower(): each
    for each in (Consolidated, Consolidated2, Create2, Part2, CreateDraft, PartDraft, Transformer, Volume, Voxels, Build, Import, Ncgen,
                 Nccopy, Annotations, Variable, Overwrite)
}
