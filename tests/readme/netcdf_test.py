"""Every program of docs/netcdf.md is built as the page says, against Sherd as it is installed, and runs."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/netcdf.md").read_text(encoding="utf-8")


def run(*command, folder):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def test_the_cpp_programs_of_the_page_run(tmp_path):
    programs = re.findall(r"`(\w+\.cpp)` .*?```cpp\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in programs] == ["create.cpp", "read.cpp", "append.cpp", "convert.cpp"]
    assert PAGE.count("```cpp") == len(programs)
    for name, text in programs:
        (tmp_path / name).write_text(text, encoding="utf-8")
    [build] = re.findall(r"```cmake\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "CMakeLists.txt").write_text(build, encoding="utf-8")
    run("cmake", "--install", ROOT / "build/release", "--prefix", tmp_path / "prefix", folder=tmp_path)
    run("cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={tmp_path}/prefix",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", folder=tmp_path)
    run("cmake", "--build", "build", folder=tmp_path)

    build = tmp_path / "build"
    assert run(build / "create", "ocean.zarr", folder=tmp_path) == ""
    assert run(build / "read", "ocean.zarr", folder=tmp_path) == READ
    assert run(build / "append", "ocean.zarr", folder=tmp_path) == ""
    text = run(build / "convert", "ocean.zarr", "ocean.nc", "again.zarr", folder=tmp_path)
    assert 'temp:long_name = "temperature" ;' in text and " time = 0, 1, 2 ;" in text and "    19, 19, 19, 19," in text
    assert text == run("ncdump", "ocean.nc", folder=tmp_path)
    assert text == run(ROOT / "build/release/bin/sherd", "ncdump", "-n", "ocean", "again.zarr", folder=tmp_path)


READ = """double /time (2,)
  units: days since 2000-01-01
float /temp (2, 90, 180)
  units: degC
  _FillValue: -999
  valid_range: -2 40
18.5 18.5 18.5 18.5 18.5 18.5 
"""
