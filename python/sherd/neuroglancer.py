"""Neuroglancer's precomputed format: values by id in shards, and the objects that they hold: skeletons, meshes,
annotations and segment properties.

    from sherd.neuroglancer import Skeleton

    skeleton = Skeleton.from_bytes(data, vertex_attributes=[{"id": "radius", "data_type": "float32", "num_components": 1}])
    skeleton.vertices          # float32, shape (n, 3)
    skeleton.to_bytes()

    skeletons = Collection("em/skeletons", mode="r+")    # its `info` describes it, sharded or not
    skeletons.read(17), skeletons.write(18, skeleton), skeletons.list()

    write_annotations("em/synapses", positions, kind="point", dimensions=(8, 8, 40))    # with all indexes
    link("em", skeletons="skeletons")           # makes the info of the volume refer to them

    build("skeletons", sharding, items)         # pairs of an id and bytes, in any order
    store = ShardedStore("skeletons")           # values in shards, as bytes
    store.get(17), 18 in store, store.list()

`Collection`, `ShardedStore` and `build` read and write stores; everything else works on bytes and arrays. Bytes that
contradict the format are `sherd.Corrupt`; values that cannot be stored, and documents with wrong members, are
`sherd.InvalidArgument`. Specification of the layouts: Neuroglancer's docs/datasource/precomputed.
"""

from __future__ import annotations

from ._annotation_build import write_annotations
from ._build import build, choose_sharding, choose_sharding_for_values
from ._collection import Collection
from ._object_files import export_object, import_object
from ._objects import (
    Annotation,
    Annotations,
    Mesh,
    MeshLevel,
    MultiscaleMesh,
    MultiscaleMeshManifest,
    QuantizedMesh,
    SegmentProperties,
    SegmentProperty,
    Skeleton,
    can_decode_draco,
)
from ._precomputed import create_precomputed, link, links
from ._sherd import AnnotationInfo, LegacyMeshInfo, MultiscaleMeshInfo, ShardedStore, SkeletonInfo

__all__ = [
    "Annotation",
    "AnnotationInfo",
    "Annotations",
    "Collection",
    "LegacyMeshInfo",
    "Mesh",
    "MeshLevel",
    "MultiscaleMesh",
    "MultiscaleMeshInfo",
    "MultiscaleMeshManifest",
    "QuantizedMesh",
    "SegmentProperties",
    "SegmentProperty",
    "ShardedStore",
    "Skeleton",
    "SkeletonInfo",
    "build",
    "can_decode_draco",
    "choose_sharding",
    "choose_sharding_for_values",
    "create_precomputed",
    "export_object",
    "import_object",
    "link",
    "links",
    "write_annotations",
]

for _public in (
    *(AnnotationInfo, LegacyMeshInfo, MultiscaleMeshInfo, ShardedStore, SkeletonInfo, Collection),
    *(Annotation, Annotations, Mesh, MeshLevel, MultiscaleMesh, MultiscaleMeshManifest, QuantizedMesh),
    *(SegmentProperties, SegmentProperty, Skeleton),
):
    _public.__module__ = "sherd.neuroglancer"
del _public
