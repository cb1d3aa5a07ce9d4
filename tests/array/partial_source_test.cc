// One version of an object, whose bytes arrive in parts.
#include "array/partial_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/buffer.hpp"

namespace sherd {
namespace partial_source_test {

using testing::ElementsAre;

const std::string kBytes = "0123456789";

/// A reply with these bytes of kBytes.
ReadReply part(std::size_t offset, std::size_t length) {
  return {.offset = offset, .bytes = as_bytes(kBytes).subspan(offset, length)};
}

std::optional<std::string> read(PartialSource& source, std::uint64_t offset, std::size_t length) {
  std::string into(length, ' ');
  const RangeRead range{offset, std::as_writable_bytes(std::span(into))};
  const auto done = source.read({&range, 1});
  if (done) return into;
  EXPECT_EQ(done.error().code(), source.waits() ? ErrorCode::unavailable : ErrorCode::corrupt);
  return std::nullopt;
}

TEST(PartialSource, ReadsWhatHasArrivedAndNotesWhatHasNot) {
  PartialSource source({"a", {"1"}, kBytes.size()});
  EXPECT_EQ(read(source, 2, 3), std::nullopt);
  EXPECT_EQ(read(source, 7, 3), std::nullopt);
  EXPECT_TRUE(waits_for_bytes(source));
  EXPECT_THAT(source.take_missing(), ElementsAre(Extent{2, 3}, Extent{7, 3}));
  EXPECT_FALSE(waits_for_bytes(source));
  source.hold(part(2, 5));
  EXPECT_EQ(read(source, 2, 3), "234");
  EXPECT_EQ(read(source, 6, 1), "6");
  EXPECT_EQ(read(source, 0, 0), "");
  EXPECT_EQ(read(source, 6, 2), std::nullopt) << "only a part of it has arrived";
}

TEST(PartialSource, ReportsARangeBeyondTheEndAsCorrupt) {
  PartialSource source({"a", {"1"}, kBytes.size()});
  EXPECT_EQ(read(source, 8, 3), std::nullopt);
  EXPECT_FALSE(source.waits());
}

TEST(PartialSource, FindsARangeInTheLongestOfSeveralParts) {
  PartialSource source({"a", {"1"}, kBytes.size()});
  source.hold(part(1, 8));
  source.hold(part(3, 1));
  source.hold(part(1, 2));
  EXPECT_EQ(read(source, 1, 8), "12345678");
  EXPECT_EQ(read(source, 4, 4), "4567");
}

TEST(PartialSource, OfAnOpenObjectKnowsItsVersionWithoutARequest) {
  const auto store = memory_store();
  store->set("a", kBytes).value();
  const auto opened = store->open("a").value();
  const auto source = PartialSource::of(opened).value();
  EXPECT_EQ(source->name(), "a");
  EXPECT_EQ(source->size().value(), kBytes.size());
  EXPECT_EQ(source->generation().value(), opened->generation().value());
  EXPECT_EQ(source->opened(), opened);
}

}  // namespace partial_source_test
}  // namespace sherd
