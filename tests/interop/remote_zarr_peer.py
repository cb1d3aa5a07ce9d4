"""zarr-python 3 reading arrays from servers, run by the Python of .venv-ome: a line of JSON per array, a line per answer."""

import hashlib
import json
import os
import sys

import obstore.store
import zarr


def store_of(through, url, server):
    if through == "fsspec":
        options = {"key": server["key"], "secret": server["secret"],
                   "client_kwargs": {"endpoint_url": server["url"], "region_name": "us-east-1"}} if url.startswith("s3:") else {}
        return zarr.storage.FsspecStore.from_url(url, storage_options=options, read_only=True)
    plain = {"client_options": {"allow_http": True}}
    if url.startswith("s3:"):
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        found = obstore.store.S3Store(bucket, prefix=prefix, endpoint=server["url"], region="us-east-1", access_key_id=server["key"],
                                      secret_access_key=server["secret"], virtual_hosted_style_request=False, **plain)
    else:
        found = obstore.store.HTTPStore(url, **plain)
    return zarr.storage.ObjectStore(found, read_only=True)


for line in sys.stdin:
    asked = json.loads(line)
    array = zarr.open_array(store_of(asked["through"], asked["url"], asked["server"]), mode="r")
    values = array[...]
    digest = hashlib.sha256(values.tobytes("C")).hexdigest()
    print(json.dumps({"shape": values.shape, "dtype": str(values.dtype), "sha256": digest}), flush=True)
os._exit(0)  # all is answered: how the interpreter ends with the threads of obstore is not what is tested
