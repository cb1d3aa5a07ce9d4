// ImageJ's hyperstacks: the order of channels, and counts and tags that lie. tests/cli/hyperstacks_test.py compares
// what is read with tifffile.
#include "tests/io/hyperstack_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::hyperstack_testing {
namespace imagej_test {

TEST(Imagej, ChannelsAreFastestOnDiskUnlessItsOrderSaysOtherwise) {
  const std::string lengths = "images=24\nchannels=2\nslices=3\nframes=4\n";
  EXPECT_EQ(read_imagej(lengths, facts_of(24)).value().pages[1], 2U) << "the next slice";
  EXPECT_EQ(read_imagej(lengths + "order=zct\n", facts_of(24)).value().pages[1], 1U);
  EXPECT_EQ(read_imagej(lengths + "order=tzc\n", facts_of(24)).value().pages[1], 4U);
  EXPECT_EQ(read_imagej(lengths + "order=zzz\n", facts_of(24)).value().pages[1], 2U);
}

TEST(Imagej, CountsThatDoNotFitAreRefused) {
  EXPECT_TRUE(fails(read_imagej("channels=4294967296\nslices=4294967296\n", facts_of(2)), ErrorCode::corrupt,
                    "the file has 2 pages"));
  EXPECT_TRUE(fails(read_imagej("channels=3\n", facts_of(2)), ErrorCode::corrupt, "3 channels"));
  EXPECT_EQ(read_imagej("channels=0\nslices=-3\nframes=x\n", facts_of(2)).value().axes, std::vector<std::string>{"z"});
}

TEST(Imagej, SamplesThatItCountsAsChannelsAreChannels) {
  const auto stack = read_imagej("images=6\nchannels=3\nslices=2\n", facts_of(2, 3)).value();
  EXPECT_EQ(stack.lengths, (Shape{3, 2}));
  EXPECT_EQ(stack.source(5).page, 1U);
  EXPECT_EQ(stack.source(5).sample, 2U);
}

TEST(Imagej, TagsThatAreDamagedAreLeftOut) {
  const std::string header = "IJIJ" + std::string("labl") + std::string("\0\0\0\2", 4);
  const std::string text = header + std::string("\0a\0b", 4) + std::string("\xd8\x3d\xde\x00", 4);
  const std::vector<std::uint32_t> counts{12, 4, 4};
  const auto labels = [&](const std::string& data, const std::vector<std::uint32_t>& sizes) {
    Hyperstack stack = read_imagej("slices=2\n", facts_of(2)).value();
    add_imagej_tags(stack, {std::as_bytes(std::span(data)), sizes});
    return stack.labels.dump();
  };
  EXPECT_EQ(labels(text, counts), "[\"ab\",\"\xf0\x9f\x98\x80\"]");
  EXPECT_EQ(labels(text, {12, 4, 5}), "null");
  EXPECT_EQ(labels(text, {12, 4}), "null");
  EXPECT_EQ(labels(text, {}), "null");
  EXPECT_EQ(labels(text, {400, 4, 4}), "null");
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = '\xff';
    (void)labels(damaged, counts);
    (void)labels(text.substr(0, i), counts);
  }
}

}  // namespace imagej_test
}  // namespace sherd::hyperstack_testing
