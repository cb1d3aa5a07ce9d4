#!/usr/bin/env python3
"""Makes the Draco fragments in this folder: the surface of a cube of (N+1)^3 points, N = 4, in steps of 255 from 0 to 1020.

Made with DracoPy 2.2.0 and, for positions that are floats and stay so, draco_encoder 1.5.5 (Debian's package draco).
"""
import pathlib
import subprocess
import tempfile

import DracoPy
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
N = 4
STEP = 255


def cube():
    points, faces = {}, []

    def number(point):
        return points.setdefault(point, len(points))

    for axis in range(3):
        for side in (0, N):
            for u in range(N):
                for v in range(N):
                    corners = []
                    for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        point = [0, 0, 0]
                        point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = side, u + du, v + dv
                        corners.append(number(tuple(point)))
                    a, b, c, d = corners if side else reversed(corners)
                    faces += [(a, b, c), (a, c, d)]
    return np.array(list(points)) * STEP, np.array(faces, dtype=np.uint32)


def unquantized(points, faces):
    with tempfile.TemporaryDirectory() as folder:
        obj = pathlib.Path(folder, "cube.obj")
        obj.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in points) + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces))
        subprocess.run(["draco_encoder", "-i", obj, "-o", f"{folder}/cube.drc", "-qp", "0"], check=True, stdout=subprocess.DEVNULL)
        return pathlib.Path(folder, "cube.drc").read_bytes()


points, faces = cube()
integers = points.astype(np.uint32)
grid = {"quantization_bits": 10, "quantization_range": 1023, "quantization_origin": np.zeros(3)}
FILES = {
    "edgebreaker.drc": DracoPy.encode(integers, faces=faces),
    "sequential.drc": DracoPy.encode(integers, faces=faces, preserve_order=True),
    "metadata.drc": DracoPy.encode(integers, faces=faces, create_metadata=True),
    "quantized.drc": DracoPy.encode(points.astype(np.float32), faces=faces, **grid),
    "floats.drc": unquantized(points, faces),
    "cloud.drc": DracoPy.encode(integers),
}
for name, content in FILES.items():
    (HERE / name).write_bytes(content)
