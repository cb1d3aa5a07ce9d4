// Segment properties for sherd.neuroglancer, as dicts: numbers and ids are arrays; texts and tags are lists.
#include "python/bindings.hpp"
#include "python/columns.hpp"

namespace sherd::python {
namespace {

using neuroglancer::SegmentProperties;
using neuroglancer::SegmentProperty;

// The document with ids and numbers as arrays, which are convenient for users.
nb::tuple parse_properties(nb::handle document) {
  const auto parsed = SegmentProperties::parse(json_from(document)).value();
  nb::list numbers;
  for (const SegmentProperty& property : parsed.properties)
    numbers.append(property.type == SegmentProperty::Type::number ? column_to(property.numbers) : nb::none());
  return nb::make_tuple(rows_to(parsed.ids), numbers, json_to(parsed.print().value()));
}

}  // namespace

void bind_segment_properties(nb::module_& module) {
  module.def("parse_segment_properties", parse_properties, nb::arg("document"),
             nb::sig("def parse_segment_properties(document: collections.abc.Mapping[str, typing.Any]) -> "
                     "tuple[numpy.ndarray, list[numpy.ndarray | None], dict[str, typing.Any]]"),
             "Ids, the values of number properties, and the document in its canonical form.");
}

}  // namespace sherd::python
