// Datasets with one document changed, for the tests of damage.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "netcdf/elements.hpp"
#include "sherd/group.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/test_store.hpp"

namespace sherd::netcdf::damaged_testing {

inline const std::pair<std::string, std::string> kGroup{".zgroup", R"({"zarr_format": 2})"};
inline const std::pair<std::string, std::string> kGood{"good/.zarray", zarray("[2]", "<i4")};

/// The dataset with a good variable, and a warning about a bad one.
inline void expect_only_good(const Texts& texts, const std::string& warning) {
  Texts all = texts;
  all.insert(all.end(), {kGroup, kGood});
  const auto dataset = open_texts(all);
  ASSERT_TRUE(dataset.has_value()) << dataset.error().text();
  EXPECT_TRUE(dataset->root().variable("good"));
  EXPECT_FALSE(dataset->root().variable("bad"));
  EXPECT_THAT(dataset->warnings(),
              testing::ElementsAre(testing::AllOf(testing::HasSubstr("/bad: "), testing::HasSubstr(warning))));
}

inline Texts listing(const std::string& note) {
  return {{".zgroup", R"({"zarr_format": 2, "_nczarr_group": )" + note + "}"}, kGood};
}

/// The document of an array with small chunks.
inline std::string sparse(const std::string& shape, const std::string& dtype, const std::string& chunks = "1") {
  std::string document = zarray("[" + chunks + "]", dtype);
  return document.replace(document.find("[") + 1, chunks.size(), shape);
}

}  // namespace sherd::netcdf::damaged_testing
