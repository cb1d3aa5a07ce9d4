// Writes the dataset that nczarr_peer.py describes: nczarr_writer DIRECTORY zarr2|zarr3 nczarr|zarr|numbers
// fixed|unlimited. `numbers` is pure Zarr without strings.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "sherd/netcdf_writer.hpp"

namespace {

using namespace sherd;
using namespace sherd::netcdf;

Attribute text(const char* name, const char* value) { return {name, std::string(value)}; }

void write(const std::string& directory, const std::string& format, const std::string& mode, bool unlimited) {
  Writer writer = Writer::create(directory, {.format = format,
                                             .mode = {.pure = mode != "nczarr"},
                                             .attributes = {text("title", "größe"),
                                                            text("number", "10"),
                                                            {"digits", std::vector<double>{0.12345678901234}}}})
                      .value();
  writer.define_dimension("/", "x", 4, unlimited).value();
  writer.define_dimension("/", "y", 5).value();
  writer.define_group("/g1", {text("about", "in g1")}).value();
  writer.define_dimension("/g1", "z", 3).value();
  std::vector<std::int32_t> numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0);
  writer
      .define_variable("/", {.name = "vi",
                             .dimensions = {"x", "y"},
                             .attributes = {text("units", "K"), {"factor", std::vector<double>{2.5}}}})
      .value();
  writer.write("vi", {{0, 0}, {4, 5}}, numbers).value();
  writer.define_variable("/", {.name = "scalar", .type = Type::float64}).value();
  writer.write("scalar", {}, std::vector<double>{3.5}).value();
  writer.define_variable("/", {.name = "letters", .type = Type::character, .dimensions = {"x"}}).value();
  writer.write("letters", {{0}, {4}}, std::string("abcd")).value();
  if (mode != "numbers") {
    writer.define_variable("/", {.name = "texts", .type = Type::string, .dimensions = {"x"}}).value();
    writer.write("texts", {{0}, {4}}, std::vector<std::string>{"one", "two", "", "größe"}).value();
  }
  writer.define_variable("/", {.name = "bytes", .type = Type::int8, .dimensions = {"x"}}).value();
  writer.write("bytes", {{0}, {4}}, std::vector<std::int8_t>{1, 2, 3, -4}).value();
  writer.define_variable("/g1", {.name = "gv", .type = Type::float32, .dimensions = {"x", "z"}}).value();
  writer.write("/g1/gv", {{0, 0}, {4, 3}}, std::vector<float>(12, 0.5F)).value();
  writer.sync().value();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    write(argv[1], argv[2], argv[3], std::string(argv[4]) == "unlimited");
  } catch (const Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
