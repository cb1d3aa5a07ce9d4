// Converts vectors of the engine to NumPy arrays and back, for objects that are lists of numbers.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "python/bindings.hpp"
#include "python/json.hpp"
#include "python/numpy.hpp"
#include "sherd/json.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd::python {

/// The contents of a bytes-like object, valid while this lives.
class BytesView {
 public:
  /// TypeError if `value` is not bytes-like or not contiguous.
  explicit BytesView(nanobind::handle value);
  ~BytesView() { PyBuffer_Release(&buffer_); }
  BytesView(const BytesView&) = delete;
  BytesView& operator=(const BytesView&) = delete;
  [[nodiscard]] neuroglancer::Bytes bytes() const noexcept {
    return {static_cast<const std::byte*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_{};
};

[[nodiscard]] nanobind::bytes bytes_to(const std::string& text);

/// Copies `size` bytes into an array of this shape.
[[nodiscard]] nanobind::object array_to(const void* data, std::size_t size, const Shape& shape, const DType& dtype);
/// An array of shape (n,), or (n, components) if there is more than one component.
[[nodiscard]] nanobind::object column_to(const neuroglancer::Column& column);

/// `value` as a C-order array of this type and of shape (n, *row). InvalidArgument, prefixed with `what`, if its shape
/// differs or if integers would change.
[[nodiscard]] nanobind::object array_from(nanobind::handle value, const DType& dtype, const Shape& row,
                                          const std::string& what);
[[nodiscard]] neuroglancer::Column column_from(nanobind::handle value, const DType& dtype, std::uint32_t components,
                                               const std::string& what);

namespace detail {
template <class Row>
struct RowOf {
  using Word = Row;
  static Shape lengths() { return {}; }
};
template <class T, std::size_t N>
struct RowOf<std::array<T, N>> {
  using Word = T;
  static Shape lengths() { return {N}; }
};
}  // namespace detail

/// Rows as an array of shape (n,) or (n, N).
template <class Row>
[[nodiscard]] nanobind::object rows_to(const std::vector<Row>& rows) {
  Shape shape = detail::RowOf<Row>::lengths();
  shape.insert(shape.begin(), rows.size());
  return array_to(rows.data(), rows.size() * sizeof(Row), shape, DType::of<typename detail::RowOf<Row>::Word>());
}

template <class Row>
[[nodiscard]] std::vector<Row> rows_from(nanobind::handle value, const std::string& what) {
  const DType dtype = DType::of<typename detail::RowOf<Row>::Word>();
  const nanobind::object array = array_from(value, dtype, detail::RowOf<Row>::lengths(), what);
  const AnyView view = view_of(array, dtype);
  std::vector<Row> rows(view.shape[0]);
  if (!rows.empty()) std::memcpy(static_cast<void*>(rows.data()), view.data, rows.size() * sizeof(Row));
  return rows;
}

/// The names of a document's parts as members of Python classes, and JSON values as Python objects.
template <class Info>
[[nodiscard]] nanobind::object document_of(const Info& info) {
  return json_to(info.print().value());
}

/// Adds what every info document has in Python: from_json, to_json, equality, repr and pickling.
template <class Info>
nanobind::class_<Info> bind_info(nanobind::module_& module, const char* name, const char* from_json_signature,
                                 const char* doc) {
  namespace nb = nanobind;
  const std::string type = name;
  return nb::class_<Info>(module, name, doc)
      .def_static(
          "from_json", [](nb::handle document) { return Info::parse(json_from(document)).value(); },
          nb::arg("document"), nb::sig(from_json_signature),
          "From the JSON document as dicts and lists. InvalidArgument names the member that is wrong; members that are "
          "not known are kept. Unsupported where @type is another.")
      .def(
          "to_json", [](const Info& info) { return document_of(info); },
          nb::sig("def to_json(self) -> dict[str, typing.Any]"),
          "The JSON document, as it is to be stored under the name `info`.")
      .def(
          "__eq__",
          [](const Info& info, nb::handle other) {
            const Info* second = nullptr;
            return nb::try_cast(other, second) && second != nullptr && info == *second;
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [type](const Info& info) { return type + ".from_json(" + quoted(document_of(info)) + ")"; })
      .def("__getstate__", [](const Info& info) { return document_of(info); })
      .def(
          "__setstate__",
          [](Info& made, nb::handle document) { new (&made) Info(Info::parse(json_from(document)).value()); },
          nb::arg("document"));
}

}  // namespace sherd::python
