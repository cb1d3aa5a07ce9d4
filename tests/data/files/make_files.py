#!/usr/bin/env python3
"""Makes the files in this folder with the libraries that users have: NumPy, nibabel, Pillow, tifffile, imagecodecs.

Element i (C order of the array that is to be read) is (i * 37 + 11) % 251 in every file, so that a test needs no
second copy of the values. Versions that made what is committed:
numpy 2.4.6, nibabel 5.4.2, Pillow 13.0.0, tifffile 2026.3.3, imagecodecs 2026.3.6.
"""
import pathlib
import struct
import zlib

import imagecodecs
import nibabel as nib
import numpy as np
import tifffile
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
SHAPE = (3, 5, 7)


def pattern(shape, dtype):
    count = int(np.prod(shape))
    values = (np.arange(count) * 37 + 11) % 251
    if np.dtype(dtype).kind == "c":
        values = values + 1j * (values + 1)
    if np.dtype(dtype).kind == "b":
        values = values % 2
    return values.astype(dtype).reshape(shape)


def npy():
    np.save(HERE / "u1.npy", pattern(SHAPE, "u1"))
    np.save(HERE / "i2_big.npy", pattern(SHAPE, ">i2"))
    np.save(HERE / "f4_fortran.npy", np.asfortranarray(pattern(SHAPE, "<f4")))
    np.save(HERE / "c16_big_fortran.npy", np.asfortranarray(pattern(SHAPE, ">c16")))
    np.save(HERE / "f2.npy", pattern(SHAPE, "<f2"))
    np.save(HERE / "bool.npy", pattern(SHAPE, "?"))
    np.save(HERE / "scalar.npy", np.float64(11))
    np.save(HERE / "empty.npy", np.zeros((0, 3), "<u4"))
    np.save(HERE / "time.npy", pattern(SHAPE, "<i8").astype("<M8[25s]"))
    np.save(HERE / "duration.npy", pattern(SHAPE, "<i8").astype(">m8[ns]"))
    np.save(HERE / "text.npy", np.array(["ab", "\u00fc\u4e2d\U0001f600"], ">U3"))
    np.save(HERE / "raw.npy", np.array([b"abc", b"de"], "S3"))
    inner = np.dtype([("a", ">u2"), ("b", "u1")])
    mixed = np.zeros(4, np.dtype([("x", "<i4"), ("it's", ">f8"), ("in", inner)]))
    mixed["x"], mixed["it's"] = [1, -2, 3, -4], [0.5, 1.5, 2.5, 3.5]
    mixed["in"]["a"], mixed["in"]["b"] = [258, 1, 2, 3], [9, 8, 7, 6]
    np.save(HERE / "struct.npy", mixed)
    with open(HERE / "version2.npy", "wb") as file:
        np.lib.format.write_array(file, pattern(SHAPE, "<u2"), version=(2, 0))
    np.save(HERE / "version3.npy", np.zeros(2, np.dtype([("\u4e2d", "<u2")])))
    np.save(HERE / "object.npy", np.array([None, {}], dtype=object), allow_pickle=True)
    np.save(HERE / "padded.npy", np.zeros(2, np.dtype([("a", "u1"), ("b", "<u4")], align=True)))
    np.save(HERE / "subarray.npy", np.zeros(2, np.dtype([("a", "<u4", (2,))])))
    np.save(HERE / "longdouble.npy", np.zeros(2, np.longdouble))


def nifti():
    # nibabel's arrays are (x, y, z): the transpose of what is read.
    affine = np.array([[-2, 0.25, 0, 90], [0, 3, 0, -126], [0.5, 0, 4, -72], [0, 0, 0, 1]])
    data = pattern(SHAPE, "<i2").T
    image = nib.Nifti1Image(data, affine)
    image.header.set_xyzt_units("mm", "sec")
    image.header["descrip"] = b"made for a test"
    image.header["intent_code"] = 1002
    nib.save(image, HERE / "sform.nii")

    rotation = nib.quaternions.angle_axis2mat(0.7, [1, 2, 3])
    rigid = np.eye(4)
    rigid[:3, :3] = rotation @ np.diag([1.5, 2.5, -3.5])
    rigid[:3, 3] = [10, 20, 30]
    image = nib.Nifti1Image(pattern(SHAPE, "<f4").T, None)
    image.set_qform(rigid, code="scanner")
    image.set_sform(None, code=0)
    nib.save(image, HERE / "qform.nii.gz")
    np.save(HERE / "qform_affine.npy", nib.load(HERE / "qform.nii.gz").affine)

    header = nib.Nifti1Header(endianness=">")
    image = nib.Nifti1Image(pattern((2, 3, 5, 7), ">u2").T, affine, header)
    image.set_data_dtype(np.uint16)
    image.header.set_xyzt_units("micron", "msec")
    image.header.set_zooms((2, 3, 4, 0.5))
    nib.save(image, HERE / "big_4d.nii")

    nib.save(nib.Nifti2Image(pattern(SHAPE, "<f8").T, affine), HERE / "nifti2.nii.gz")
    image = nib.Nifti2Image(pattern(SHAPE, ">c8").T, affine, nib.Nifti2Header(endianness=">"))
    image.set_data_dtype(np.complex64)
    nib.save(image, HERE / "nifti2_big.nii")
    nib.save(nib.Nifti1Pair(pattern(SHAPE, "i1").T, affine), HERE / "pair.img")
    nib.save(nib.Nifti1Image(pattern((6,), "<u4"), affine), HERE / "one_dimension.nii")

    rgb = pattern(SHAPE + (3,), "u1").transpose(2, 1, 0, 3)
    colours = np.ascontiguousarray(rgb).view([("R", "u1"), ("G", "u1"), ("B", "u1")])[..., 0]
    nib.save(nib.Nifti1Image(colours, affine), HERE / "rgb.nii")

    image = nib.Nifti1Image(pattern(SHAPE, "<i2").T, affine)
    image.header.set_slope_inter(0.5, 10)
    nib.save(image, HERE / "scaled.nii")
    # nibabel writes stored values that undo its scaling; put the plain pattern back behind the header.
    raw = bytearray((HERE / "scaled.nii").read_bytes())
    raw[112:120] = struct.pack("<ff", 0.5, 10)
    raw[352:] = pattern(SHAPE, "<i2").tobytes()
    (HERE / "scaled.nii").write_bytes(raw)


def interlaced_png(values):
    """A gray Adam7 image, which Pillow and imagecodecs do not write."""
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    rows = b""
    for y, x, dy, dx in passes:
        part = values[y::dy, x::dx]
        if part.size:
            rows += b"".join(b"\0" + row.tobytes() for row in part)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    height, width = values.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def images():
    plane = (9, 13)
    Image.fromarray(pattern(plane, "u1")).save(HERE / "gray8.png")
    (HERE / "gray16.png").write_bytes(imagecodecs.png_encode(pattern(plane, "u2") * 257))
    Image.fromarray(pattern(plane + (3,), "u1")).save(HERE / "rgb8.png")
    (HERE / "rgba16.png").write_bytes(imagecodecs.png_encode(pattern(plane + (4,), "u2")))
    Image.fromarray(pattern(plane + (2,), "u1"), "LA").save(HERE / "gray_alpha.png")
    palette = Image.fromarray(pattern(plane, "u1"), "P")
    palette.putpalette([c for i in range(256) for c in (i, 255 - i, i // 2)])
    palette.save(HERE / "palette.png")
    Image.fromarray(pattern(plane, "?")).save(HERE / "one_bit.png")
    (HERE / "interlaced.png").write_bytes(interlaced_png(pattern(plane, "u1")))

    stack = pattern((11,) + plane, "u1")
    (HERE / "stack").mkdir(exist_ok=True)
    for i, image in enumerate(stack):
        Image.fromarray(image).save(HERE / "stack" / f"slice_{i}.png")
    (HERE / "stack" / "notes.txt").write_text("not an image\n")

    values = pattern(plane, "u1")
    Image.fromarray(values).save(HERE / "gray8.pgm")
    wide = pattern(plane, ">u2") * np.uint16(260)
    (HERE / "gray16.pgm").write_bytes(b"P5 # a comment\n13 9\n65535\n" + wide.astype(">u2").tobytes())
    text = "P2\n# a comment\n13\n# another\n9\n250\n" + "\n".join(" ".join(map(str, row)) for row in values)
    (HERE / "decimal.pgm").write_text(text)
    Image.fromarray(pattern(plane + (3,), "u1")).save(HERE / "rgb8.ppm")


def tiff():
    def save(name, data, **options):
        tifffile.imwrite(HERE / name, data, metadata=None, **options)

    save("strips.tif", pattern(SHAPE, "<u2"), rowsperstrip=2, photometric="minisblack")
    save("big_endian.tif", pattern(SHAPE, ">f4"), byteorder=">", photometric="minisblack")
    save("bigtiff.tif", pattern(SHAPE, "<i8"), bigtiff=True, photometric="minisblack")
    save("tiles_lzw.tif", pattern((2, 37, 41), "<i4"), tile=(16, 32), compression="lzw", photometric="minisblack")
    save("deflate.tif", pattern(SHAPE, "<f8"), compression="adobe_deflate", predictor=True, photometric="minisblack")
    save("rgb.tif", pattern((9, 13, 3), "u1"), photometric="rgb", resolution=(100, 50), resolutionunit="CENTIMETER")
    save("planar.tif", np.ascontiguousarray(pattern((9, 13, 3), "<u2").transpose(2, 0, 1)), photometric="rgb",
         planarconfig="separate", rowsperstrip=4, compression="zlib")
    save("planar_tiles.tif", np.ascontiguousarray(pattern((20, 19, 4), "u1").transpose(2, 0, 1)), photometric="rgb",
         planarconfig="separate", tile=(16, 16), extrasamples=["unassalpha"])
    save("bilevel.tif", pattern((9, 13), "?"), photometric="minisblack")
    save("half.tif", pattern((9, 13), "<f2"), photometric="minisblack")
    save("complex.tif", pattern((9, 13), "<c8"), photometric="minisblack")
    with tifffile.TiffWriter(HERE / "imagej_joined.tif", imagej=True) as writer:
        writer.write(pattern(SHAPE, ">u2"), truncate=True)
    stack = pattern((3, 2, 5, 7), ">u2").transpose(1, 0, 2, 3)  # read as c, z, y, x
    tifffile.imwrite(HERE / "imagej_hyperstack.tif", stack, imagej=True, metadata={
        "axes": "ZCYX", "spacing": 2.5, "unit": "um", "Labels": [f"z{z}c{c}" for z in range(2) for c in range(3)]})
    tifffile.imwrite(HERE / "hyperstack.ome.tif", stack.astype("<u2"), photometric="minisblack", metadata={
        "axes": "ZCYX", "PhysicalSizeX": 0.5, "Channel": {"Name": ["a", "b", "c"]}})
    with tifffile.TiffWriter(HERE / "other_size.tif") as writer:
        writer.write(pattern((9, 13), "u1"), metadata=None, photometric="minisblack")
        writer.write(pattern((9, 12), "u1"), metadata=None, photometric="minisblack")
    with tifffile.TiffWriter(HERE / "thumbnail.tif") as writer:
        writer.write(pattern((9, 13), "u1"), metadata=None, photometric="minisblack")
        writer.write(pattern((3, 4), "u1"), metadata=None, photometric="minisblack", subfiletype=1)


if __name__ == "__main__":
    npy()
    nifti()
    images()
    tiff()
