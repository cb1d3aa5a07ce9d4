"""export, read and picture on a full disk, and what they leave behind when they are killed: nothing that stays."""

import fcntl
import os
import resource
import shutil
import signal
import subprocess

import numpy
import pytest
from crash.operations import can_inject
from dependencies import missing

VALUES = numpy.random.default_rng(3).integers(0, 255, (6, 64, 64)).astype(numpy.uint8)
FILES = ["x.npy", "x.raw", "x.nii", "x.nii.gz", "x.tif", "planes/z_%02d.png", "planes/z_%02d.pgm"]
LINES = {"read": ["read", "v.zarr", "-o", "x.npy"], "picture": ["picture", "v.zarr", "p.png"],
         "jpeg": ["picture", "v.zarr", "p.jpg"]} | {name: ["export", "v.zarr", name] for name in FILES}


@pytest.fixture
def source(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VALUES)
    sherd.ok("import", "v.npy", "v.zarr")
    os.remove(tmp_path / "v.npy")
    return "v.zarr"


def limited(sherd, *arguments, size=2000):
    """Runs the command with a limit on the size of files."""
    def prepare():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run([sherd.binary, *arguments], cwd=sherd.folder, capture_output=True, preexec_fn=prepare)


def killed(sherd, *arguments):
    """Runs the command and kills it when it is about to write to a file for the first time."""
    if shutil.which("strace") is None or not can_inject():
        missing("strace and the right to trace")
    writes = "write,pwrite64,writev,pwritev"
    done = subprocess.run(["strace", "-f", "-o", os.devnull, "-e", f"trace={writes}", "-e", f"inject={writes}:signal=KILL:when=1",
                           sherd.binary, "--quiet", *arguments], cwd=sherd.folder, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def on_a_full_disk(sherd, script, *arguments, size="4k"):
    """Runs a script in which "full" is a file system of that size, and the arguments are "$@"."""
    (sherd.folder / "full").mkdir(exist_ok=True)
    mounted = f"mount -t tmpfs -o size={size} none full || exit 99; {script}"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", mounted, "sh", *arguments], cwd=sherd.folder, capture_output=True)
    if done.returncode in (1, 99):
        missing("a file system that may be mounted (unshare -rm)")
    return done


@pytest.mark.parametrize("name", LINES)
def test_a_file_that_cannot_grow_is_an_input_output_error(sherd, source, tmp_path, name):
    done = limited(sherd, *LINES[name], size=500 if name == "jpeg" else 2000)
    assert done.returncode == 7, done.stderr
    assert b"File too large" in done.stderr
    assert names(tmp_path) == [source]


@pytest.mark.parametrize("size", ["4k", "16k"])
@pytest.mark.parametrize("name", [*FILES, "read"])
def test_a_full_disk_is_an_input_output_error(sherd, source, tmp_path, name, size):
    *line, file = LINES[name]
    done = on_a_full_disk(sherd, '"$@"; code=$?; ls -A full; exit $code', sherd.binary, *line, f"full/{file}", size=size)
    assert done.returncode == 7, done.stderr
    assert b"No space left on device" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize("file", ["full/p.png", "full/p.jpg"])
def test_a_picture_on_a_full_disk_is_an_input_output_error(sherd, source, tmp_path, file):
    """Of a picture, which is small, on a disk that is full already."""
    script = 'head -c 4096 /dev/zero > full/old; "$@"; code=$?; ls -A full; exit $code'
    done = on_a_full_disk(sherd, script, sherd.binary, "picture", source, file)
    assert done.returncode == 7, done.stderr
    assert b"No space left on device" in done.stderr
    assert done.stdout == b"old\n"


@pytest.mark.parametrize("line", [["ncgen", "-o", "full/x", "new.cdl"], ["nccopy", "--overwrite", "new", "full/x"]], ids=lambda line: line[0])
def test_a_dataset_that_a_full_disk_keeps_from_being_replaced_remains(sherd, tmp_path, line):
    text = "netcdf x {{ dimensions: n = {0} ; variables: int v(n) ; data: v = {1} ; }}"
    for name, count in (("old", 3), ("new", 50_000)):
        (tmp_path / f"{name}.cdl").write_text(text.format(count, ", ".join(map(str, range(count)))))
        sherd.ok("ncgen", "-o", name, f"{name}.cdl")
    script = 'cp -r old full/x; "$@"; code=$?; ls -A full; "$0" ncdump full/x; exit $code'
    done = on_a_full_disk(sherd, script.replace("$0", str(sherd.binary)), sherd.binary, *line, size="100k")
    assert done.returncode == 7 and b"No space left on device" in done.stderr, done.stderr
    assert done.stdout.startswith(b"x\n") and b" v = 0, 1, 2 ;" in done.stdout, done.stdout


@pytest.mark.parametrize("line", [["export", "v.zarr", "-", "--to", "tiff"], ["export", "v.zarr", "-", "--to", "npy"],
                                  ["picture", "v.zarr", "-"]])
def test_errors_of_what_goes_to_standard_output_name_no_hidden_file(sherd, source, tmp_path, line):
    fill = "mkdir full/sherd; head -c 4096 /dev/zero > full/old; " if line[0] == "picture" else ""
    done = on_a_full_disk(sherd, fill + 'TMPDIR=full "$@"', sherd.binary, *line, size="8k")
    assert done.returncode == 7 and done.stdout == b"", done.stderr
    assert b"No space left on device" in done.stderr and b"TMPDIR" in done.stderr
    assert b"standard output" in done.stderr and b".sherd-part" not in done.stderr
    if line[0] == "export":
        sherd.ok("create", "s.zarr", "--shape", "2,2", "--dtype", "string")
        ran = sherd("export", "s.zarr", "-", "--to", "tiff")
        assert ran.code == 5 and "standard output" in ran.stderr and "sherd-part" not in ran.stderr, ran.stderr


@pytest.mark.parametrize("name", LINES)
def test_leftovers_of_a_killed_command_are_removed_by_the_next_one(sherd, source, tmp_path, name):
    line = LINES[name]
    killed(sherd, *line)
    left = [each for each in names(tmp_path) if each.startswith(".")]
    assert all(each.endswith(".sherd-part") for each in left) and (left != []) == ("%" in name)
    sherd.ok(*line)
    assert names(tmp_path) == sorted([source, line[-1].split("/")[0]])


def test_a_directory_that_is_called_like_a_plane_is_left_alone(sherd, source, tmp_path):
    sherd.ok("export", source, "planes/z_%02d.png")
    (tmp_path / "planes/z_06.png").mkdir()
    (tmp_path / "planes/z_07.png").write_bytes(b"of a longer stack")
    sherd.ok("export", source, "planes/z_%02d.png")
    assert names(tmp_path / "planes") == [f"z_{z:02}.png" for z in range(7)]
    assert (tmp_path / "planes/z_06.png").is_dir()


def test_planes_that_go_into_a_directory_leave_nothing_there(sherd, source, tmp_path):
    (tmp_path / "planes").mkdir()
    killed(sherd, "export", source, "planes/z_%02d.png")
    assert len(names(tmp_path / "planes")) == 1
    sherd.ok("export", source, "planes/z_%02d.png")
    assert names(tmp_path / "planes") == [f"z_{z:02}.png" for z in range(6)]


def test_leftovers_are_removed_when_another_file_is_written_there(sherd, source, tmp_path):
    for run, line in enumerate((["export", source, "y.npy"], ["read", source, "-o", "z.npy"], ["picture", source, "p.png"])):
        (tmp_path / f".planes.{run}.sherd-part").mkdir()
        (tmp_path / f".planes.{run}.sherd-part" / "z_0.png").write_bytes(b"half")
        (tmp_path / f".x.npy.{run}.sherd-part").write_bytes(b"half")
        sherd.ok(*line)
        assert [each for each in names(tmp_path) if each.startswith(".")] == []


def test_files_of_a_running_process_are_left_alone(sherd, source, tmp_path):
    directory, file = tmp_path / ".planes.1.sherd-part", tmp_path / ".x.npy.1.sherd-part"
    directory.mkdir()
    file.write_bytes(b"half")
    held = [os.open(path, os.O_RDONLY) for path in (directory, file)]
    for descriptor in held:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    sherd.ok("export", source, "x.npy")
    assert directory.exists() and file.exists()
    for descriptor in held:
        os.close(descriptor)
    sherd.ok("export", source, "x.npy")
    assert not directory.exists() and not file.exists()


def test_other_hidden_files_are_not_leftovers(sherd, source, tmp_path):
    for name in (".x.npy.1", "x.sherd-part", ".sherd-particle"):
        (tmp_path / name).write_bytes(b"mine")
    sherd.ok("export", source, "x.npy")
    assert {".x.npy.1", "x.sherd-part", ".sherd-particle"} <= set(names(tmp_path))


def test_a_failed_export_keeps_the_file_that_it_would_have_replaced(sherd, source, tmp_path):
    (tmp_path / "x.npy").write_bytes(b"old")
    assert limited(sherd, "export", source, "x.npy").returncode == 7
    killed(sherd, "export", source, "x.npy")
    assert (tmp_path / "x.npy").read_bytes() == b"old" and names(tmp_path) == [source, "x.npy"]
    sherd.ok("export", source, "x.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "x.npy"), VALUES)
