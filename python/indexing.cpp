// Implements NumPy's indexing rules. Integers and slices are parsed here without calling NumPy, because every access
// parses an index; lists and masks are converted to int64 arrays by NumPy.
#include "python/indexing.hpp"

#include <limits>
#include <string>

#include "python/bindings.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

nb::builtin_exception index_error(const std::string& text) { return nb::index_error(text.c_str()); }

std::string at_dimension(std::size_t d, std::uint64_t length) {
  return " for dimension " + std::to_string(d) + " of length " + std::to_string(length);
}

bool is_array_like(nb::handle item) {
  return PyList_Check(item.ptr()) ||
         PyObject_TypeCheck(item.ptr(), reinterpret_cast<PyTypeObject*>(numpy().ndarray.ptr()));
}

bool is_integer(nb::handle item) {
  if (PyLong_CheckExact(item.ptr())) return true;
  if (PyBool_Check(item.ptr()) || !PyIndex_Check(item.ptr())) return false;
  return !is_array_like(item) || (!PyList_Check(item.ptr()) && nb::cast<int>(item.attr("ndim")) == 0);
}

std::uint64_t wrapped(std::int64_t value, std::uint64_t length, std::size_t d) {
  const auto signed_length = static_cast<std::int64_t>(length);
  if (value < -signed_length || value >= signed_length)
    throw index_error("index " + std::to_string(value) + " is out of bounds" + at_dimension(d, length));
  return static_cast<std::uint64_t>(value < 0 ? value + signed_length : value);
}

std::uint64_t integer_at(nb::handle item, std::uint64_t length, std::size_t d) {
  const Py_ssize_t value = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
  if (value == -1) throw_pending();
  return wrapped(value, length, d);
}

Range range_at(nb::handle slice, std::uint64_t length) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
  const Py_ssize_t count = PySlice_AdjustIndices(static_cast<Py_ssize_t>(length), &start, &stop, step);
  if (count == 0) return {0, 0, step};
  return {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(count), step};
}

bool is_boolean(nb::handle array) { return nb::cast<const char*>(array.attr("dtype").attr("kind"))[0] == 'b'; }

/// Converts to int64, contiguous in C order.
nb::object as_integers(nb::handle array) {
  const char kind = nb::cast<const char*>(array.attr("dtype").attr("kind"))[0];
  if (kind != 'i' && kind != 'u' && nb::cast<std::size_t>(array.attr("size")) != 0)
    throw index_error("index arrays hold integers or booleans, not " + shown(array.attr("dtype")));
  // In int64, numbers from 2^63 up would be negative; the maximum is out of bounds just as well.
  nb::object fitting = nb::borrow(array);
  if (kind == 'u' && nb::cast<int>(array.attr("itemsize")) == 8)
    fitting = numpy().module.attr("minimum")(array, std::numeric_limits<std::int64_t>::max());
  return numpy().module.attr("array")(fitting, "int64", nb::arg("order") = "C");
}

/// The coordinates in a contiguous int64 array.
Indices coordinates(nb::handle integers, std::uint64_t length, std::size_t d) {
  const AnyView view = view_of(integers, DType::int64);
  const auto* values = reinterpret_cast<const std::int64_t*>(view.data);
  Indices indices(*element_count(view.shape));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = wrapped(values[i], length, d);
  return indices;
}

Indices list_at(nb::handle item, std::uint64_t length, std::size_t d) {
  nb::object array = numpy().asarray(item);
  if (nb::cast<int>(array.attr("ndim")) != 1)
    throw index_error("an index array" + at_dimension(d, length) + " has one dimension");
  if (is_boolean(array)) {
    if (nb::cast<std::uint64_t>(array.attr("size")) != length)
      throw index_error("a mask of " + std::to_string(nb::len(array)) + " elements" + at_dimension(d, length));
    array = numpy().module.attr("flatnonzero")(array);
  }
  return coordinates(as_integers(array), length, d);
}

/// The items of the key.
struct Items {
  explicit Items(nb::handle key) {
    if (!PyTuple_Check(key.ptr()))
      items.push_back(key);
    else
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key.ptr()); ++i) items.push_back(PyTuple_GET_ITEM(key.ptr(), i));
  }
  std::vector<nb::handle> items;
};

std::size_t check_count(const std::vector<nb::handle>& items, std::size_t rank) {
  std::size_t ellipses = 0;
  for (const nb::handle item : items) ellipses += item.ptr() == Py_Ellipsis ? 1 : 0;
  if (ellipses > 1) throw index_error("an index can have only one '...'");
  if (items.size() - ellipses > rank)
    throw index_error("too many indices: the array has " + std::to_string(rank) + " dimensions, the index " +
                      std::to_string(items.size() - ellipses));
  return ellipses;
}

class IndexReader {
 public:
  explicit IndexReader(const Shape& array_shape) : array_shape_(array_shape) {
    axes_.reserve(array_shape.size());
    index_.shape.reserve(array_shape.size());
  }

  Index read(nb::handle key) {
    const std::vector<nb::handle> items = Items(key).items;
    const std::size_t ellipses = check_count(items, array_shape_.size());
    const std::size_t rest = array_shape_.size() - (items.size() - ellipses);
    for (const nb::handle item : items) {
      if (item.ptr() == Py_Ellipsis)
        whole(rest);
      else
        add(item);
      ++position_;
    }
    if (ellipses == 0) whole(rest);
    has_ellipsis_ = ellipses != 0;
    index_.scalar = index_.shape.empty() && ellipses == 0;
    index_.selection = Selection::orthogonal(std::move(axes_));
    return std::move(index_);
  }
  /// Whether zarr-python also indexes each dimension independently: there is one list, or there are lists for all
  /// dimensions including a mask, and no '...'. Also requires that NumPy returns the same: integers are adjacent to the
  /// list.
  [[nodiscard]] bool means_one_thing() const noexcept {
    if (lists_ == 0 || (lists_ == 1 && integers_ == 0)) return true;
    if (!has_ellipsis_) return lists_ == 1 || lists_ == array_shape_.size();
    return lists_ == 1 && last_ - first_ == integers_;
  }

 private:
  /// The current item is an integer or a list.
  void mark() {
    if (integers_ + lists_ == 1) first_ = position_;
    last_ = position_;
  }
  void whole(std::size_t dimensions) {
    for (; dimensions > 0; --dimensions) {
      const std::uint64_t length = array_shape_[axes_.size()];
      axes_.emplace_back(Range{0, length, 1});
      index_.shape.push_back(length);
    }
  }
  void add(nb::handle item) {
    const std::size_t d = axes_.size();
    const std::uint64_t length = array_shape_[d];
    if (is_integer(item)) {
      axes_.emplace_back(Range{integer_at(item, length, d), 1, 1});
      ++integers_;
      mark();
    } else if (PySlice_Check(item.ptr())) {
      const Range range = range_at(item, length);
      axes_.emplace_back(range);
      index_.shape.push_back(range.count);
    } else if (is_array_like(item)) {
      Indices indices = list_at(item, length, d);
      index_.shape.push_back(indices.size());
      axes_.emplace_back(std::move(indices));
      ++lists_;
      mark();
    } else if (item.is_none()) {
      throw index_error("None (np.newaxis) adds a dimension to a result, not to an array; index what was read with it");
    } else {
      throw index_error("an index is an integer, a slice, '...', a list or an array, not " +
                        std::string(Py_TYPE(item.ptr())->tp_name));
    }
  }

  const Shape& array_shape_;
  std::vector<Selection::Axis> axes_;
  Index index_;
  std::size_t lists_ = 0, integers_ = 0, first_ = 0, last_ = 0, position_ = 0;
  bool has_ellipsis_ = false;
};

/// The key as a mask of all dimensions, or an invalid object.
nb::object whole_mask(nb::handle key, const Shape& array_shape) {
  nb::handle item = key;
  if (PyTuple_Check(key.ptr()) && PyTuple_GET_SIZE(key.ptr()) == 1) item = PyTuple_GET_ITEM(key.ptr(), 0);
  if (!is_array_like(item)) return {};
  nb::object array = numpy().asarray(item);
  if (!is_boolean(array) || nb::cast<std::size_t>(array.attr("ndim")) != array_shape.size()) return {};
  if (!array.attr("shape").equal(to_tuple(array_shape)))
    throw index_error("the mask has shape " + shown(array.attr("shape")) + ", the array " + to_string(array_shape));
  return array;
}

Index points_of(nb::handle arrays, const Shape& array_shape, Shape shape) {
  std::vector<Indices> all;
  for (std::size_t d = 0; d < array_shape.size(); ++d)
    all.push_back(coordinates(as_integers(arrays[d]), array_shape[d], d));
  Index index;
  index.selection = Selection::points(std::move(all));
  index.shape = std::move(shape);
  return index;
}

/// Whether the key has an integer or integers for every dimension, and is more than one list: NumPy and zarr-python
/// then select points.
bool is_points(nb::handle key, const Shape& array_shape) {
  const bool tuple = PyTuple_Check(key.ptr());
  const auto count = static_cast<std::size_t>(tuple ? PyTuple_GET_SIZE(key.ptr()) : 1);
  if (count != array_shape.size()) return false;
  bool points = false;
  for (std::size_t i = 0; i < count; ++i) {
    const nb::handle item = tuple ? nb::handle(PyTuple_GET_ITEM(key.ptr(), static_cast<Py_ssize_t>(i))) : key;
    if (PySlice_Check(item.ptr())) return false;
    if (is_integer(item)) continue;
    if (!is_array_like(item) || (count == 1 && PyList_Check(item.ptr()))) return false;
    const nb::object array = numpy().asarray(item);
    if (is_boolean(array)) return false;
    points = points || count > 1 || nb::cast<int>(array.attr("ndim")) > 1;
  }
  return points;
}

Index mask_index(nb::handle mask, const Shape& array_shape) {
  const nb::object arrays = numpy().module.attr("nonzero")(mask);
  return points_of(arrays, array_shape, {nb::cast<std::uint64_t>(arrays[0].attr("size"))});
}

}  // namespace

Index whole_index(const Shape& array_shape) {
  return {Box{Shape(array_shape.size(), 0), array_shape}, array_shape, false};
}

Index basic_index(nb::handle key, const Shape& array_shape) {
  if (!array_shape.empty()) {
    if (const nb::object mask = whole_mask(key, array_shape); mask.is_valid()) return mask_index(mask, array_shape);
    if (is_points(key, array_shape)) return point_index(key, array_shape);
  }
  IndexReader reader(array_shape);
  Index index = reader.read(key);
  if (!reader.means_one_thing())
    throw index_error(
        "several lists among slices or integers, and a list apart from an integer next to '...', mean one thing in "
        ".oindex[…], each dimension on its own, and another in NumPy; use .oindex[…], or .vindex[…] for points");
  return index;
}

Index orthogonal_index(nb::handle key, const Shape& array_shape) { return IndexReader(array_shape).read(key); }

Index point_index(nb::handle key, const Shape& array_shape) {
  if (array_shape.empty()) throw index_error("an array without dimensions has no points to choose from");
  if (const nb::object mask = whole_mask(key, array_shape); mask.is_valid()) return mask_index(mask, array_shape);
  const std::vector<nb::handle> items = Items(key).items;
  if (items.size() != array_shape.size())
    throw index_error("vindex needs one integer array per dimension: the array has " +
                      std::to_string(array_shape.size()) + " dimensions, the index " + std::to_string(items.size()));
  nb::list arrays;
  for (const nb::handle item : items) {
    if (!is_integer(item) && !is_array_like(item))
      throw index_error("vindex accepts integers and integer arrays, or a mask of the array's shape");
    nb::object array = numpy().asarray(item);
    if (is_boolean(array)) throw index_error("a mask in vindex must be the only index and have the array's shape");
    arrays.append(std::move(array));
  }
  const nb::object together = numpy().module.attr("broadcast_arrays")(*arrays);
  return points_of(together, array_shape, shape_from(together[0].attr("shape"), "index"));
}

}  // namespace sherd::python
