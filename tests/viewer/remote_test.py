"""Neuroglancer reads from a web server and from a public bucket what Sherd reads there."""

import json

import numpy
import pytest
import sherd
from viewer.viewer import assert_has, assert_shows, gray_layer

SHAPE = (11, 29, 37)  # z, y, x
DATA = numpy.random.default_rng(7).integers(0, 255, SHAPE, "uint8", endpoint=True)
PLANE = 5
MIDDLE = [SHAPE[2] / 2, SHAPE[1] / 2, PLANE + 0.5]


@pytest.fixture
def place(request):
    """A function that puts a folder on a server, and returns the URLs for Neuroglancer and for Sherd, and options."""

    def put(name, folder):
        server = request.getfixturevalue(name)
        bucket = server.create_bucket()
        server.put_folder(bucket, folder)
        if name == "nginx":
            return server.at(bucket, location="cors"), server.at(bucket, location="cors"), {}
        public = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": ["*"]}, "Action": ["s3:GetObject", "s3:ListBucket"],
                                                          "Resource": [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]}]}
        rule = {"AllowedMethods": ["GET", "HEAD"], "AllowedOrigins": ["*"], "AllowedHeaders": ["*"],
                "ExposeHeaders": ["Content-Range", "Content-Length", "ETag"]}
        client = server.client()
        client.put_bucket_policy(Bucket=bucket, Policy=json.dumps(public))
        client.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [rule]})
        return f"{server.url}/{bucket}", f"s3://{bucket}", {"endpoint": server.url, "region": server.region, "anonymous": True}

    return put


@pytest.mark.parametrize("server", ["nginx", "radosgw"])
@pytest.mark.parametrize("format", ["zarr3", "zarr2", "precomputed"])
def test_neuroglancer_and_sherd_read_the_same_from_a_server(neuroglancer, place, tmp_path, server, format):
    folder = tmp_path / "volume"
    if format == "precomputed":
        scale = {"size": list(SHAPE[::-1]), "resolution": [8, 8, 8], "chunk_size": [10, 8, 4]}
        sharding = {"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 1, "hash": "murmurhash3_x86_128", "minishard_bits": 1,
                    "shard_bits": 1, "minishard_index_encoding": "gzip", "data_encoding": "gzip"}
        volume = sherd.neuroglancer.create_precomputed(folder, type="image", dtype="uint8", scales=[{**scale, "sharding": sharding}])
        volume[..., 0] = DATA.T
    else:
        more = {"shards": (8, 16, 20), "dimension_names": "zyx"} if format == "zarr3" else {"format": "zarr2"}
        sherd.create_array(folder, data=DATA, chunks=(4, 8, 10), **more)
    viewed, read, options = place(server, tmp_path)

    ours = sherd.open_array(f"{read}/volume", storage_options=options)
    dimensions = {name: [8e-9, "m"] for name in "xyz"} if format == "precomputed" else None
    dimensions = {f"d{i}": [1, ""] for i in (2, 1, 0)} if format == "zarr2" else dimensions
    view = neuroglancer.show(gray_layer(f"{format}://{viewed}/volume", 0, 255), position=MIDDLE, dimensions=dimensions, voxels=True)

    assert (view.outcome, view.errors) == ("ready", [])
    values = numpy.asarray(ours[...])
    assert_has(view.volumes[0], values[..., 0] if format == "precomputed" else values)
    numpy.testing.assert_array_equal(values[..., 0].T if format == "precomputed" else values, DATA)
    assert_shows(view, DATA[PLANE].astype(float))
