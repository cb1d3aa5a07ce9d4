// Arrays against a model: a plain vector that does what every read and write should do. Layouts and selections are
// drawn from a seeded generator; a failure names the seed and the layout.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace model_test {

using Element = std::uint32_t;
using Random = std::mt19937_64;

std::uint64_t draw(Random& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}
bool chance(Random& random, int percent) { return draw(random, 1, 100) <= static_cast<std::uint64_t>(percent); }

Json bytes_codec(Random& random) {
  return Json(Json::Object{{"name", "bytes"},
                           {"configuration", Json(Json::Object{{"endian", chance(random, 70) ? "little" : "big"}})}});
}

Json transpose_codec(Random& random, std::size_t rank) {
  std::vector<std::uint64_t> order(rank);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  return Json(
      Json::Object{{"name", "transpose"}, {"configuration", Json(Json::Object{{"order", Json::numbers(order)}})}});
}

Json named(const char* name, const char* configuration = nullptr) {
  Json codec(Json::Object{{"name", name}});
  if (configuration != nullptr) codec.set("configuration", Json::parse(configuration).value());
  return codec;
}

// A chain for chunks of this shape; shapes of inner chunks follow the transposes around them.
Json draw_codecs(Random& random, Shape shape, int depth) {
  Json codecs(Json::Array{});
  if (chance(random, 30)) {
    const Json transpose = transpose_codec(random, shape.size());
    Shape permuted;
    for (const Json& d : transpose.find("configuration")->find("order")->elements())
      permuted.push_back(shape[*d.as_uint()]);
    shape = permuted;
    codecs.push_back(transpose);
  }
  if (depth > 0) {
    Shape inner = shape;
    for (auto& length : inner)
      for (const std::uint64_t divisor : {2, 3})
        if (length % divisor == 0 && chance(random, 60)) length /= divisor;
    Json configuration(Json::Object{{"chunk_shape", Json::numbers(inner)}});
    configuration.set("codecs", draw_codecs(random, inner, depth - 1));
    Json index(Json::Array{});
    if (chance(random, 15)) index.push_back(transpose_codec(random, shape.size() + 1));
    index.push_back(bytes_codec(random));
    if (chance(random, 70)) index.push_back(named("crc32c"));
    configuration.set("index_codecs", index);
    if (chance(random, 60)) configuration.set("index_location", chance(random, 50) ? "start" : "end");
    codecs.push_back(Json(Json::Object{{"name", "sharding_indexed"}, {"configuration", configuration}}));
    if (chance(random, 12)) codecs.push_back(named("gzip", R"({"level": 1})"));
    return codecs;
  }
  if (chance(random, 10)) codecs.push_back(named("numcodecs.delta", R"({"dtype": "<u4"})"));
  codecs.push_back(bytes_codec(random));
  if (chance(random, 40)) codecs.push_back(named("zstd", R"({"level": 1, "checksum": false})"));
  if (chance(random, 20)) codecs.push_back(named("gzip", R"({"level": 1})"));
  if (chance(random, 20)) codecs.push_back(named("crc32c"));
  return codecs;
}

// An axis of a selection and the coordinates it means.
Selection::Axis draw_axis(Random& random, std::uint64_t length, Indices& coordinates) {
  if (chance(random, 20)) {
    Indices list(draw(random, 0, 7));
    for (auto& at : list) at = draw(random, 0, length - 1);
    coordinates = list;
    return list;
  }
  Range range{.start = draw(random, 0, length - 1), .count = 0, .step = 1};
  if (chance(random, 30)) range.step = static_cast<std::int64_t>(draw(random, 1, 5)) * (chance(random, 50) ? 1 : -1);
  const std::uint64_t reach = range.step > 0 ? length - range.start : range.start + 1;
  const auto stride = static_cast<std::uint64_t>(std::abs(range.step));
  range.count = chance(random, 20) ? (reach + stride - 1) / stride : draw(random, 0, (reach + stride - 1) / stride);
  if (chance(random, 15)) range = {.start = 0, .count = length, .step = 1};
  for (std::uint64_t i = 0; i < range.count; ++i)
    coordinates.push_back(
        static_cast<std::uint64_t>(static_cast<std::int64_t>(range.start) + static_cast<std::int64_t>(i) * range.step));
  return range;
}

struct Drawn {
  Selection selection{Box{}};
  std::vector<std::uint64_t> offsets;  // into the model, in C order of the selection
};

Drawn draw_selection(Random& random, const Shape& shape) {
  std::vector<Indices> coordinates(shape.size());
  Drawn drawn;
  if (!shape.empty() && chance(random, 20)) {
    const std::uint64_t count = draw(random, 0, 20);
    drawn.offsets.assign(count, 0);
    for (std::size_t d = 0; d < shape.size(); ++d)
      for (std::uint64_t i = 0; i < count; ++i) {
        coordinates[d].push_back(draw(random, 0, shape[d] - 1));
        drawn.offsets[i] = drawn.offsets[i] * shape[d] + coordinates[d].back();
      }
    drawn.selection = Selection::points(coordinates);
    return drawn;
  }
  std::vector<Selection::Axis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) axes.push_back(draw_axis(random, shape[d], coordinates[d]));
  drawn.offsets = {0};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::vector<std::uint64_t> next;
    for (const auto offset : drawn.offsets)
      for (const auto at : coordinates[d]) next.push_back(offset * shape[d] + at);
    drawn.offsets = std::move(next);
  }
  drawn.selection = Selection::orthogonal(std::move(axes));
  return drawn;
}

// A dense C or F view, or one with gaps, of `memory`.
AnyView draw_view(Random& random, const Shape& shape, std::vector<Element>& memory) {
  const std::uint64_t padding = chance(random, 30) ? draw(random, 1, 3) : 0;
  Shape padded = shape;
  for (auto& length : padded) length += padding;
  memory.assign(*element_count(padded) + 1, 0xEEEEEEEEU);
  auto strides = dense_strides(padded, sizeof(Element), chance(random, 30) ? Order::f : Order::c);
  return {reinterpret_cast<std::byte*>(memory.data()), DType::uint32, shape, std::move(strides)};
}

std::vector<std::size_t> positions(const AnyView& view) {
  std::vector<std::size_t> result{0};
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    std::vector<std::size_t> next;
    for (const auto offset : result)
      for (std::uint64_t i = 0; i < view.shape[d]; ++i)
        next.push_back(offset + i * static_cast<std::size_t>(view.strides[d]) / sizeof(Element));
    result = std::move(next);
  }
  return result;
}

struct Layout {
  CreateOptions options;
  Element fill = 0;
};

Layout draw_layout(Random& random) {
  Layout layout;
  const std::size_t rank = draw(random, 0, 4);
  Shape chunk;
  for (std::size_t d = 0; d < rank; ++d) {
    chunk.push_back(std::vector<std::uint64_t>{1, 2, 4, 6, 12}[draw(random, 0, 4)]);
    layout.options.shape.push_back(draw(random, 1, 26 / rank));
  }
  layout.options.dtype = DType::uint32;
  layout.options.chunk_grid = Json(
      Json::Object{{"name", "regular"}, {"configuration", Json(Json::Object{{"chunk_shape", Json::numbers(chunk)}})}});
  layout.options.raw_codecs = draw_codecs(random, chunk, static_cast<int>(draw(random, 0, 3)));
  layout.fill = chance(random, 50) ? 0 : 0x01020304;
  layout.options.fill_value = Json(std::uint64_t{layout.fill});
  layout.options.config.chunk_order = static_cast<ChunkOrder>(draw(random, 0, 2));
  layout.options.config.cache = static_cast<CacheMode>(draw(random, 0, 2));
  layout.options.config.write_empty_chunks = chance(random, 20);
  layout.options.config.durable = false;
  layout.options.config.threads = static_cast<unsigned>(draw(random, 1, 3));
  layout.options.config.max_unused = chance(random, 50) ? 0.1 : 0.9;
  return layout;
}

// Stores that use different paths through the reader: bytes in memory, ranges of memory, batches, files.
std::shared_ptr<Store> draw_store(Random& random, const TempDir& directory) {
  switch (draw(random, 0, 3)) {
    case 0:
      return memory_store();
    case 1:
      return recorded_store(memory_store(), std::make_shared<Recorder>());
    case 2:
      return delayed_store(memory_store(), std::chrono::microseconds(0), 4);
    default: {
      Config config;
      config.durable = false;
      return file_store(directory.path(), config).value();
    }
  }
}

// Reads up to eight regions in one call, some of them twice.
void expect_together(Random& random, const Array& array, const std::vector<Element>& model) {
  std::vector<Drawn> drawn;
  for (std::uint64_t i = draw(random, 0, 7); i-- > 0;) {
    drawn.push_back(draw_selection(random, array.shape()));
    if (chance(random, 20)) drawn.push_back(drawn[draw(random, 0, drawn.size() - 1)]);
  }
  std::vector<std::vector<Element>> memory(drawn.size());
  std::vector<Array::Region> regions;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    regions.push_back({drawn[i].selection, draw_view(random, drawn[i].selection.shape(), memory[i])});
  ASSERT_NO_THROW(array.read(regions).value());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto at = positions(regions[i].into);
    for (std::size_t k = 0; k < at.size(); ++k)
      ASSERT_EQ(memory[i][at[k]], model[drawn[i].offsets[k]]) << "region " << i;
  }
}

void play(std::uint64_t seed) {
  Random random(seed);
  const TempDir directory;
  const Layout layout = draw_layout(random);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", shape " + to_string(layout.options.shape) + ", grid " +
               layout.options.chunk_grid->dump() + ", codecs " + layout.options.raw_codecs->dump());
  Array array = create_array(draw_store(random, directory), "a", layout.options).value();
  std::vector<Element> model(*element_count(layout.options.shape), layout.fill);
  std::vector<Element> memory;
  for (int step = 0; step < 12; ++step) {
    const Drawn drawn = draw_selection(random, layout.options.shape);
    const AnyView view = draw_view(random, drawn.selection.shape(), memory);
    const auto at = positions(view);
    ASSERT_EQ(at.size(), drawn.offsets.size());
    if (chance(random, 55)) {
      const bool erases = chance(random, 20);
      for (std::size_t i = 0; i < at.size(); ++i) memory[at[i]] = erases ? layout.fill : static_cast<Element>(random());
      // Repeated coordinates: the last one wins, as in NumPy.
      for (std::size_t i = 0; i < at.size(); ++i) model[drawn.offsets[i]] = memory[at[i]];
      ASSERT_NO_THROW(
          array.write(drawn.selection, ConstAnyView{view.data, view.dtype, view.shape, view.strides}).value());
    }
    std::fill(memory.begin(), memory.end(), 0xEEEEEEEEU);
    ASSERT_NO_THROW(array.read(drawn.selection, view).value());
    for (std::size_t i = 0; i < at.size(); ++i) ASSERT_EQ(memory[at[i]], model[drawn.offsets[i]]) << "step " << step;
    std::vector<bool> written(memory.size(), false);
    for (const auto each : at) written[each] = true;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (!written[i]) {
        ASSERT_EQ(memory[i], 0xEEEEEEEEU) << "a read touched memory outside its view";
      }
    }
    if (step % 3 == 2) expect_together(random, array, model);
    if (testing::Test::HasFatalFailure()) return;
  }
  std::vector<Element> all(model.size());
  ASSERT_NO_THROW(array.read(Box{Shape(layout.options.shape.size(), 0), layout.options.shape}, std::span(all)).value());
  ASSERT_EQ(all, model);
}

TEST(ArrayModel, AnyLayoutReadsBackWhatAnySelectionWrote) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    play(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace model_test
}  // namespace sherd
