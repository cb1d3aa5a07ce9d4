"""Neuroglancer's objects as arrays: skeletons, meshes, annotations and segment properties, converted from and to
bytes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _sherd
from ._errors import InvalidArgument
from ._sherd import AnnotationInfo, SkeletonInfo

BytesLike = bytes | bytearray | memoryview
VertexAttributes = SkeletonInfo | Sequence[Mapping[str, Any]]

_ANNOTATION_VECTORS = {"point": 1, "line": 2, "axis_aligned_bounding_box": 2, "ellipsoid": 2}


def can_decode_draco() -> bool:
    """Whether this Sherd was built with libdraco, which `QuantizedMesh.from_draco` requires."""
    return _sherd.can_decode_draco


def _empty(dtype: str, *shape: int) -> Any:
    return field(default_factory=lambda: np.empty(shape, dtype))


def _skeleton_info(attributes: VertexAttributes) -> SkeletonInfo:
    if isinstance(attributes, SkeletonInfo):
        return attributes
    return SkeletonInfo.from_json({"@type": "neuroglancer_skeletons", "vertex_attributes": list(attributes)})


@dataclass(eq=False)
class Skeleton:
    """The skeleton of one segment, in stored model coordinates.

    vertices: float32, (n, 3). edges: uint32, (m, 2), vertex numbers. attributes: by id, (n,) or (n, components).
    """

    vertices: np.ndarray = _empty("f4", 0, 3)
    edges: np.ndarray = _empty("u4", 0, 2)
    attributes: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def from_bytes(cls, data: BytesLike, vertex_attributes: VertexAttributes = ()) -> Skeleton:
        """From the bytes of an object. `vertex_attributes` are those of the info document (or a SkeletonInfo), since
        the bytes do not describe them. Corrupt names what does not fit, such as an edge to a vertex that does not
        exist.
        """
        return cls(*_sherd.parse_skeleton(data, _skeleton_info(vertex_attributes)))

    def to_bytes(self, vertex_attributes: VertexAttributes | None = None) -> bytes:
        """The bytes to store. InvalidArgument if the arrays do not fit each other or `vertex_attributes`, which default
        to those of the arrays."""
        described = self.vertex_attributes if vertex_attributes is None else vertex_attributes
        return _sherd.print_skeleton(self.vertices, self.edges, self.attributes, _skeleton_info(described))

    @classmethod
    def from_swc(cls, data: BytesLike | str) -> Skeleton:
        """From the text of an SWC file, with the attributes `radius` (float32) and `vertex_types` (uint8). Numbers are
        not converted (SWC uses micrometres). Corrupt names the line that is wrong."""
        return cls(*_sherd.parse_swc(data.encode() if isinstance(data, str) else data))

    def to_swc(self) -> str:
        """As SWC, with the attributes `radius` and `vertex_types`, or 0 without them. Trees have no cycles: a warning
        gives the number of edges left out."""
        text, left_out = _sherd.print_swc(self.vertices, self.edges, self.attributes, _skeleton_info(self.vertex_attributes))
        if left_out:
            warnings.warn(f"{left_out} edges close a cycle and are left out: SWC can only store trees", stacklevel=2)
        return text

    @property
    def vertex_attributes(self) -> list[dict[str, Any]]:
        """The description of the attributes for the info document."""
        described = []
        for name, values in self.attributes.items():
            array = np.asarray(values)
            components = array.shape[1] if array.ndim == 2 else 1
            described.append({"id": name, "data_type": array.dtype.name, "num_components": components})
        return described


@dataclass(eq=False)
class Mesh:
    """A triangulated surface; also one fragment of a legacy mesh, with positions in nanometres.

    vertices: float32, (n, 3). triangles: uint32, (m, 3), vertex numbers.
    """

    vertices: np.ndarray = _empty("f4", 0, 3)
    triangles: np.ndarray = _empty("u4", 0, 3)

    @classmethod
    def from_bytes(cls, data: BytesLike) -> Mesh:
        """From the bytes of a legacy mesh's fragment."""
        return cls(*_sherd.parse_mesh(data))

    def to_bytes(self) -> bytes:
        """The bytes of a legacy mesh's fragment."""
        return _sherd.print_mesh(self.vertices, self.triangles)

    @classmethod
    def from_ply(cls, data: BytesLike) -> Mesh:
        """From the bytes of a PLY file, ASCII or binary; polygons become triangles. Corrupt names the line or the byte."""
        return cls(*_sherd.parse_mesh_file(data, "ply"))

    def to_ply(self) -> bytes:
        """As binary PLY."""
        return _sherd.print_mesh_file(self.vertices, self.triangles, "ply")

    @classmethod
    def from_obj(cls, data: BytesLike | str) -> Mesh:
        """From the text of an OBJ file; polygons become triangles. Corrupt names the line that is wrong."""
        return cls(*_sherd.parse_mesh_file(data.encode() if isinstance(data, str) else data, "obj"))

    def to_obj(self) -> str:
        """As OBJ."""
        return _sherd.print_mesh_file(self.vertices, self.triangles, "obj").decode()


@dataclass(eq=False)
class QuantizedMesh:
    """A decoded fragment of a multi-resolution mesh.

    vertices: uint32, (n, 3), in [0, 2**vertex_quantization_bits). triangles: uint32, (m, 3), vertex numbers.
    """

    vertices: np.ndarray = _empty("u4", 0, 3)
    triangles: np.ndarray = _empty("u4", 0, 3)

    @classmethod
    def from_draco(cls, data: BytesLike) -> QuantizedMesh:
        """Decodes a Draco fragment. Unsupported if Sherd was built without libdraco, or if positions are not integers,
        which Neuroglancer cannot read either."""
        return cls(*_sherd.decode_draco(data))


@dataclass(eq=False)
class MeshLevel:
    """One level of detail of a manifest.

    positions: uint32, (n, 3), octree nodes in boxes of chunk_shape * 2**level, in Z-curve order. sizes: uint32, (n,),
    bytes of each node's Draco fragment; 0 for an empty node.
    """

    scale: float
    vertex_offset: np.ndarray = field(default_factory=lambda: np.zeros(3, "f4"))
    positions: np.ndarray = _empty("u4", 0, 3)
    sizes: np.ndarray = _empty("u4", 0)


@dataclass(eq=False)
class MultiscaleMeshManifest:
    """The levels of detail of a segment, finest first, and the sizes of their fragments.

    chunk_shape, grid_origin: float32, (3,), in stored model coordinates. The fragments are contiguous, in the order of
    the manifest: in an unsharded collection in the object `<segment id>` next to the manifest `<segment id>.index`, in
    a sharded one immediately before the stored manifest.
    """

    chunk_shape: np.ndarray
    grid_origin: np.ndarray = field(default_factory=lambda: np.zeros(3, "f4"))
    levels: list[MeshLevel] = field(default_factory=list)

    @classmethod
    def from_bytes(cls, data: BytesLike) -> MultiscaleMeshManifest:
        """From the bytes of a manifest; Corrupt if their length does not match the counts."""
        shape, origin, levels = _sherd.parse_mesh_manifest(data)
        return cls(shape, origin, [MeshLevel(*level) for level in levels])

    def _parts(self) -> tuple[Any, Any, list[tuple[Any, ...]]]:
        levels = [(float(each.scale), each.vertex_offset, each.positions, each.sizes) for each in self.levels]
        return self.chunk_shape, self.grid_origin, levels

    def to_bytes(self) -> bytes:
        """The bytes to store; InvalidArgument if a level's positions are not in Z-curve order."""
        return _sherd.print_mesh_manifest(self._parts())

    @property
    def fragments_size(self) -> int:
        """The total bytes of all fragments. In a shard they begin that many bytes before the manifest."""
        return sum(int(np.asarray(level.sizes, "u8").sum()) for level in self.levels)

    def fragment_range(self, level: int, fragment: int) -> tuple[int, int]:
        """Offset and length of one fragment within all fragments together."""
        sizes = [np.asarray(each.sizes, "u8") for each in self.levels]
        offset = sum(int(each.sum()) for each in sizes[:level]) + int(sizes[level][:fragment].sum())
        return offset, int(sizes[level][fragment])

    def place(self, mesh: QuantizedMesh, level: int, fragment: int, vertex_quantization_bits: int) -> Mesh:
        """A decoded fragment in stored model coordinates; Corrupt if a position does not fit in the bits."""
        parts = self._parts(), mesh.vertices, mesh.triangles
        return Mesh(*_sherd.place_mesh_fragment(*parts, (level, fragment), vertex_quantization_bits))


@dataclass(eq=False)
class MultiscaleMesh:
    """A mesh of several resolutions: its manifest, and all its Draco fragments in the order of the manifest."""

    manifest: MultiscaleMeshManifest
    fragments: BytesLike = b""

    def fragment(self, level: int, fragment: int) -> bytes:
        """The bytes of one fragment, for `QuantizedMesh.from_draco`."""
        offset, length = self.manifest.fragment_range(level, fragment)
        return bytes(memoryview(self.fragments)[offset : offset + length])


def _annotation_info(info: AnnotationInfo | Mapping[str, Any]) -> AnnotationInfo:
    return info if isinstance(info, AnnotationInfo) else AnnotationInfo.from_json(info)


def _vector_shape(info: AnnotationInfo) -> tuple[int, ...]:
    return (info.rank,) if _ANNOTATION_VECTORS.get(info.annotation_type) != 2 else (2, info.rank)


def _flat(geometry: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(geometry, "f4")
    if array.shape != shape:
        raise InvalidArgument(f"geometry: must be of shape {shape}, not {array.shape}", member="geometry")
    return array.ravel()


@dataclass(eq=False)
class Annotation:
    """One annotation, as stored in the index by id.

    geometry: float32; (rank,) for a point, (2, rank) for a line's ends, a box's corners and an ellipsoid's centre and
    radii, (points, rank) for a polyline. properties: by id, arrays of length 1 (rgb and rgba: uint8, (1, 3) and (1,
    4)). related: object ids, uint64, by relationship.
    """

    geometry: np.ndarray
    properties: dict[str, Any] = field(default_factory=dict)
    related: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def from_bytes(cls, data: BytesLike, info: AnnotationInfo | Mapping[str, Any]) -> Annotation:
        """From the bytes stored under an annotation's id, whose layout the info document describes."""
        info = _annotation_info(info)
        return cls._from_parts(_sherd.parse_annotation(data, info), info)

    @classmethod
    def _from_parts(cls, parts: tuple[Any, Any, Any], info: AnnotationInfo) -> Annotation:
        geometry, properties, related = parts
        shape = _vector_shape(info)
        if info.annotation_type == "polyline":
            shape = (-1, *shape)
        return cls(geometry.reshape(shape), properties, dict(zip(info.relationships, related)))

    def to_bytes(self, info: AnnotationInfo | Mapping[str, Any]) -> bytes:
        """The bytes to store under the annotation's id. Relationships missing from `related` have no objects."""
        info = _annotation_info(info)
        return _sherd.print_annotation(*self._parts(info), info)

    def _parts(self, info: AnnotationInfo) -> tuple[Any, Any, Any]:
        shape = _vector_shape(info)
        if info.annotation_type == "polyline":
            shape = (len(self.geometry), *shape)
        unknown = set(self.related) - set(info.relationships)
        if unknown:
            raise InvalidArgument(f"the info has no relationship {min(unknown)!r}", member="related")
        related = [self.related.get(name, ()) for name in info.relationships]
        return _flat(self.geometry, shape), self.properties, related


@dataclass(eq=False)
class Annotations:
    """A list of annotations, as stored in the spatial index and the indexes by related object.

    ids: uint64, (n,). geometry: float32; (n, rank) for points, (n, 2, rank) for lines, boxes and ellipsoids, (all
    points, rank) for polylines. points: uint32, (n,), for polylines: the number of points of each. properties: by id,
    (n,), or (n, 3) and (n, 4) of uint8 for rgb and rgba.
    """

    ids: np.ndarray
    geometry: np.ndarray
    properties: dict[str, np.ndarray] = field(default_factory=dict)
    points: np.ndarray = _empty("u4", 0)

    @classmethod
    def from_bytes(cls, data: BytesLike, info: AnnotationInfo | Mapping[str, Any]) -> Annotations:
        """From the bytes of a cell or of a related object, whose layout the info document describes."""
        info = _annotation_info(info)
        return cls._from_parts(_sherd.parse_annotations(data, info), info)

    @classmethod
    def _from_parts(cls, parts: tuple[Any, Any, Any, Any], info: AnnotationInfo) -> Annotations:
        ids, geometry, properties, points = parts
        return cls(ids, geometry.reshape(-1, *_vector_shape(info)), properties, points)

    def to_bytes(self, info: AnnotationInfo | Mapping[str, Any]) -> bytes:
        """The bytes to store; InvalidArgument if the arrays do not fit each other or the info."""
        info = _annotation_info(info)
        return _sherd.print_annotations(*self._parts(info), info)

    def _parts(self, info: AnnotationInfo) -> tuple[Any, Any, Any, Any]:
        geometry = _flat(self.geometry, (len(self.geometry), *_vector_shape(info)))
        return self.ids, geometry, self.properties, self.points


@dataclass(eq=False)
class SegmentProperty:
    """One property of all segments.

    type: label, description, string, tags or number. values: a list of str; for tags, of lists of ascending indexes
    into `tags`; for number an array of float32 or of integers of at most 32 bits. other: unknown members.
    """

    id: str
    type: str
    values: Any
    description: str = ""
    tags: list[str] = field(default_factory=list)
    tag_descriptions: list[str] = field(default_factory=list)
    other: dict[str, Any] = field(default_factory=dict)

    def _to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {"id": self.id, "type": self.type, "values": self.values}
        if self.description:
            document["description"] = self.description
        if self.type == "tags":
            document["tags"] = self.tags
        if self.tag_descriptions:
            document["tag_descriptions"] = self.tag_descriptions
        if self.type == "number":
            document["data_type"] = np.asarray(self.values).dtype.name
        return document | self.other


_PROPERTY_MEMBERS = {"id", "type", "values", "description", "tags", "tag_descriptions", "data_type"}


@dataclass(eq=False)
class SegmentProperties:
    """The info document `neuroglancer_segment_properties`, which contains all values.

    ids: uint64, (n,). properties: each with a value per segment. other: unknown members of the document.
    """

    ids: np.ndarray = _empty("u8", 0)
    properties: list[SegmentProperty] = field(default_factory=list)
    other: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> SegmentProperties:
        """From the JSON document as dicts and lists. InvalidArgument names the member that is wrong."""
        ids, numbers, printed = _sherd.parse_segment_properties(document)
        properties = []
        for values, member in zip(numbers, printed["inline"]["properties"]):
            known = {name: value for name, value in member.items() if name in _PROPERTY_MEMBERS - {"data_type"}}
            other = {name: value for name, value in member.items() if name not in _PROPERTY_MEMBERS}
            if values is not None:
                known["values"] = values
            properties.append(SegmentProperty(**known, other=other))
        other = {name: value for name, value in printed.items() if name not in ("@type", "inline")}
        extra = {name: value for name, value in printed["inline"].items() if name not in ("ids", "properties")}
        return cls(ids, properties, other | ({"inline": extra} if extra else {}))

    def to_json(self) -> dict[str, Any]:
        """The JSON document, to be stored under the name `info`."""
        inline = {
            "ids": [str(each) for each in np.asarray(self.ids).tolist()],
            "properties": [each._to_json() for each in self.properties],
        }
        document = {"@type": "neuroglancer_segment_properties", **self.other}
        document["inline"] = inline | self.other.get("inline", {})
        return _sherd.parse_segment_properties(document)[2]
