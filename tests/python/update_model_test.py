"""A sharded array on disk, changed step by step by several handles with different settings, agrees with a NumPy array after
every step; zarr-python reads the same.

60 x 60 steps by default; SHERD_MODEL_STEPS=200x75 for a long run by hand."""

import collections
import os
import pathlib
import shutil
import tempfile

import numpy as np
import sherd
import zarr
from hypothesis import HealthCheck, configuration, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

EXAMPLES, STEPS = map(int, os.environ.get("SHERD_MODEL_STEPS", "60x60").split("x"))
LONGEST = 150
SETTINGS = {f"{update}, {max_unused}": {"update": update, "max_unused": max_unused, "durable": False}
            for update in ("auto", "rewrite", "append", "in_place") for max_unused in (0.5, 1.0)}
handles = st.sampled_from(sorted(SETTINGS))
seeds = st.integers(0, 2**32 - 1)
lengths = st.integers(0, LONGEST)


def noise(seed, shape):
    """Elements that do not become smaller, or few different ones."""
    random = np.random.default_rng(seed)
    return random.integers(0, 2**16 if seed % 3 else 3, shape, "u2")


@st.composite
def boxes(draw, shape):
    """Whole chunks or any elements."""
    unit = draw(st.sampled_from([1, 16]))
    parts = []
    for length in shape:
        begin = draw(st.integers(0, (length - 1) // unit)) * unit
        parts.append(slice(begin, min(length, begin + draw(st.integers(1, 40 // unit + 1)) * unit)))
    return tuple(parts)


class ChangedShards(RuleBasedStateMachine):
    folder: pathlib.Path
    changes: collections.Counter

    @initialize(index_location=st.sampled_from(["start", "end"]), compressors=st.sampled_from(["auto", None, ("gzip",)]),
                fill=st.sampled_from([0, 7]), slack=st.sampled_from([0, 0.5]), rows=lengths, columns=lengths)
    def create(self, index_location, compressors, fill, slack, rows, columns):
        self.where, self.fill = tempfile.mkdtemp(dir=self.folder), fill
        sherd.create_array(self.where, shape=(rows, columns), dtype="u2", chunks=(16, 16), shards=(64, 64), fill_value=fill,
                           index_location=index_location, compressors=compressors, config={"durable": False, "slack": slack})
        self.raw = compressors is None and fill == 0
        self.expected = np.full((rows, columns), fill, "u2")
        self.handles = {name: self.open(name) for name in SETTINGS}
        self.reader = sherd.open_array(self.where)
        self.last = self.handles["auto, 0.5"]

    def teardown(self):
        if hasattr(self, "where"):
            assert sherd.check(self.where, data=True)["faults"] == []
            shutil.rmtree(self.where)

    def open(self, name):
        return sherd.open_array(self.where, mode="r+", config=SETTINGS[name])

    def files(self):
        found = {path: path.stat() for path in pathlib.Path(self.where, "c").rglob("*") if path.is_file()}
        return {path: (status.st_ino, status.st_size, status.st_mtime_ns) for path, status in found.items()}

    def put(self, name, box, value):
        before = self.files()
        self.last = self.handles[name]
        self.last[box] = value
        self.expected[box] = value
        for path, (inode, size, time) in self.files().items():
            was = before.get(path, (None, None, None))
            if was != (inode, size, time):
                kind = "new" if was[0] is None else "replaced" if was[0] != inode else "appended" if was[1] < size else "overwritten"
                self.changes[kind] += 1

    @precondition(lambda self: self.expected.size)
    @rule(name=handles, seed=seeds, data=st.data())
    def write(self, name, seed, data):
        box = data.draw(boxes(self.expected.shape))
        self.put(name, box, noise(seed, self.expected[box].shape))

    @precondition(lambda self: self.expected.size)
    @rule(name=handles, data=st.data())
    def erase(self, name, data):
        self.put(name, data.draw(boxes(self.expected.shape)), self.fill)

    @rule(name=handles, rows=lengths, columns=lengths)
    def resize(self, name, rows, columns):
        self.last = self.handles[name]
        self.last.resize((rows, columns))
        kept = self.expected[:rows, :columns]
        self.expected = np.full((rows, columns), self.fill, "u2")
        self.expected[:kept.shape[0], :kept.shape[1]] = kept

    @precondition(lambda self: max(self.expected.shape) < LONGEST)
    @rule(name=handles, axis=st.sampled_from([0, 1]), count=st.integers(1, 40), seed=seeds)
    def append(self, name, axis, count, seed):
        shape = list(self.expected.shape)
        shape[axis] = count
        added = noise(seed, shape)
        self.last = self.handles[name]
        self.last.append(added, axis)
        self.expected = np.concatenate([self.expected, added], axis)

    @precondition(lambda self: self.expected.shape[0] < LONGEST and self.expected.shape[1])
    @rule(name=handles, count=st.integers(1, 40), flush_every=st.integers(1, 20), technique=st.sampled_from(["auto", 2, 3, 4]),
          seed=seeds)
    def stream(self, name, count, flush_every, technique, seed):
        added = noise(seed, (count, self.expected.shape[1]))
        self.last = self.handles[name]
        with self.last.appender(technique=technique if technique != 3 or self.raw else 2) as stream:
            for number, row in enumerate(added):
                stream.append(row)
                if number % flush_every == 0:
                    stream.flush()
        self.expected = np.concatenate([self.expected, added])

    @rule()
    def compact(self):
        sherd.compact(self.where)

    @rule(name=handles)
    def reopen(self, name):
        self.last = self.handles[name] = self.open(name)

    @rule(name=handles)
    def refresh(self, name):
        self.last = self.handles[name]
        self.last.refresh()

    @rule()
    def read_by_zarr_python(self):
        np.testing.assert_array_equal(zarr.open_array(self.where, mode="r")[:], self.expected)

    @invariant()
    def is_read_as_expected(self):
        self.changes["steps"] += 1
        self.reader.refresh()
        for array in (self.reader, self.last):
            np.testing.assert_array_equal(array[:], self.expected)


def test_any_sequence_of_changes_is_read_as_numpy_has_it(on_disk, record_property):
    configuration.set_hypothesis_home_dir(on_disk / "hypothesis")
    changes = collections.Counter()
    machine = type("Machine", (ChangedShards,), {"folder": on_disk, "changes": changes})
    run_state_machine_as_test(machine, settings=settings(
        max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, database=None, derandomize="SHERD_MODEL_STEPS" not in os.environ,
        suppress_health_check=list(HealthCheck)))
    record_property("changes", dict(changes))
    print(dict(changes))
    assert set(changes) == {"new", "replaced", "appended", "overwritten", "steps"}
