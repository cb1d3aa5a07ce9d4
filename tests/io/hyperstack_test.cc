// Metadata of TIFF files that lie: they are refused or left out, and nothing is allocated for what they promise.
// tests/cli/hyperstacks_test.py compares what is read with tifffile.
#include "io/hyperstack.hpp"

#include "tests/io/files_testing.hpp"

namespace sherd {
namespace {

using namespace files_testing;
using testing::HasSubstr;

PageFacts facts_of(std::uint64_t pages, std::uint64_t samples = 1) {
  PageFacts facts;
  facts.pages = pages;
  facts.width = 7;
  facts.height = 5;
  facts.samples = samples;
  facts.name = "a.ome.tif";
  return facts;
}

std::string ome(const std::string& attributes, const std::string& inside = "") {
  return R"(<OME><Image><Pixels DimensionOrder="XYZCT" SizeX="7" SizeY="5" )" + attributes + ">" + inside +
         "</Pixels></Image></OME>";
}

Result<Hyperstack> read_ome(const std::string& xml, const PageFacts& facts) { return ome_hyperstack(xml, facts, {}); }

TEST(OmeXml, PlanesArePagesInTheOrderOfTheDimensions) {
  const auto stack = read_ome(ome(R"(SizeT="2" SizeC="1" SizeZ="3")"), facts_of(6)).value();
  EXPECT_EQ(stack.axes, (std::vector<std::string>{"t", "z"}));
  EXPECT_EQ(stack.lengths, (Shape{2, 3}));
  EXPECT_EQ(stack.pages, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(OmeXml, OfAnImageThatTheFileCannotHoldIsRefusedBeforeAnythingIsAllocated) {
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

Result<Hyperstack> read_imagej(const std::string& text, const PageFacts& facts) {
  return imagej_hyperstack(ImagejDescription::parse("ImageJ=1.54\n" + text, facts), facts);
}

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

TEST(Hyperstack, ADamagedFileWithMetadataIsReadOrRefused) {
  for (const char* name : {"imagej_hyperstack.tif", "hyperstack.ome.tif"}) {
    expect_cuts_refused(name);
    expect_damage_survived(name);
  }
}

}  // namespace
}  // namespace sherd
