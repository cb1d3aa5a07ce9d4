"""Collections of Neuroglancer's objects in stores."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _arguments, _sherd
from ._errors import InvalidArgument
from ._objects import (
    Annotation,
    Annotations,
    Mesh,
    MeshLevel,
    MultiscaleMesh,
    MultiscaleMeshManifest,
    SegmentProperties,
    Skeleton,
)
from ._sherd import AnnotationInfo, LegacyMeshInfo, MultiscaleMeshInfo, SkeletonInfo

CollectionInfo = SkeletonInfo | LegacyMeshInfo | MultiscaleMeshInfo | AnnotationInfo | SegmentProperties
CollectionObject = Skeleton | Mesh | Mapping[str, Mesh] | MultiscaleMesh | Annotation

_COLLECTION_INFOS = {
    "neuroglancer_skeletons": SkeletonInfo,
    "neuroglancer_legacy_mesh": LegacyMeshInfo,
    "neuroglancer_multilod_draco": MultiscaleMeshInfo,
    "neuroglancer_annotations_v1": AnnotationInfo,
    "neuroglancer_segment_properties": SegmentProperties,
}


class Collection:
    """A directory of skeletons, meshes, annotations or segment properties, described by its info document.

        info = SkeletonInfo.from_json({"@type": "neuroglancer_skeletons", "sharding": choose_sharding_for_values(1000, 5000)})
        skeletons = Collection.create("em/skeletons", info)
        skeletons.write(17, Skeleton(vertices, edges))
        skeletons.read(17).vertices

    url: a path, a URL or a Store. path: of the collection, relative to url. mode: "r" reads, "r+" also writes. Sharded
    and unsharded collections are read and written in the same way. `read` returns and `write` accepts a `Skeleton`, a
    dict of `Mesh` by the names of its parts (legacy meshes), a `MultiscaleMesh` or an `Annotation`; `read` returns None
    if the object does not exist. Segment properties are all stored in `info`.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] | _sherd.Store,
        *,
        path: str = "",
        mode: str = "r",
        config: dict[str, Any] | None = None,
    ) -> None:
        if mode not in ("r", "r+"):
            raise InvalidArgument(f'mode must be "r" or "r+", not {mode!r}', member="mode")
        self._opened: tuple[Any, ...] = (_arguments.store(url, "url"), _arguments.text(path, "path"), mode, config)
        self._collection = _sherd.Collection.open(self._opened[0], path, mode == "r+", config)
        document = self._collection.document
        self._info = _COLLECTION_INFOS[document["@type"]].from_json(document)

    @classmethod
    def create(
        cls,
        url: str | os.PathLike[str] | _sherd.Store,
        info: CollectionInfo,
        *,
        path: str = "",
        overwrite: bool = False,
        config: dict[str, Any] | None = None,
    ) -> Collection:
        """Writes the info document of a new collection and opens it for writing. An existing one is a Conflict, unless
        `overwrite` is set, which erases it; a file that is not part of the collection is a Conflict even then."""
        options = {"path": path, "overwrite": _arguments.flag(overwrite, "overwrite"), "config": config}
        for warning in info.warnings if isinstance(info, AnnotationInfo) else ():
            warnings.warn(warning, stacklevel=2)
        _sherd.Collection.create(_arguments.store(url, "url"), info.to_json(), options)
        return cls(url, path=path, mode="r+", config=config)

    @property
    def info(self) -> CollectionInfo:
        """The info document."""
        return self._info

    @property
    def url(self) -> str:
        """The location of the collection."""
        return self._collection.url

    @property
    def read_only(self) -> bool:
        """Whether writes are refused."""
        return self._opened[2] == "r"

    def close(self) -> None:
        """Finishes what was written: the directory of a zip archive, for example. The collection can be used afterwards."""
        self._collection.finish(self._opened[3])

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def read(self, id: int) -> Any:
        """The object with this id, or None. Corrupt names the object and its id."""
        parts = self._collection.read(id)
        if parts is None:
            return None
        if isinstance(self._info, SkeletonInfo):
            return Skeleton(*parts)
        if isinstance(self._info, LegacyMeshInfo):
            return {name: Mesh(*mesh) for name, mesh in parts.items()}
        if isinstance(self._info, MultiscaleMeshInfo):
            (shape, origin, levels), fragments = parts
            return MultiscaleMesh(MultiscaleMeshManifest(shape, origin, [MeshLevel(*each) for each in levels]), fragments)
        return Annotation._from_parts(parts, self._annotations())

    def write(self, id: int, value: CollectionObject) -> None:
        """Stores an object, or replaces the object with this id. A single `Mesh` becomes the only part of a legacy
        mesh. For annotations this writes only the index by id; `write_related` and `write_cell` write the other
        indexes."""
        self._collection.write(id, self._parts_of(value, id))

    def _parts_of(self, value: CollectionObject, id: int) -> Any:
        wanted: type | tuple[type, ...]
        if isinstance(self._info, SkeletonInfo):
            wanted = Skeleton
            if isinstance(value, Skeleton):
                return value.vertices, value.edges, value.attributes
        elif isinstance(self._info, LegacyMeshInfo):
            wanted = Mesh
            parts = {f"{id}:0:0": value} if isinstance(value, Mesh) else value
            if isinstance(parts, Mapping):
                return {name: (mesh.vertices, mesh.triangles) for name, mesh in parts.items()}
        elif isinstance(self._info, MultiscaleMeshInfo):
            wanted = MultiscaleMesh
            if isinstance(value, MultiscaleMesh):
                return value.manifest._parts(), value.fragments
        else:
            wanted = Annotation
            if isinstance(value, Annotation):
                return value._parts(self._annotations())
        raise InvalidArgument(f"objects here are of type {wanted.__name__}, not {type(value).__name__}", member="value")

    def _annotations(self) -> AnnotationInfo:
        if isinstance(self._info, AnnotationInfo):
            return self._info
        kind = type(self._info).__name__
        raise InvalidArgument(f"{self.url} is described by {kind} and does not contain annotations")

    def _relationship(self, name: str) -> int:
        names = self._annotations().relationships
        if name not in names:
            raise InvalidArgument(f"the info has no relationship {name!r}", member="relationship")
        return names.index(name)

    def read_related(self, relationship: str, id: int) -> Annotations | None:
        """The annotations of an object; `relationship` is the id of a relationship in the info. None if there are
        none."""
        parts = self._collection.read_related(self._relationship(relationship), id)
        return None if parts is None else Annotations._from_parts(parts, self._annotations())

    def write_related(self, relationship: str, id: int, annotations: Annotations) -> None:
        """Stores the annotations of an object."""
        parts = annotations._parts(self._annotations())
        self._collection.write_related(self._relationship(relationship), id, parts)

    def read_cell(self, level: int, cell: Sequence[int]) -> Annotations | None:
        """The annotations of a cell of a level of the spatial index (0: the coarsest); None if there are none."""
        self._annotations()
        parts = self._collection.read_cell(level, cell)
        return None if parts is None else Annotations._from_parts(parts, self._annotations())

    def write_cell(self, level: int, cell: Sequence[int], annotations: Annotations) -> None:
        """Stores the annotations of a cell."""
        self._collection.write_cell(level, cell, annotations._parts(self._annotations()))

    def list(self) -> list[int]:
        """The ids of all objects."""
        return self._collection.list()

    def delete(self, id: int) -> bool:
        """Deletes an object, and returns whether it existed. Of a legacy mesh only the manifest is deleted, of an
        annotation only its value in the index by id."""
        return self._collection.erase(id)

    def __repr__(self) -> str:
        return f"<sherd.neuroglancer.Collection {self.url}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.url.startswith("memory:"):
            raise InvalidArgument("collections in memory cannot be pickled: other processes cannot see them")
        store, path, mode, config = self._opened
        if not isinstance(store, _sherd.Store):
            store, path = _sherd.pickled_url(self._collection.url, os.fsdecode(store)), ""
        return _reopen, (store, path, mode, _sherd.public_settings(config, self._collection.url))


def _reopen(store: str | _sherd.Store, path: str, mode: Any, config: dict[str, Any]) -> Collection:
    return Collection(store, path=path, mode=mode, config=config)
