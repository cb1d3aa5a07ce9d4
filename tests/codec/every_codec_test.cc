// Tests that apply to every row of the codec table, and to one more row that only the tests have: a new row needs no
// line here. A codec that needs a configuration has an example in examples.hpp; without one, it must report that. A
// codec that only decodes has a golden chunk.
#include <gmock/gmock.h>

#include <algorithm>

#include "api/location.hpp"
#include "api/registry.hpp"
#include "array/nodes.hpp"
#include "base/scalar.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "sherd/sherd.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/codec/examples.hpp"
#include "tests/codec/golden_chunks.hpp"

namespace sherd::test {
namespace every_codec_test {

/// bytes -> bytes for tests: inverts every bit.
class Inverted final : public BytesCodec {
 public:
  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override { return decoded; }
  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    std::ranges::transform(from, to.begin(), [](std::byte each) { return ~each; });
    return from.size();
  }
  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() > to.size()) return std::optional<std::size_t>();
    SHERD_TRY(size, encode(from, to));
    return std::optional(size);
  }
};

const CodecEntry inverted_codec{
    .name = "inverted",
    .aliases = {},
    .bytes_codec = [](const CodecSpec&, const CodecContext&) -> Result<std::unique_ptr<BytesCodec>> {
      return std::make_unique<Inverted>();
    }};

std::vector<const CodecEntry*> rows() {
  const CodecTable table = tables().codecs;
  std::vector<const CodecEntry*> all(table.begin(), table.end());
  all.push_back(&inverted_codec);  // the one line that a new codec needs
  return all;
}

const Shape kShape{12, 20};

/// A type that the codec encodes, and the shortest chain that encodes it.
struct Subject {
  DType dtype;
  CodecChain chain;
  Bytes chunk, stored;
};

/// Of a golden chunk, for codecs that only decode.
const Shape kGoldenShape{5, 8};
const Shape& shape_of(const CodecEntry& entry) { return entry.reads_only ? kGoldenShape : kShape; }

Result<CodecChain> chain_of(const CodecEntry& entry, Json configuration, const DType& dtype, CodecTable table) {
  CodecSpec spec{.name = std::string(entry.name), .configuration = std::move(configuration)};
  std::vector<CodecSpec> specs;
  const CodecSpec elements{.name = dtype == DType::string  ? "vlen-utf8"
                                   : dtype == DType::bytes ? "vlen-bytes"
                                                           : "bytes",
                           .configuration = {}};
  if (entry.bytes_codec != nullptr) specs.push_back(elements);
  specs.push_back(std::move(spec));
  if (entry.array_codec != nullptr) specs.push_back(elements);
  complete_codecs(specs, table, dtype);
  return CodecChain::build(specs, table, {dtype, shape_of(entry)}, {});
}

class EveryCodec : public testing::TestWithParam<const CodecEntry*> {
 protected:
  /// nullopt if no type works; the first test reports that.
  std::optional<Subject> subject() { return subject(example_configuration(*GetParam())); }
  std::optional<Subject> subject(const Json& configuration) {
    const CodecEntry& entry = *GetParam();
    for (const DType& dtype : entry.reads_only ? std::vector<DType>{DType::uint8} : example_types())
      if (auto chain = chain_of(entry, configuration, dtype, table_)) {
        Subject of{dtype, *std::move(chain), {}, {}};
        if (entry.reads_only) {
          auto golden = golden_chunk(entry);
          of.chunk = std::move(golden.elements), of.stored = std::move(golden.stored);
        } else {
          of.chunk = example_elements(dtype, *element_count(kShape));
          of.stored = encoded(of, of.chunk);
        }
        return of;
      }
    return std::nullopt;
  }
  static Shape stored_shape(const Subject& of) { return of.chain.stored_shape(shape_of(*GetParam())); }
  static Bytes encoded(const Subject& of, const Bytes& elements) {
    Buffer to;
    of.chain.encode(stored_shape(of), elements, to).value();
    return {to.span().begin(), to.span().end()};
  }
  Result<Bytes> decoded(const Subject& of, std::span<const std::byte> stored) {
    Bytes elements(of.chunk.size());
    auto done = of.chain.decode(stored_shape(of), stored, elements, &arena_);
    if (!done) return std::move(done).error();
    return elements;
  }
  static bool equal(const DType& dtype, const Bytes& a, const Bytes& b) {
    for (std::size_t at = 0; at < a.size(); at += dtype.size())
      if (!equal_elements(dtype, &a[at], &b[at])) return false;
    return a.size() == b.size();
  }

 private:
  const std::vector<const CodecEntry*> rows_ = rows();
  VarBytesArena arena_;

 protected:
  const CodecTable table_ = rows_;
};

TEST_P(EveryCodec, HasANameAndExactlyOneKind) {
  const CodecEntry& entry = *GetParam();
  EXPECT_FALSE(entry.name.empty());
  EXPECT_EQ(find_codec(table_, entry.name), &entry) << "two rows have this name";
  for (const std::string_view alias : entry.aliases) EXPECT_EQ(find_codec(table_, alias), &entry) << alias;
  EXPECT_EQ((entry.array_codec != nullptr) + (entry.array_bytes_codec != nullptr) + (entry.bytes_codec != nullptr), 1);
}

TEST_P(EveryCodec, EncodesSomeTypeWithItsExample) {
  if (subject()) return;
  const auto refused = chain_of(*GetParam(), example_configuration(*GetParam()), DType::float32, table_);
  if (refused.error().text().find("built without") != std::string::npos) GTEST_SKIP() << refused.error().text();
  FAIL() << "give it a configuration in tests/codec/examples.hpp: " << refused.error().text();
}

TEST_P(EveryCodec, NamesTheMemberWhereItNeedsAConfiguration) {
  if (subject(Json())) return;
  const auto of = subject();
  const auto refused = chain_of(*GetParam(), Json(), of ? of->dtype : DType::float32, table_);
  ASSERT_FALSE(refused);
  if (refused.error().text().find("built without") != std::string::npos) GTEST_SKIP() << refused.error().text();
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument) << refused.error().text();
  EXPECT_THAT(refused.error().member(), testing::HasSubstr("configuration"));
}

TEST_P(EveryCodec, DecodesWhatItEncodes) {
  const auto of = subject();
  if (!of) return;
  const auto back = decoded(*of, of->stored);
  ASSERT_TRUE(back) << back.error().text();
  if (GetParam()->array_codec == nullptr) {
    EXPECT_TRUE(equal(of->dtype, *back, of->chunk));
  } else {  // a filter may lose information, once
    const auto again = decoded(*of, encoded(*of, *back));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(equal(of->dtype, *again, *back));
  }
}

TEST_P(EveryCodec, EncodesTheSameBytesEachTimeOrOnlyDecodes) {
  const auto of = subject();
  if (!of) return;
  if (GetParam()->reads_only) {
    Buffer to;
    EXPECT_EQ(code_of(of->chain.encode(stored_shape(*of), of->chunk, to)), ErrorCode::unsupported);
  } else {
    EXPECT_EQ(encoded(*of, of->chunk), of->stored);
  }
}

TEST_P(EveryCodec, EncodesWithinTheSizeThatItStates) {
  const auto of = subject();
  if (!of || of->dtype.is_variable()) return;
  EXPECT_LE(of->stored.size(), of->chain.max_encoded_size(stored_shape(*of)));
  EXPECT_EQ(of->chain.encoded_size(stored_shape(*of)).value_or(of->stored.size()), of->stored.size());
}

TEST_P(EveryCodec, AnswersEveryTruncationAndDamageWithAChunkOrATypedError) {
  const auto of = subject();
  if (!of) return;
  const Bytes& stored = of->stored;
  const auto expect_answer = [&](std::span<const std::byte> bytes) {
    const auto answer = decoded(*of, bytes);
    if (answer) return;
    EXPECT_THAT(answer.error().code(), testing::AnyOf(ErrorCode::corrupt, ErrorCode::unsupported))
        << answer.error().text();
  };
  for (std::size_t size = 0; size < stored.size(); ++size) expect_answer(std::span(stored).first(size));
  for (std::size_t at = 0; at < stored.size(); ++at) {
    Bytes damaged = stored;
    damaged[at] ^= std::byte{0x55};
    expect_answer(damaged);
  }
}

TEST_P(EveryCodec, StoresTheInnerChunksOfAnArrayOrOnlyReadsThem) {
  const auto of = subject();
  if (!of || of->dtype.is_variable()) return;
  NodeLocation location = new_location(memory_store(), "a", "zarr3", {}).value();
  location.tables.codecs = table_;
  CreateOptions options{.shape = {24, 40}, .dtype = of->dtype, .chunks = kShape, .shards = {24, 40}};
  options.codecs = {{example_codec(*GetParam())}};
  if (GetParam()->reads_only) {
    EXPECT_EQ(code_of(create_array_at(location, options)), ErrorCode::unsupported);
    return;
  }
  const Array array = create_array_at(location, options).value();
  const Box box{{12, 20}, kShape};
  array.write(box, BasicAnyView<const std::byte>::dense(of->chunk.data(), of->dtype, kShape)).value();
  Bytes back(of->chunk.size());
  array.read(box, AnyView::dense(back.data(), of->dtype, kShape)).value();
  EXPECT_TRUE(equal(of->dtype, back, decoded(*of, of->stored).value()));
}

INSTANTIATE_TEST_SUITE_P(Table, EveryCodec, testing::ValuesIn(rows()),
                         [](const auto& row) { return test_name_of(*row.param); });

}  // namespace every_codec_test
}  // namespace sherd::test
