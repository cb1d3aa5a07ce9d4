#!/usr/bin/env python3
"""Writes precomputed_chunks.json: chunks of the precomputed format as cloud-volume and tensorstore encode them.

    python3 -m venv venv && venv/bin/pip install cloud-volume==12.15.2 tensorstore==0.1.86 pillow==13.0.0
    venv/bin/python make_precomputed_chunks.py

A case holds who wrote it, the codec as Sherd configures it, element type, the shape and the elements in the codec's
order (C order of (channel, z, y, x), for images of (z, y, x, channel)) and the encoded bytes, both in hex. For jpeg the
elements are what tensorstore, or Pillow, decodes.
"""

import io
import json
import pathlib
import tempfile

import compressed_segmentation
import numpy
import PIL.Image
import simplejpeg
import tensorstore

rng = numpy.random.default_rng(3)
cases = []


def add(writer, name, configuration, elements, encoded):
    cases.append(
        {
            "writer": writer,
            "codec": {"name": name, "configuration": configuration},
            "dtype": elements.dtype.name,
            "shape": list(elements.shape),
            "elements": elements.tobytes().hex(),
            "encoded": bytes(encoded).hex(),
        }
    )


def in_tensorstore(voxels, encoding, **scale):
    """The one chunk that tensorstore makes of an array (x, y, z, channel), and what it reads back."""
    with tempfile.TemporaryDirectory() as folder:
        array = tensorstore.open(
            {
                "driver": "neuroglancer_precomputed",
                "kvstore": {"driver": "file", "path": folder + "/"},
                "multiscale_metadata": {
                    "type": "image" if encoding in ("jpeg", "png") else "segmentation",
                    "data_type": voxels.dtype.name,
                    "num_channels": voxels.shape[3],
                },
                "scale_metadata": {
                    "key": "scale",
                    "size": voxels.shape[:3],
                    "chunk_size": voxels.shape[:3],
                    "encoding": encoding,
                    "resolution": [1, 1, 1],
                    **scale,
                },
            },
            create=True,
        ).result()
        array[...] = voxels
        (chunk,) = pathlib.Path(folder, "scale").iterdir()
        return chunk.read_bytes(), array.read().result()


def segments(shape, labels, dtype):
    """Pieces of few labels, the nearest of some points deciding."""
    points = rng.random((labels, 3)) * shape[:3]
    grid = numpy.stack(numpy.meshgrid(*map(numpy.arange, shape[:3]), indexing="ij"), -1)
    nearest = ((grid[..., None, :] - points) ** 2).sum(-1).argmin(-1)
    names = rng.integers(0, numpy.iinfo(dtype).max, labels, dtype=dtype, endpoint=True)
    return numpy.stack([numpy.roll(names, channel)[nearest] for channel in range(shape[3])], -1)


for dtype in ("uint32", "uint64"):
    for shape, block, labels in [
        ((9, 7, 5, 1), (4, 3, 2), 1),
        ((9, 7, 5, 1), (4, 3, 2), 6),
        ((16, 8, 8, 1), (8, 8, 8), 12),
        ((8, 7, 6, 1), (8, 8, 8), 300),
        ((5, 4, 3, 2), (3, 3, 3), 20),
    ]:
        voxels = segments(shape, labels, dtype)
        elements = numpy.ascontiguousarray(voxels.T)
        configuration = {"block_size": list(block)}
        if shape[3] == 1:
            single = numpy.asfortranarray(voxels[..., 0])
            encoded = compressed_segmentation.compress(single, block_size=block, order="F")
            add("cloud-volume", "compressed_segmentation", configuration, elements, encoded)
        encoded, read = in_tensorstore(voxels, "compressed_segmentation", compressed_segmentation_block_size=block)
        assert (read == voxels).all()
        add("tensorstore", "compressed_segmentation", configuration, elements, encoded)


def as_image(voxels):
    return numpy.ascontiguousarray(voxels.transpose(2, 1, 0, 3))


smooth = numpy.add.outer(numpy.add.outer(numpy.arange(9), 3 * numpy.arange(7)), 5 * numpy.arange(5))
for channels in (1, 2, 3, 4):
    for dtype in ("uint8", "uint16"):
        voxels = numpy.stack([smooth * (channel + 1) for channel in range(channels)], -1).astype(dtype)
        voxels[3, 2, 1, :] = numpy.iinfo(dtype).max - numpy.arange(channels)
        encoded, read = in_tensorstore(voxels, "png", png_level=6)
        assert (read == voxels).all()
        add("tensorstore", "png", {"level": 6}, as_image(voxels), encoded)
        if dtype == "uint8" and channels in (1, 3):
            encoded, read = in_tensorstore(voxels, "jpeg", jpeg_quality=80)
            add("tensorstore", "jpeg", {"quality": 80}, as_image(read), encoded)
            image = as_image(voxels)
            rows = image.reshape(-1, image.shape[2], channels)
            colours = "GRAY" if channels == 1 else "RGB"
            encoded = simplejpeg.encode_jpeg(rows, 85, colours, "GRAY" if channels == 1 else "444")
            read = numpy.asarray(PIL.Image.open(io.BytesIO(encoded))).reshape(image.shape)
            add("cloud-volume", "jpeg", {"quality": 85}, read, encoded)
            file = io.BytesIO()
            PIL.Image.fromarray(rows[..., 0] if channels == 1 else rows).save(file, "JPEG", progressive=True)
            read = numpy.asarray(PIL.Image.open(io.BytesIO(file.getvalue()))).reshape(image.shape)
            add("pillow, progressive", "jpeg", {}, read, file.getvalue())

lines = ",\n".join(map(json.dumps, cases))
pathlib.Path(__file__).with_name("precomputed_chunks.json").write_text('{"cases": [\n' + lines + "\n]}\n")
