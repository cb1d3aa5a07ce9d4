// OME-XML that lies: it is refused or left out, and nothing is allocated for what it promises.
// tests/cli/hyperstacks_test.py compares what is read with tifffile.
#include "tests/io/hyperstack_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::hyperstack_testing {
namespace ome_xml_read_test {

TEST(OmeXml, PlanesArePagesInTheOrderOfTheDimensions) {
  const auto stack = read_ome(ome(R"(SizeT="2" SizeC="1" SizeZ="3")"), facts_of(6)).value();
  EXPECT_EQ(stack.axes, (std::vector<std::string>{"t", "z"}));
  EXPECT_EQ(stack.lengths, (Shape{2, 3}));
  EXPECT_EQ(stack.pages, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(OmeXml, OfAnImpossiblyLargeImageIsRefusedBeforeAnyAllocation) {
  for (const char* sizes : {R"(SizeT="18446744073709551615" SizeC="18446744073709551615" SizeZ="2")",
                            R"(SizeT="1000000000000" SizeC="1" SizeZ="1")", R"(SizeT="0" SizeC="1" SizeZ="1")"})
    EXPECT_TRUE(fails(read_ome(ome(sizes), facts_of(6)), ErrorCode::corrupt, "the file has 6 pages")) << sizes;
  for (const char* sizes : {R"(SizeT="99999999999999999999" SizeC="1" SizeZ="1")", R"(SizeT="1e3" SizeC="1" SizeZ="1")",
                            R"(SizeT="" SizeC="1" SizeZ="1")", R"(SizeC="1" SizeZ="1")"})
    EXPECT_TRUE(fails(read_ome(ome(sizes), facts_of(6)), ErrorCode::corrupt, "Pixels.SizeT")) << sizes;
  EXPECT_TRUE(
      fails(read_ome(ome(R"(SizeT="1" SizeC="4" SizeZ="1")"), facts_of(1, 3)), ErrorCode::corrupt, "3 samples"));
}

TEST(OmeXml, OfManyElementsForTheSamePlanesIsRefusedAtTheFirst) {
  std::string data;
  for (int i = 0; i < 100000; ++i) data += "<TiffData/>";
  EXPECT_TRUE(fails(read_ome(ome(R"(SizeT="1" SizeC="1" SizeZ="6")", data), facts_of(6)), ErrorCode::corrupt,
                    "maps two pages to one plane"));
}

TEST(OmeXml, LimitsDepthAndSizeAndRefusesDocumentTypes) {
  std::string deep = "<OME>";
  for (int i = 0; i < 200000; ++i) deep += "<a>";
  EXPECT_TRUE(fails(read_ome(deep, facts_of(6)), ErrorCode::corrupt, "malformed"));
  const std::string entities = R"(<!DOCTYPE OME [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>)" +
                               ome(R"(SizeT="&b;" SizeC="1" SizeZ="1")");
  EXPECT_TRUE(fails(read_ome(entities, facts_of(6)), ErrorCode::corrupt, "SizeT is '&b;'"));
  Limits limits;
  limits.metadata_bytes = 100;
  EXPECT_TRUE(fails(ome_hyperstack(ome(std::string(200, ' ')), facts_of(6), limits), ErrorCode::unsupported,
                    "'metadata_bytes'"));
}

TEST(OmeXml, EveryCutOfItIsRefusedAndEveryDamagedByteSurvived) {
  const std::string whole = ome(
      R"(SizeT="1" SizeC="2" SizeZ="3" PhysicalSizeX="0.1" TimeIncrement="2")",
      R"(<Channel Name="a" Color="65535"/><Channel/><TiffData IFD="0" PlaneCount="6"><UUID FileName="a.ome.tif"/></TiffData>)");
  ASSERT_TRUE(read_ome(whole, facts_of(6)));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_ome(whole.substr(0, size), facts_of(6)));
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const char value : {'\0', '<', '"', '9', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = value;
      const auto stack = read_ome(damaged, facts_of(6));
      if (stack) {
        EXPECT_EQ(stack->planes(), element_count(stack->lengths).value());
      }
    }
}

TEST(OmeXml, SizesThatAreNotLengthsAreUnknown) {
  for (const char* size : {"0", "-1", "nan", "inf", "1e999", "x", ""}) {
    const auto stack =
        read_ome(ome(R"(SizeT="1" SizeC="1" SizeZ="1" PhysicalSizeX=")" + std::string(size) + "\""), facts_of(1))
            .value();
    EXPECT_EQ(stack.steps.at('x').size, 0) << size;
  }
  const auto pixels =
      read_ome(ome(R"(SizeT="1" SizeC="1" SizeZ="1" PhysicalSizeX="2" PhysicalSizeXUnit="pixel")"), facts_of(1))
          .value();
  EXPECT_EQ(pixels.steps.at('x').size, 0);
}

TEST(OmeXml, NamesThatAreNotUtf8BecomeAscii) {
  const auto stack =
      read_ome(ome(R"(SizeT="1" SizeC="1" SizeZ="1")", "<Channel Name=\"a\xffz\"/>"), facts_of(1)).value();
  EXPECT_EQ(stack.channels.dump(), R"([{"label":"a?z"}])");
}

TEST(OmeXml, ManySamplesOfManyPagesNeedNoExtraMemory) {
  const std::uint64_t samples = 65535;
  const auto stack = read_ome(ome(R"(SizeT="1" SizeC="65535" SizeZ="6")"), facts_of(6, samples)).value();
  EXPECT_EQ(stack.pages.size(), 6U);
  EXPECT_EQ(stack.lengths, (Shape{samples, 6}));
  EXPECT_EQ(stack.source(6 * 65534 + 5).page, 5U);
  EXPECT_EQ(stack.source(6 * 65534 + 5).sample, 65534U);
  EXPECT_TRUE(stack.channels.is_null());
}

}  // namespace ome_xml_read_test
}  // namespace sherd::hyperstack_testing
