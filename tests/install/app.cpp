#include <sherd/sherd.hpp>
#include <cstdint>
#include <span>
#include <vector>

int main(int, char** argv) {
  sherd::CreateOptions options{.shape = {512, 512, 512}, .dtype = sherd::DType::uint16,
                               .chunks = {64, 64, 64}, .shards = {256, 256, 256}};
  sherd::Array array = sherd::create_array(argv[1], options).value();
  std::vector<std::uint16_t> values(100 * 80 * 60, 7);
  const sherd::Box where{{10, 20, 30}, {100, 80, 60}};  // origin, shape
  array.write(where, std::span<const std::uint16_t>(values)).value();
  array.read(where, std::span<std::uint16_t>(values)).value();
  return values.front() == 7 ? 0 : 1;
}
