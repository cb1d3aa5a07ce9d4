// Datasets in memory from CDL, and CDL that is refused.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sherd/netcdf_cdl.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {

/// The dataset in memory, as the writer leaves it.
inline Dataset dataset_of(const std::string& text, const CdlOptions& options = {},
                          const std::string& format = "zarr2") {
  const auto store = memory_store();
  auto writer = Writer::create(store, {.format = format}).value();
  Cdl::parse(text, options).value().write(writer).value();
  return Dataset::open(store).value();
}
inline std::string round_trip(const std::string& text, const CdlOptions& options = {},
                              const std::string& format = "zarr2") {
  return text_of(dataset_of(text, options, format));
}

/// A dataset with dimensions of all kinds, and what is behind `variables:`.
inline std::string with(const std::string& variables, const std::string& data = {}) {
  return "netcdf x {\ndimensions:\n  x = 4 ; y = 2 ; t = unlimited ; u = unlimited ;\nvariables:\n" + variables +
         (data.empty() ? "" : "\ndata:\n" + data) + "\n}\n";
}
/// The attribute `a` as it is printed, of a variable that has `text` as its value.
inline std::string attribute_of(const std::string& text, const std::string& type = {}) {
  const std::string header = header_of(dataset_of(with("int v ; " + type + " v:a = " + text + " ;")));
  const std::size_t begin = header.find("v:a = ") + 6;
  return header.substr(begin, header.find(" ;\n", begin) - begin);
}
/// The data of `v` as they are printed, without line breaks.
inline std::string data_of(const std::string& declaration, const std::string& text, const CdlOptions& options = {}) {
  const std::string all = round_trip(with(declaration, "v = " + text + " ;"), options);
  const std::size_t begin = all.find(" v =") + 4;
  std::string data;
  for (const char c : all.substr(begin, all.find(" ;\n", begin) - begin))
    if (c != '\n' && (c != ' ' || (!data.empty() && data.back() != ' '))) data += c;
  return data;
}

struct Refused {
  std::string text;
  ErrorCode code;
  std::string message;
};
inline void expect_refused(const std::vector<Refused>& rows) {
  for (const auto& [text, code, message] : rows) {
    const auto parsed = Cdl::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), code) << text;
    EXPECT_NE(parsed.error().text().find(message), std::string::npos) << text << "\n" << parsed.error().text();
  }
}

}  // namespace sherd::netcdf
