// Any bytes as a skeleton are rejected or read; the result prints as the same bytes. The first byte chooses the vertex
// attributes.
#include <cstdlib>

#include "sherd/neuroglancer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sherd;
  using namespace sherd::neuroglancer;
  static const std::vector<VertexAttribute> all{{"a"}, {"b", DType::uint8, 3}, {"c", DType::int64, 65535}};
  if (size == 0) return 0;
  const auto attributes = std::span(all).first(data[0] % (all.size() + 1));
  const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  const auto skeleton = Skeleton::parse(bytes, attributes);
  if (!skeleton) return skeleton.error().code() == ErrorCode::corrupt ? 0 : (std::abort(), 0);
  const std::string printed = skeleton->print(attributes).value();
  if (printed != std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())) std::abort();
  return 0;
}
