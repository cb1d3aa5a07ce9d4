// Any text as SWC is rejected or read; the tree is printed, and reads back as the same tree.
#include <cstdlib>

#include "sherd/object_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sherd;
  const auto skeleton = parse_swc({reinterpret_cast<const char*>(data), size});
  if (!skeleton) return skeleton.error().code() == ErrorCode::corrupt ? 0 : (std::abort(), 0);
  const SwcText printed = print_swc(*skeleton, swc_attributes()).value();
  const auto again = parse_swc(printed.text).value();
  if (again.vertices.size() != skeleton->vertices.size()) std::abort();
  if (again.edges.size() + printed.edges_left_out != skeleton->edges.size()) std::abort();
  if (print_swc(again, swc_attributes()).value().text != printed.text) std::abort();
  return 0;
}
