// Any text as OBJ is rejected or read; the mesh is printed, and reads back as the same mesh.
#include <cstdlib>

#include "sherd/object_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sherd;
  const auto mesh = parse_obj({reinterpret_cast<const char*>(data), size});
  if (!mesh) return mesh.error().code() == ErrorCode::corrupt ? 0 : (std::abort(), 0);
  if (parse_obj(print_obj(*mesh).value()).value() != *mesh) std::abort();
  return 0;
}
