// The sharding transformer for sherd.draft2022: keys and values as str and bytes, ranges as pairs and triples as in the
// draft.
#include "sherd/draft2022.hpp"

#include <deque>

#include "python/bindings.hpp"
#include "python/columns.hpp"
#include "python/json.hpp"
#include "python/node.hpp"

namespace sherd::python {
namespace {

using namespace draft2022;

// Adds the name of the store to errors.
struct BoundTransformer {
  ShardingTransformer transformer;
  [[nodiscard]] const Store& store() const { return *transformer.array().store(); }
};

BoundTransformer make(nb::handle store, nb::handle document, const std::string& path, bool in_place,
                      nb::handle settings) {
  const TransformerOptions options{.erase = in_place ? EraseMode::in_place : EraseMode::rewrite,
                                   .config = config_from(settings)};
  const auto opened = store_from(store, options.config);
  if (document.is_none()) return {call(*opened, [&] { return ShardingTransformer::open(opened, path, options); })};
  const Json json = json_from(document);
  return {call(*opened, [&] { return ShardingTransformer::make(opened, json, path, options); })};
}

// The items of a tuple or list of this length; TypeError for anything else.
std::vector<nb::object> items(nb::handle value, std::size_t count, const char* wanted) {
  std::vector<nb::object> found;
  if (nb::isinstance<nb::tuple>(value) || nb::isinstance<nb::list>(value))
    for (const nb::handle item : nb::iter(value)) found.push_back(nb::borrow(item));
  if (found.size() != count) throw nb::type_error((quoted(value) + " must be " + wanted).c_str());
  return found;
}

// TypeError if it is not an int, InvalidArgument if it is out of range.
template <class Number>
Number number_from(nb::handle value, const std::string& name) {
  if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr()))
    throw nb::type_error((name + " must be an int, not " + quoted(value)).c_str());
  Number number{};
  if (!nb::try_cast(nb::steal(PyNumber_Index(value.ptr())), number))
    throw Exception(invalid_argument("is out of range: " + quoted(value)).in_member(name));
  return number;
}

nb::object value_to(const std::optional<std::string>& value) {
  return value ? nb::object(bytes_to(*value)) : nb::none();
}

nb::list get_partial_values(const BoundTransformer& self, nb::iterable key_ranges) {
  constexpr const char* pair = "a pair (key, (start, length))";
  std::vector<KeyRange> ranges;
  for (const nb::handle item : key_ranges) {
    const auto key_range = items(item, 2, pair);
    const auto range = items(key_range[1], 2, pair);
    KeyRange wanted{text_of(key_range[0], "key"), {.start = number_from<std::int64_t>(range[0], "start")}};
    if (!range[1].is_none()) wanted.range.length = number_from<std::uint64_t>(range[1], "length");
    ranges.push_back(std::move(wanted));
  }
  const auto values = call(self.store(), [&] { return self.transformer.get_partial_values(ranges); });
  nb::list list;
  for (const auto& value : values) list.append(value_to(value));
  return list;
}

void set_values(BoundTransformer& self, nb::iterable key_values) {
  std::deque<BytesView> views;
  std::vector<KeyValue> values;
  for (const nb::handle item : key_values) {
    const auto key_value = items(item, 2, "a pair (key, value)");
    values.push_back({text_of(key_value[0], "key"), views.emplace_back(key_value[1]).bytes()});
  }
  call(self.store(), [&] { return self.transformer.set_values(values); });
}

void set_partial_values(BoundTransformer& self, nb::iterable key_start_values) {
  std::deque<BytesView> views;
  std::vector<KeyStartValue> values;
  for (const nb::handle item : key_start_values) {
    const auto triple = items(item, 3, "a triple (key, start, value)");
    values.push_back({text_of(triple[0], "key"), number_from<std::uint64_t>(triple[1], "start"),
                      views.emplace_back(triple[2]).bytes()});
  }
  call(self.store(), [&] { return self.transformer.set_partial_values(values); });
}

void erase_values(BoundTransformer& self, nb::iterable keys) {
  std::vector<std::string> names;
  for (const nb::handle key : keys) names.push_back(text_of(key, "key"));
  call(self.store(), [&] { return self.transformer.erase_values(names); });
}

nb::tuple list_dir(const BoundTransformer& self, const std::string& prefix) {
  const KeysAndPrefixes found = call(self.store(), [&] { return self.transformer.list_dir(prefix); });
  return nb::make_tuple(strings_to(found.keys), strings_to(found.prefixes));
}

}  // namespace

void bind_draft2022(nb::module_& module) {
  nb::class_<BoundTransformer>(module, "ShardingTransformer",
                               "The implementation of sherd.draft2022.ShardingTransformer.")
      .def("get_partial_values", get_partial_values, nb::arg("key_ranges"),
           nb::sig("def get_partial_values(self, key_ranges: collections.abc.Iterable[tuple[str, tuple[int, int | "
                   "None]]]) -> list[bytes | None]"),
           "A value a range.")
      .def("set_values", set_values, nb::arg("key_values"),
           nb::sig("def set_values(self, key_values: collections.abc.Iterable[tuple[str, bytes | bytearray | "
                   "memoryview]]) -> None"),
           "Sets whole values.")
      .def("set_partial_values", set_partial_values, nb::arg("key_start_values"),
           nb::sig("def set_partial_values(self, key_start_values: collections.abc.Iterable[tuple[str, int, bytes | "
                   "bytearray | memoryview]]) -> None"),
           "Sets parts of values.")
      .def("erase_values", erase_values, nb::arg("keys"),
           nb::sig("def erase_values(self, keys: collections.abc.Iterable[str]) -> None"), "Erases values.")
      .def(
          "erase_prefix",
          [](BoundTransformer& self, const std::string& prefix) {
            call(self.store(), [&] { return self.transformer.erase_prefix(prefix); });
          },
          nb::arg("prefix"), "Erases every key with this prefix.")
      .def(
          "list_prefix",
          [](const BoundTransformer& self, const std::string& prefix) {
            return strings_to(call(self.store(), [&] { return self.transformer.list_prefix(prefix); }));
          },
          nb::arg("prefix"), nb::sig("def list_prefix(self, prefix: str) -> list[str]"),
          "The keys that begin with a prefix.")
      .def("list_dir", list_dir, nb::arg("prefix"),
           nb::sig("def list_dir(self, prefix: str) -> tuple[list[str], list[str]]"), "Keys and prefixes.")
      .def_prop_ro(
          "path", [](const BoundTransformer& self) { return self.transformer.array().path(); }, "Of the array.")
      .def_prop_ro(
          "metadata", [](const BoundTransformer& self) { return json_to(self.transformer.array().metadata()); },
          nb::sig("def metadata(self) -> dict[str, typing.Any]"), "The array's document.");
  module.def("sharding_transformer", make, nb::arg("store"), nb::arg("document").none(), nb::arg("path"),
             nb::arg("in_place"), nb::arg("config").none(),
             nb::sig("def sharding_transformer(store: str | os.PathLike[str] | Store, document: "
                     "collections.abc.Mapping[str, typing.Any] | None, path: str, in_place: bool, config: dict[str, "
                     "typing.Any] | None) -> ShardingTransformer"),
             "The transformer of a document or, if that is None, of the array at the path.");
}

}  // namespace sherd::python
