def sharding(hash="identity", bits=(0, 0, 0), index="raw", data="raw"):
    """The member `sharding` of an info; `bits` are preshift_bits, minishard_bits and shard_bits."""
    preshift_bits, minishard_bits, shard_bits = bits
    return {
        "@type": "neuroglancer_uint64_sharded_v1",
        "hash": hash,
        "preshift_bits": preshift_bits,
        "minishard_bits": minishard_bits,
        "shard_bits": shard_bits,
        "minishard_index_encoding": index,
        "data_encoding": data,
    }
