// Datasets in memory, from the texts of their documents.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

using Texts = std::vector<std::pair<std::string, std::string>>;

inline std::shared_ptr<Store> store_of(const Texts& texts) {
  auto store = memory_store();
  for (const auto& [key, text] : texts) store->set(key, text).value();
  return store;
}
inline Result<Dataset> open_texts(const Texts& texts, const Mode& mode = {}) {
  return Dataset::open(store_of(texts), {.mode = mode});
}

/// A document of an array of Zarr v2, with `more` members.
inline std::string zarray(const std::string& shape, const std::string& dtype, const std::string& more = {}) {
  return R"({"zarr_format": 2, "shape": )" + shape + R"(, "chunks": )" + shape + R"(, "dtype": ")" + dtype +
         R"(", "fill_value": null, "order": "C", "compressor": null, "filters": null)" + more + "}";
}

inline std::string text_of(const Dataset& dataset, DumpOptions options = {}) {
  std::string text;
  options.name = "x";
  dump(dataset, options, [&](std::string_view part) -> Result<void> {
    text += part;
    return {};
  }).value();
  return text;
}
inline std::string header_of(const Dataset& dataset) { return text_of(dataset, {.header_only = true}); }

}  // namespace sherd::netcdf
