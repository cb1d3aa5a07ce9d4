// The class sherd.Array: its properties, and access to its elements.

#include "array/nodes.hpp"
#include "node/document.hpp"
#include "python/access.hpp"
#include "python/appender.hpp"
#include "python/bindings.hpp"
#include "python/config.hpp"
#include "python/json.hpp"
#include "python/node.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

/// array.oindex and array.vindex.
template <Index (*parse)(nb::handle, const Shape&)>
struct Indexer {
  nb::object array;  // keeps the handle alive
  [[nodiscard]] const BoundArray& bound() const { return *nb::inst_ptr<BoundArray>(array); }
};

template <Index (*parse)(nb::handle, const Shape&)>
void bind_indexer(nb::module_& module, const char* name, const char* doc) {
  using Type = Indexer<parse>;
  nb::class_<Type>(module, name, doc)
      .def(
          "__getitem__",
          [](const Type& self, nb::handle key) { return read(self.bound(), parse(key, self.bound().array.shape())); },
          nb::arg("key").none(), nb::sig("def __getitem__(self, key: typing.Any, /) -> typing.Any"))
      .def(
          "__setitem__",
          [](const Type& self, nb::handle key, nb::handle value) {
            write(self.bound(), [&](const Shape& shape) { return parse(key, shape); }, value);
          },
          nb::arg("key").none(), nb::arg("value").none(),
          nb::sig("def __setitem__(self, key: typing.Any, value: typing.Any, /) -> None"));
}

/// The lengths of the stored objects of a rectilinear grid, one tuple per dimension.
nb::tuple edges(const Array& array) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 24;
  nb::list axes;
  for (std::size_t d = 0; d < array.ndim(); ++d) {
    nb::list lengths;
    for (const auto& [length, count] : array.edges(d)) {
      if (count > kMax)
        throw Exception(unsupported("there are too many chunks to list; metadata[\"chunk_grid\"] has them as runs"));
      lengths.extend(nb::make_tuple(length) * nb::int_(count));
    }
    axes.append(nb::tuple(lengths));
  }
  return nb::tuple(axes);
}

nb::tuple chunks(const BoundArray& self) {
  const Shape& shape = self.array.chunks();
  return shape.size() == self.array.ndim() ? to_tuple(shape) : edges(self.array);
}

nb::object shards(const BoundArray& self) {
  const auto shape = self.array.shards();
  if (!shape) return nb::none();
  return shape->size() == self.array.ndim() ? to_tuple(*shape) : edges(self.array);
}

nb::object dimension_names(const BoundArray& self) {
  const auto names = self.array.dimension_names();
  if (names.empty() && self.array.ndim() != 0) return nb::none();
  nb::list list;
  for (const auto& name : names) list.append(name ? nb::object(nb::str(name->data(), name->size())) : nb::none());
  return nb::tuple(list);
}

Index index_of(const BoundArray& self, nb::handle selection) {
  return selection.is_none() ? whole_index(self.array.shape()) : basic_index(selection, self.array.shape());
}

nb::object read_selection(const BoundArray& self, nb::object selection, nb::object out) {
  return read(self, index_of(self, selection), out);
}

nb::object to_array(const BoundArray& self, nb::object dtype, nb::object copy) {
  if (copy.ptr() == Py_False) throw nb::value_error("an array that is stored becomes a NumPy array only by a copy");
  nb::object whole = read(self, whole_index(self.array.shape()));
  return dtype.is_none() ? whole : nb::object(whole.attr("astype")(dtype, nb::arg("copy") = false));
}

std::size_t normal_axis(const BoundArray& self, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(self.array.ndim());
  if (axis < -rank || axis >= rank)
    throw nb::index_error(
        ("axis " + std::to_string(axis) + " of an array of " + std::to_string(rank) + " dimensions").c_str());
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::string print(const BoundArray& self) {
  const Array& array = self.array;
  const auto shards = array.shards();
  const auto lengths = [&](const Shape& shape) {
    return shape.size() == array.ndim() ? to_string(shape) : std::string("rectilinear");
  };
  return "<sherd.Array " + array.url() + " " + array.dtype().name() + " " + to_string(array.shape()) + ", chunks " +
         lengths(array.chunks()) + (shards ? ", shards " + lengths(*shards) : "") +
         (array.read_only() ? ", read-only>" : ">");
}

std::size_t length(const BoundArray& self) {
  if (self.array.ndim() == 0) throw nb::type_error("an array without dimensions has no len()");
  return self.array.shape()[0];
}

void bind_facts(nb::class_<BoundArray>& type) {
  type.def_prop_ro(
          "shape", [](const BoundArray& self) { return to_tuple(self.array.shape()); },
          "Lengths in elements, the slowest-varying dimension first.", nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype", [](const BoundArray& self) { return self.numpy_dtype(); },
          "The NumPy type of the elements; object for string (str) and bytes. Types of ml_dtypes are opaque "
          "bytes without that package; their dtype.metadata has the name.",
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"))
      .def_prop_ro("_type_name", [](const BoundArray& self) { return self.array.dtype().name(); })
      .def_prop_ro(
          "ndim", [](const BoundArray& self) { return self.array.ndim(); }, "The number of dimensions.")
      .def_prop_ro(
          "size",
          [](const BoundArray& self) {
            return nb::module_::import_("math").attr("prod")(to_tuple(self.array.shape()));
          },
          "The number of elements.", nb::sig("def size(self) -> int"))
      .def_prop_ro(
          "chunks", chunks,
          "The shape of the (inner) chunk, one int per dimension. For a rectilinear grid whose chunks differ in "
          "shape:\n"
          "one tuple of lengths per dimension, as in dask: ((3, 3, 4), (5,)); the lengths add up to the shape. "
          "create_array\n"
          "accepts either.",
          nb::sig("def chunks(self) -> tuple[typing.Any, ...]"))
      .def_prop_ro("shards", shards, "The shape of the stored object, like `chunks`; None if the array is not sharded.",
                   nb::sig("def shards(self) -> tuple[typing.Any, ...] | None"))
      .def_prop_ro(
          "codecs", [](const BoundArray& self) { return json_to(self.array.codecs()); },
          "The codecs as Zarr v3 writes them, for every format: a list of dicts.",
          nb::sig("def codecs(self) -> list[dict[str, typing.Any]]"))
      .def_prop_ro(
          "fill_value",
          [](const BoundArray& self) {
            return element_to(self.array.fill_value(), self.array.dtype(), self.numpy_dtype());
          },
          "The value of elements that were never written: a NumPy scalar, a str or a bytes.",
          nb::sig("def fill_value(self) -> typing.Any"))
      .def_prop_ro("dimension_names", dimension_names,
                   "One str or None per dimension; None where the array has no names.",
                   nb::sig("def dimension_names(self) -> tuple[str | None, ...] | None"));
}

void bind_node(nb::class_<BoundArray>& type) {
  type.def_prop_ro(
          "metadata", [](const BoundArray& self) { return json_to(self.array.metadata()); },
          "The metadata document, as it is stored.", nb::sig("def metadata(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "read_only", [](const BoundArray& self) { return self.array.read_only(); },
          "Whether writing is InvalidArgument.")
      .def_prop_ro(
          "path", [](const BoundArray& self) { return self.array.path(); },
          "The path inside the store; \"\" for its root.")
      .def_prop_ro(
          "url", [](const BoundArray& self) { return self.array.url(); }, "Store and path, as a user would name it.")
      .def_prop_ro(
          "_memory_order", [](const BoundArray& self) { return self.array.config().order == Order::f ? "F" : "C"; },
          "The order in memory of what is read: \"C\" or \"F\"; see `config[\"order\"]`.",
          nb::sig("def _memory_order(self) -> str"))
      .def_prop_ro(
          "store", [](const BoundArray& self) { return store_to(self.array.store(), self.array.config()); },
          "The Store that the array is in.", nb::sig("def store(self) -> Store"))
      .def_prop_ro(
          "format", [](const BoundArray& self) { return std::string(self.array.format()); },
          "The name of the storage format, such as \"zarr3\".")
      .def_prop_ro(
          "nchunks_initialized",
          [](const BoundArray& self) {
            return call(*self.array.store(), [&] { return self.array.nchunks_initialized(); });
          },
          "How many (inner) chunks are stored. Lists what exists and reads shard indices.")
      .def_prop_ro(
          "info", [](nb::handle self) { return nb::module_::import_("sherd._info").attr("info")(self); },
          "A summary: a dict that prints as a table.", nb::sig("def info(self) -> sherd._info.Info"));
}

void bind_access(nb::class_<BoundArray>& type) {
  type.def(
          "__getitem__",
          [](const BoundArray& self, nb::handle key) { return read(self, basic_index(key, self.array.shape())); },
          nb::arg("key").none(), nb::sig("def __getitem__(self, key: typing.Any, /) -> typing.Any"),
          "Reads as NumPy does: integers, slices with any step, '...'; one list or 1-d array among slices; integer "
          "arrays\n"
          "for all dimensions, point by point; a boolean mask of the array's shape. Returns a new ndarray in the order "
          "`config[\"order\"]`, or "
          "one element.\n"
          "Missing chunks read as the fill value. IndexError for what is out of bounds; Corrupt for damaged chunks.")
      .def("_write_box",
           [](const BoundArray& self, nb::handle box, nb::handle value) {
             write(self, [&](const Shape& shape) { return basic_index(box(), shape); }, value);
           })
      .def(
          "__setitem__",
          [](const BoundArray& self, nb::handle key, nb::handle value) {
            write(self, [&](const Shape& shape) { return basic_index(key, shape); }, value);
          },
          nb::arg("key").none(), nb::arg("value").none(),
          nb::sig("def __setitem__(self, key: typing.Any, value: typing.Any, /) -> None"),
          "Writes the value, broadcast to the selection. Chunks that are wholly covered are not read.")
      .def_prop_ro(
          "oindex", [](nb::object self) { return Indexer<orthogonal_index>{std::move(self)}; },
          "Orthogonal indexing: a list, 1-d array or 1-d mask for any dimension, each on its own.",
          nb::sig("def oindex(self) -> OrthogonalIndexer"))
      .def_prop_ro(
          "vindex", [](nb::object self) { return Indexer<point_index>{std::move(self)}; },
          "Point by point: integer arrays for all dimensions, broadcast together, or a mask of the array's shape.",
          nb::sig("def vindex(self) -> PointIndexer"))
      .def("read", read_selection, nb::arg("selection") = nb::none(), nb::kw_only(), nb::arg("out") = nb::none(),
           nb::sig("def read(self, selection: typing.Any = None, *, out: typing.Any = None) -> typing.Any"),
           "Reads what array[selection] would; None: all of it. With `out`, reads into it and returns it: an "
           "ndarray of the\n"
           "result's shape and dtype with any strides, or a writable buffer of plain bytes of the result's size.")
      .def(
          "read_many", read_many, nb::arg("selections"), nb::arg("out") = nb::none(),
          nb::sig("def read_many(self, selections: typing.Iterable[typing.Any], "
                  "out: typing.Iterable[typing.Any] | None = None) -> list[typing.Any]"),
          "Reads what [array[selection] for selection in selections] would, by one plan on all cores: each shard index "
          "is read\n"
          "once and each chunk is decoded once, however many selections need it. With `out`, a sequence of as many "
          "arrays or\n"
          "buffers, reads into them, which must not overlap. Errors name the number of a selection that does not fit; "
          "nothing is\n"
          "read then.")
      .def("__array__", to_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> typing.Any"),
           "All elements as an ndarray.")
      .def("__len__", length, "The length of the first dimension.");
}

void bind_growth(nb::class_<BoundArray>& type) {
  type.def(
          "resize",
          [](BoundArray& self, nb::handle new_shape) {
            const Shape lengths = shape_from(new_shape, "new_shape");
            call(*self.array.store(), [&] { return self.array.resize(lengths); });
          },
          nb::arg("new_shape"), nb::sig("def resize(self, new_shape: int | typing.Sequence[int]) -> None"),
          "Changes the shape. What is cut off is erased: growing again shows the fill value.")
      .def(
          "append",
          [](BoundArray& self, nb::handle data, std::int64_t axis) {
            return to_tuple(append(self, data, normal_axis(self, axis)));
          },
          nb::arg("data"), nb::arg("axis") = 0,
          nb::sig("def append(self, data: typing.Any, axis: int = 0) -> tuple[int, ...]"),
          "Grows the array along `axis` by the data's length there and writes the data. Returns the shape of the array "
          "with the data at its end; other writers may have appended behind them.")
      .def(
          "appender",
          [](const BoundArray& self, std::int64_t axis, nb::handle technique, nb::handle queue_bytes,
             nb::handle threads, bool auto_flush) {
            AppenderOptions options = appender_options(technique, queue_bytes, threads);
            options.axis = normal_axis(self, axis);
            options.auto_flush = auto_flush;
            return new BoundAppender(self, options);  // Python owns it
          },
          nb::arg("axis") = 0, nb::kw_only(), nb::arg("technique").none() = "auto", nb::arg("queue_bytes") = nb::none(),
          nb::arg("threads") = nb::none(), nb::arg("auto_flush") = true,
          nb::sig("def appender(self, axis: int = 0, *, technique: int | str = 'auto', queue_bytes: int | str | None = "
                  "None, threads: int | None = None, auto_flush: bool = True) -> Appender"),
          "Begins a stream of slices along `axis`, which are stored in the background; see Appender. `technique`: "
          "\"auto\" or the\n"
          "number that ZEP 2 gives it (docs/writing.md). `queue_bytes`, such as \"256MiB\": how much may wait to be "
          "stored;\n"
          "default: three rows of shards, 64 MiB to config[\"memory_budget\"]. `threads` encode and store. "
          "`auto_flush`: "
          "whether\n"
          "the array also grows whenever a row of shards is full, or only by flush() and close(). Conflict if another "
          "appender of\n"
          "the array is open.")
      .def(
          "refresh", [](const BoundArray& self) { call(*self.array.store(), [&] { return self.array.refresh(); }); },
          "Reads the metadata again: the shape and the attributes that others have stored since. Conflict if the array "
          "was erased, or\n"
          "replaced by one with different chunks.");
}

void bind_changes(nb::class_<BoundArray>& type) {
  type.def(
          "close", [](BoundArray& self) { call(*self.array.store(), [&] { return self.array.finish(); }); },
          "Finishes what was written: the directory of a zip archive, for example. The array can be used afterwards.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Array"))
      .def(
          "__exit__",
          [](BoundArray& self, const nb::args&) { call(*self.array.store(), [&] { return self.array.finish(); }); },
          nb::sig("def __exit__(self, *error: object) -> None"))
      .def("_attributes", [](const BoundArray& self) { return json_to(stored_attributes(self.array)); })
      .def("_set_attributes",
           [](BoundArray& self, nb::handle attributes) {
             const Json json = json_from(attributes, NonFinite::bare);
             call(*self.array.store(), [&] { return self.array.set_attributes(json); });
           })
      .def("_update_attributes",
           [](BoundArray& self, nb::handle changes) {
             const Json json = json_from(changes, NonFinite::bare);
             call(*self.array.store(), [&] { return self.array.update_attributes(json); });
           })
      .def("_remove_attribute",
           [](BoundArray& self, nb::handle given) {
             const std::string name = text_of(given, "an attribute's name");
             return call(*self.array.store(),
                         [&] { return self.array.update_attributes(Json(Json::Object{}), {&name, 1}); }) == 1;
           })
      .def_prop_ro(
          "attrs", [](nb::handle self) { return nb::module_::import_("sherd._attributes").attr("Attributes")(self); },
          "The user's attributes, a mutable mapping. update() is one atomic write.",
          nb::sig("def attrs(self) -> sherd._attributes.Attributes"));
}

}  // namespace

void bind_array(nb::module_& module) {
  nb::class_<BoundArray> type(
      module, "Array",
      "A stored array. Any number of threads may use one handle; reads and writes release the GIL.\n"
      "Handles pickle as URL and settings.",
      nb::is_weak_referenceable());
  bind_facts(type);
  bind_node(type);
  bind_access(type);
  bind_growth(type);
  bind_changes(type);
  type.def("__repr__", print)
      .def(
          "__reduce__", [](const BoundArray& self) { return reduce(self.array); },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  bind_indexer<orthogonal_index>(module, "OrthogonalIndexer", "array.oindex");
  bind_indexer<point_index>(module, "PointIndexer", "array.vindex");
}

}  // namespace sherd::python
