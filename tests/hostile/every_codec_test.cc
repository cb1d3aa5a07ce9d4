// Hostile chunks for every row of the table of codecs: 56 to 75 of docs/limits.md as far as every codec has them. A new
// row needs no line here. What is wrong is made from a good chunk of the codec; codec_test.cc has what one codec alone
// has.
#include <random>

#include "api/registry.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/codec/examples.hpp"
#include "tests/codec/golden_chunks.hpp"
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace every_codec_test {

using test::Bytes;

constexpr const char* kChunk = "c/0/0";
const Shape kSmall{12, 20};
/// Decoded size of a large chunk that is stored in place of a small one: more memory than any row may use.
constexpr std::uint64_t kLargeBytes = std::uint64_t{96} << 20;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// An array of one chunk that these codecs encode.
Result<Array> one_chunk(std::vector<Json> codecs, std::shared_ptr<Store> store, const std::string& path,
                        const Shape& shape, const DType& dtype) {
  CreateOptions options{.shape = shape, .dtype = dtype, .chunks = shape};
  options.codecs = std::move(codecs);
  options.config.durable = false;
  return create_array(std::move(store), path, options);
}
Result<Array> one_chunk(const CodecEntry& entry, std::shared_ptr<Store> store, const std::string& path,
                        const Shape& shape, const DType& dtype) {
  return one_chunk(std::vector<Json>{test::example_codec(entry)}, std::move(store), path, shape, dtype);
}
/// Of the types that some codec takes, the first that this one does.
Array small_array(const CodecEntry& entry, const std::shared_ptr<Store>& store) {
  for (const DType& dtype : test::example_types())
    if (auto array = one_chunk(entry, store, "a", kSmall, dtype)) return *std::move(array);
  return one_chunk(entry, store, "a", kSmall, DType::uint32).value();
}
void fill(const Array& array, const Bytes& elements) {
  array
      .write(Box{{0, 0}, array.shape()},
             BasicAnyView<const std::byte>::dense(elements.data(), array.dtype(), array.shape()))
      .value();
}

/// A golden chunk of a codec that only decodes, in the place of a chunk that is not compressed.
void make_golden(const CodecEntry& entry, Store& store) {
  const std::shared_ptr<Store> borrowed(&store, [](Store*) {});
  one_chunk(std::vector<Json>{"bytes"}, borrowed, "a", {5, 8}, DType::uint8).value();
  Json document = Json::parse(store.get("a/zarr.json").value().value()).value();
  Json codecs = *document.find("codecs");
  codecs.push_back(test::example_codec(entry));
  document.set("codecs", std::move(codecs));
  store.set("a/zarr.json", document.dump()).value();
  store.set(std::string("a/") + kChunk, text_of(test::golden_chunk(entry).stored)).value();
}

/// The good array at `a`, which the damage is done to.
void make_good(const CodecEntry& entry, Store& store) {
  if (entry.reads_only) return make_golden(entry, store);
  const Array array = small_array(entry, {&store, [](Store*) {}});
  fill(array, test::example_elements(array.dtype(), *element_count(kSmall)));
}

Result<void> read_box(const Array& array, const Shape& shape) {
  Bytes elements(*element_count(shape) * array.dtype().size());
  VarBytesArena arena;
  return array.read(Box{Shape(shape.size(), 0), shape}, AnyView::dense(elements.data(), array.dtype(), shape), &arena);
}

/// Whether the chunk is read, or refused by its key as damaged or beyond a limit; all of it, and an element of it.
Result<void> is_answered(const std::shared_ptr<Store>& store, const std::string& about) {
  const Array array = open_array(store, {.path = "a"}).value();
  for (const Shape& shape : {array.shape(), Shape{1, 1}}) {
    const auto done = read_box(array, shape);
    if (done) continue;
    const Error& error = done.error();
    const bool typed = error.code() == ErrorCode::corrupt || error.code() == ErrorCode::unsupported;
    if (!typed || error.key() != std::string("a/") + kChunk) return invalid_argument(about + ": " + error.text());
  }
  return {};
}

using Damage = std::function<void(const std::string& good, const std::function<void(const std::string&)>& use)>;

/// Every damaged chunk in place of the good one, in memory.
Result<void> damaged(const std::shared_ptr<Store>& files, const Damage& damage) {
  const std::string good = files->get(std::string("a/") + kChunk).value().value();
  const auto store = memory_store();
  store->set("a/zarr.json", files->get("a/zarr.json").value().value()).value();
  Result<void> failure;
  int count = 0;
  damage(good, [&](const std::string& bytes) {
    ++count;
    store->set(std::string("a/") + kChunk, bytes).value();
    if (failure) failure = is_answered(store, "damage " + std::to_string(count));
  });
  return failure;
}

void truncate(const std::string& good, const std::function<void(const std::string&)>& use) {
  for (std::size_t size = 0; size < good.size(); ++size) use(good.substr(0, size));
}

void lengthen(const std::string& good, const std::function<void(const std::string&)>& use) {
  for (const char byte : {'\0', '\1', '\xff'})
    for (const std::size_t more : {1, 4, 4096, 1 << 20}) use(good + std::string(more, byte));
  use(good + good);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += good;
  use(many);
}

/// Words that are sizes, counts or offsets in some codec's header, claiming anything.
void lie(const std::string& good, const std::function<void(const std::string&)>& use) {
  using namespace std::string_view_literals;
  constexpr std::string_view kWords[] = {"\xff\xff\xff\xff"sv,
                                         "\xff\xff\xff\x7f"sv,
                                         "\x7f\xff\xff\xff"sv,
                                         "\0\0\0\0"sv,
                                         "\xff\xff\xff\xff\xff\xff\xff\xff"sv,
                                         "\xff\xff\xff\xff\xff\xff\xff\x7f"sv,
                                         "\0\0\0\0\0\1\0\0"sv,
                                         "\0\0\1\0\0\0\0\0"sv};
  const std::size_t end = std::min<std::size_t>(good.size(), 96);
  for (std::size_t at = 0; at < end; ++at) {
    for (const std::string_view word : kWords) {
      std::string bytes = good;
      bytes.replace(at, std::min(word.size(), good.size() - at), word.substr(0, good.size() - at));
      use(bytes);
    }
  }
}

void randomize(const std::string& good, const std::function<void(const std::string&)>& use) {
  std::mt19937 random(15);
  const auto noise = [&](std::size_t size) { return text_of(test::noise(size, random())); };
  for (int round = 0; round < 200; ++round) {
    use(noise(1 + random() % 4096));
    use(good.substr(0, random() % (good.size() + 1)) + noise(random() % 2048));
    std::string flipped = good;
    for (unsigned flips = 1 + random() % 8; flips > 0; --flips)
      flipped[random() % flipped.size()] ^= static_cast<char>(1 + random() % 255);
    use(flipped);
  }
  use(noise(std::size_t{1} << 20));
}

/// A much larger chunk of the same codec and type, all of its bytes 1, if it is stored in an eighth of its size.
void make_large(const CodecEntry& entry, Store& store) {
  make_good(entry, store);
  const std::shared_ptr<Store> borrowed(&store, [](Store*) {});
  const DType dtype = open_array(borrowed, {.path = "a"}).value().dtype();
  if (dtype.is_variable() || entry.array_codec != nullptr) return;
  const Shape shape{kLargeBytes / 8192 / dtype.size(), 8192};
  auto large = one_chunk(entry, borrowed, "large", shape, dtype);
  if (!large) return;  // reshape and others know the shape of their chunk
  fill(*large, Bytes(*element_count(shape) * dtype.size(), std::byte{1}));
  const auto encoded = store.get(std::string("large/") + kChunk).value();
  if (encoded && encoded->size() <= kLargeBytes / 8) store.set(std::string("a/") + kChunk, *encoded).value();
}

/// 192 MiB of zeros, compressed, as the chunk of an array whose numbers this codec turns into the bytes that are
/// compressed.
void make_compressed(const CodecEntry& entry, Store& store) {
  make_good(entry, store);
  const std::shared_ptr<Store> borrowed(&store, [](Store*) {});
  const DType dtype = open_array(borrowed, {.path = "a"}).value().dtype();
  if (dtype.is_variable() || entry.array_bytes_codec == nullptr) return;
  const Shape shape{2 * kLargeBytes / 8192, 8192};
  const auto zeros = one_chunk({"bytes", "numcodecs.zlib:1"}, borrowed, "zeros", shape, DType::uint8).value();
  fill(zeros, Bytes(*element_count(shape)));
  const auto compressed = store.get(std::string("zeros/") + kChunk).value();
  store.erase_prefix("a/").value();
  one_chunk({test::example_codec(entry), "numcodecs.zlib:1"}, borrowed, "a", kSmall, dtype).value();
  if (compressed) store.set(std::string("a/") + kChunk, *compressed).value();
}

std::vector<StoredCase> rows_of(const CodecEntry& entry) {
  const std::string name(entry.name);
  const auto make = [&entry](Store& store, const std::string&) { make_good(entry, store); };
  const auto with = [](const Damage& damage) {
    return [damage](const std::shared_ptr<Store>& store) { return damaged(store, damage); };
  };
  return {
      {73, name + " cut short anywhere", make, with(truncate)},
      {74, name + " with more behind it", make, with(lengthen)},
      {56, name + " with words that claim anything", make, with(lie)},
      {64, name + " that is random or has random bytes", make, with(randomize)},
      {59, name + " that decodes to 96 MiB", [&entry](Store& store, const std::string&) { make_large(entry, store); },
       [](const std::shared_ptr<Store>& store) { return is_answered(store, "large"); }},
      {59, name + " that is made of 192 MiB",
       [&entry](Store& store, const std::string&) { make_compressed(entry, store); },
       [](const std::shared_ptr<Store>& store) { return is_answered(store, "compressed"); }}};
}

/// Of what this build has.
bool is_available(const CodecEntry& entry) {
  const auto array = one_chunk(entry, memory_store(), "a", kSmall, DType::float32);
  return array || array.error().text().find("built without") == std::string::npos;
}

std::vector<StoredCase> every_codec() {
  std::vector<StoredCase> all;
  for (const CodecEntry* entry : tables().codecs)
    if (is_available(*entry)) std::ranges::move(rows_of(*entry), std::back_inserter(all));
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryCodec, HostileStore, testing::ValuesIn(every_codec()), stored_name);

}  // namespace every_codec_test
}  // namespace sherd::hostile
