// Any bytes as PLY are rejected or read; the mesh is printed, and reads back as the same mesh.
#include <cstdlib>

#include "sherd/object_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sherd;
  const auto mesh = parse_ply(std::as_bytes(std::span(data, size)));
  if (!mesh) return mesh.error().code() == ErrorCode::invalid_argument ? (std::abort(), 0) : 0;
  const std::string printed = print_ply(*mesh).value();
  if (parse_ply(std::as_bytes(std::span(printed))).value() != *mesh) std::abort();
  return 0;
}
