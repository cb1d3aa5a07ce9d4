// Any bytes as one annotation and as a list of them are rejected or read. Printing and reading again has the same
// result; the printed bytes may differ from the input in padding only. The first byte chooses geometry, rank,
// properties and relationships.
#include <cstdlib>

#include "sherd/neuroglancer.hpp"

namespace {

using namespace sherd;
using namespace sherd::neuroglancer;

AnnotationInfo info_of(std::uint8_t choice) {
  using Type = AnnotationProperty::Type;
  AnnotationInfo info;
  info.type = static_cast<AnnotationType>(choice % 5);
  for (unsigned d = 0; d <= choice / 5 % 4; ++d) info.dimensions.push_back({"d" + std::to_string(d), 1, ""});
  if (choice / 20 % 2 != 0)
    info.properties = {
        {"a", Type::rgb}, {"b", Type::int16}, {"c", Type::float32}, {"d", Type::rgba}, {"e", Type::int8}};
  for (unsigned i = 0; i < choice / 40 % 3; ++i) info.relationships.push_back({"r", {"r"}});
  return info;
}

bool has_empty_polyline(const std::vector<std::uint32_t>& points) {
  for (const std::uint32_t count : points)
    if (count == 0) return true;
  return false;
}

template <class T>
void check(Bytes bytes, const AnnotationInfo& info) {
  const auto read = T::parse(bytes, info);
  if (!read) return;
  if constexpr (requires { read->points; })
    if (has_empty_polyline(read->points)) return;
  if (info.type == AnnotationType::polyline && read->geometry.empty()) return;
  const std::string printed = read->print(info).value();
  const auto again = T::parse(std::as_bytes(std::span(printed)), info);
  if (printed.size() != bytes.size() || !again || again->print(info).value() != printed) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const AnnotationInfo info = info_of(data[0]);
  const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  check<Annotation>(bytes, info);
  check<Annotations>(bytes, info);
  return 0;
}
