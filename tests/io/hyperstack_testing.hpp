// TIFF files with metadata of ImageJ and OME, for the tests of what lies.
#pragma once

#include "io/hyperstack.hpp"

#include "tests/io/files_testing.hpp"

namespace sherd::hyperstack_testing {

using namespace files_testing;

inline PageFacts facts_of(std::uint64_t pages, std::uint64_t samples = 1) {
  PageFacts facts;
  facts.pages = pages;
  facts.width = 7;
  facts.height = 5;
  facts.samples = samples;
  facts.name = "a.ome.tif";
  return facts;
}

inline std::string ome(const std::string& attributes, const std::string& inside = "") {
  return R"(<OME><Image><Pixels DimensionOrder="XYZCT" SizeX="7" SizeY="5" )" + attributes + ">" + inside +
         "</Pixels></Image></OME>";
}

inline Result<Hyperstack> read_ome(const std::string& xml, const PageFacts& facts) {
  return ome_hyperstack(xml, facts, {});
}

inline Result<Hyperstack> read_imagej(const std::string& text, const PageFacts& facts) {
  return imagej_hyperstack(ImagejDescription::parse("ImageJ=1.54\n" + text, facts), facts);
}

}  // namespace sherd::hyperstack_testing
