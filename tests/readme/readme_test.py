"""Every command and program of README.md runs as it is written.

Not run from here: `script/test`, which runs this, and `pip install .`, which it has done before.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy
import tensorstore as ts
import tifffile
import zarr

ROOT = pathlib.Path(__file__).resolve().parents[2]
BRAIN = pathlib.Path("/usr/share/mricron/templates/ch2better.nii.gz")


def examples():
    """By section: the lines of its commands, and its programs by language."""
    commands, programs = {}, {}
    section = language = ""
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"```(\w*)", line):
            language = found[1]
        elif language:
            programs[language] = programs.get(language, "") + line + "\n"
        elif found := re.match(r"#+ (.+)", line):
            section = found[1]
        elif found := re.match(r"    (\S.*)", line):
            commands.setdefault(section, []).append(re.sub(r"\s+#.*", "", found[1]))
    return commands, programs


COMMANDS, PROGRAMS = examples()
WALKTHROUGHS = "From a microscope to an image pyramid", "From labels to Neuroglancer"


def run(command, folder, **environment):
    """As a user types it after activating .venv."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(command, cwd=folder, env=os.environ | {"PATH": path} | environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_no_example_is_left_out():
    assert set(COMMANDS) == {"Sherd", "Python", "Command line", *WALKTHROUGHS, "C++"}
    assert set(PROGRAMS) == {"python", "cpp"}
    assert COMMANDS["Sherd"] == ["script/demo", "script/test"]
    assert COMMANDS["Python"] == ["pip install ."]
    assert len(COMMANDS["C++"]) == 1


def test_the_demo_runs_as_described(tmp_path):
    shown = run(["script/demo", str(tmp_path)], ROOT)
    assert "reads the whole array alike" in shown
    assert (tmp_path / "slice.png").read_bytes().startswith(b"\x89PNG")
    assert shown.count("equals ncdump of /usr/share/ferret-vis/data/") == 2 and "reads the same: " in shown
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_the_python_program_runs_with_a_server_for_its_url(nginx):
    """Its folder is one that the server shows, so that what it writes is what it reads."""
    bucket = nginx.create_bucket()
    folder = pathlib.Path(nginx.folder) / "files" / bucket
    assert PROGRAMS["python"].count("https://data.example.org/volume.zarr") == 1
    program = PROGRAMS["python"].replace("https://data.example.org", nginx.at(bucket, scheme="https"))
    checks = "for box in (box, array[10:110, 200:280, ::-2]):\n    np.testing.assert_array_equal(box, data[10:110, 200:280, ::-2])\n"
    run([sys.executable, "-c", program + checks], folder, SHERD_STORE_CA_BUNDLE=nginx.more["certificate"])
    assert any(f"{bucket}/volume.zarr/c/" in each["target"] for each in nginx.requests())
    shutil.rmtree(folder)


def test_the_commands_run(tmp_path):
    shutil.copy(BRAIN, tmp_path / "brain.nii.gz")
    run(["sh", "-ec", "\n".join(COMMANDS["Command line"])], tmp_path)
    assert (tmp_path / "slice.npy").read_bytes().startswith(b"\x93NUMPY")
    assert (tmp_path / "again.zarr" / "zarr.json").exists()
    assert (tmp_path / "slice.png").read_bytes().startswith(b"\x89PNG")


def test_a_microscope_image_becomes_a_pyramid(tmp_path):
    image = numpy.arange(24 * 2 * 200 * 300, dtype="uint16").reshape(24, 2, 200, 300)
    tifffile.imwrite(tmp_path / "cells.ome.tif", image, ome=True,
                     metadata={"axes": "ZCYX", "PhysicalSizeX": 0.2, "PhysicalSizeY": 0.2, "PhysicalSizeZ": 1.0,
                               "Channel": {"Name": ["DAPI", "GFP"]}})
    nuclei = numpy.repeat(numpy.arange(24, dtype="uint16"), 200 * 300).reshape(24, 200, 300)
    numpy.save(tmp_path / "nuclei.npy", nuclei)
    run(["sh", "-ec", "\n".join(COMMANDS[WALKTHROUGHS[0]])], tmp_path)
    levels = zarr.open_group(tmp_path / "cells.ome.zarr", mode="r")
    numpy.testing.assert_array_equal(levels["0"][:], image.transpose(1, 0, 2, 3))
    scale = levels.attrs["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"][0]
    assert scale == {"type": "scale", "scale": [1, 1, 0.2, 0.2]}
    numpy.testing.assert_array_equal(levels["labels/nuclei/0"][:], nuclei)
    for name in ("cells.png", "gfp.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_labels_become_a_segmentation_for_neuroglancer(tmp_path):
    labels = numpy.repeat(numpy.arange(24, dtype="uint32"), 200 * 300).reshape(24, 200, 300)
    numpy.save(tmp_path / "labels.npy", labels)
    (tmp_path / "17.swc").write_text("1 1 0.5 0.5 0.5 0.1 -1\n2 3 1 1 0.5 0.1 1\n")
    (tmp_path / "synapses.csv").write_text("x,y,z,score\n10,20,3,0.5\n100,50,20,0.25\n")
    run(["sh", "-ec", "\n".join(COMMANDS[WALKTHROUGHS[1]])], tmp_path)
    volume = ts.open({"driver": "neuroglancer_precomputed", "kvstore": f"file://{tmp_path}/seg"}).result()
    numpy.testing.assert_array_equal(volume[..., 0].read().result().T, labels)
    assert json.loads((tmp_path / "seg/info").read_text())["skeletons"] == "skeletons"
    assert json.loads((tmp_path / "seg/synapses/info").read_text())["properties"][0]["id"] == "score"


def test_the_installation_runs(tmp_path):
    build, _, install = COMMANDS["C++"][0].partition(" && ")
    assert build == "script/build"  # done, and test_the_demo_runs_as_described does it again
    run(["sh", "-ec", install], ROOT, HOME=str(tmp_path))
    assert run([tmp_path / ".local/bin/sherd", "--version"], tmp_path).startswith("sherd ")


def test_the_cpp_program_is_what_the_package_tests_compile():
    assert PROGRAMS["cpp"] == (ROOT / "tests/install/app.cpp").read_text(encoding="utf-8")
