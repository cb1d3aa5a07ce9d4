"""Neuroglancer as its users have it, in a headless Chromium: what it fetches and what it shows.

    view = neuroglancer.show({"type": "image", "source": f"zarr3://{served.url}/volume"}, position=[8, 6, 0.5], voxels=True)
    assert view.outcome == "ready", view.errors
    assert_has(view.volumes[0], expected)      # what its worker decoded
    assert_shows(view, gray)                   # what it drew

`neuroglancer` and `served`, the HTTP server of the test's own folder, are fixtures of conftest.py. A layer is what
Neuroglancer's own state has for it, so that meshes, skeletons and annotations are shown alike.
"""

import base64
import dataclasses
import io
import json
import pathlib
import subprocess
import sys
import urllib.parse

import numpy
import PIL.Image

HERE = pathlib.Path(__file__).parent
PAGE = HERE / "node_modules/.page"
NODE = pathlib.Path(sys.executable).with_name("node")
ZOOM = 8  # pixels of a voxel's edge
SIZE = {"width": 640, "height": 480}


@dataclasses.dataclass
class Volume:
    """One scale. `elements` has its dimensions in the order of `names`; `missing` and `failed` are chunks without any."""

    names: list
    elements: numpy.ndarray
    origin: list
    step: list
    missing: list
    failed: dict

    @classmethod
    def of(cls, answer):
        chunk_rank = len(answer["shape"])
        transform = numpy.reshape(answer["transform"], (chunk_rank + 1, chunk_rank + 1), order="F")
        chunk_dimension = [int(i) for i in numpy.abs(transform[:-1, :-1]).argmax(axis=1)]
        flat = numpy.frombuffer(base64.b64decode(answer["values"]), answer["type"])
        return cls(
            answer["names"],
            flat.reshape(answer["shape"], order="F").transpose(chunk_dimension),
            transform[:-1, -1].tolist(),
            transform[range(chunk_rank), chunk_dimension].tolist(),
            answer["missing"],
            answer["failed"],
        )


@dataclasses.dataclass
class View:
    """`outcome` is "ready" or "failed"; `picture` is the cross section, rows of pixels of red, green and blue. `properties`
    are those of segments, for each source that has any: ids, and properties with a value for each."""

    outcome: str
    errors: list
    picture: numpy.ndarray
    volumes: list
    properties: list
    position: list

    @classmethod
    def of(cls, answer, position):
        page = numpy.asarray(PIL.Image.open(io.BytesIO(base64.b64decode(answer["picture"]))).convert("RGB"))
        panel = {name: round(value) for name, value in answer["panel"].items()}
        rows = slice(panel["y"], panel["y"] + panel["height"])
        columns = slice(panel["x"], panel["x"] + panel["width"])
        volumes = [Volume.of(volume) for volume in answer["volumes"]]
        return cls(answer["outcome"], answer["errors"], page[rows, columns], volumes, answer["properties"], position)

    def cells(self, shape, origin=(0, 0)):
        """The nine pixels in the middle of each voxel of the cross section: an array of rows, columns, 9, 3.

        `shape` is the number of rows and columns of voxels, `origin` are the coordinates of the first (x, then y).
        """
        middle = [
            numpy.floor(pixels / 2 + (first + numpy.arange(count) + 0.5 - where) * ZOOM).astype(int)
            for pixels, count, first, where in zip(self.picture.shape, shape, origin[::-1], self.position[1::-1])
        ]
        around = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
        return numpy.stack([self.picture[numpy.ix_(middle[0] + down, middle[1] + right)] for down, right in around], axis=2)


class Neuroglancer:
    """One browser for many pages. It ends with the `with` block, or with the tests' process, for then its stdin ends."""

    def __init__(self, chromium, url):
        """url: where the files of PAGE are served."""
        self.url = url
        self.driver = subprocess.Popen(
            [NODE, HERE / "driver.mjs", chromium], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.stdin.close()
        self.driver.wait()
        self.driver.stdout.close()

    def show(self, *layers, position, dimensions=None, voxels=False, **state):
        """Opens a page with these layers, at a position in the middle of its one panel, which has the first two dimensions.

        dimensions: as in Neuroglancer's state; x, y and z in voxels where nothing is said. voxels: fetch all volumes too.
        """
        state = {
            "dimensions": dimensions or {name: [1, ""] for name in "xyz"},
            "position": position,
            "crossSectionScale": 1 / ZOOM,
            "crossSectionBackgroundColor": "#000000",
            "layout": "xy",
            "layers": [{"name": f"layer {i}", **layer} for i, layer in enumerate(layers)],
            "showAxisLines": False,
            "showDefaultAnnotations": False,
            "showScaleBar": False,
            **state,
        }
        url = f"{self.url}/index.html#!{urllib.parse.quote(json.dumps(state))}"
        return View.of(self.ask({"url": url, "voxels": voxels, **SIZE}), position)

    def ask(self, request):
        self.driver.stdin.write(json.dumps(request) + "\n")
        self.driver.stdin.flush()
        answer = json.loads(self.driver.stdout.readline() or '{"thrown": "the browser ended"}')
        if "thrown" in answer:
            raise RuntimeError(answer["thrown"])
        return answer


def gray_layer(source, low, high):
    """An image layer in which `low` is black and `high` white."""
    shader = f"#uicontrol invlerp gray(range=[{low}, {high}])\nvoid main() {{ emitGrayscale(gray()); }}"
    return {"type": "image", "source": source, "opacity": 1, "shader": shader}


def label_layer(source, colors):
    """A segmentation layer with a color, "#rrggbb", for each label."""
    colors = {str(label): color for label, color in colors.items()}
    return {"type": "segmentation", "source": source, "selectedAlpha": 1, "segments": list(colors), "segmentColors": colors}


def painted(labels, colors):
    """Rows and columns of labels in the colors of label_layer."""
    return numpy.array([[tuple(bytes.fromhex(colors[int(label)][1:])) for label in row] for row in labels])


def assert_has(volume, expected):
    """Every chunk of the volume is there, and every voxel is as expected."""
    assert (volume.missing, volume.failed) == ([], {})
    assert volume.elements.dtype == expected.dtype
    assert numpy.array_equal(volume.elements, expected)


def assert_shows(view, expected, origin=(0, 0), tolerance=1):
    """The cross section has these colors, an array of rows, columns and perhaps 3, in the middle of its voxels."""
    expected = numpy.asarray(expected, float)
    if expected.ndim == 2:
        expected = numpy.stack([expected] * 3, axis=-1)
    off = abs(view.cells(expected.shape[:2], origin) - expected[:, :, None, :]).max(axis=(2, 3))
    wrong = numpy.argwhere(off > tolerance)
    assert len(wrong) == 0, f"{len(wrong)} of {off.size} voxels have another color; the first (row, column): {wrong[0]}"
