// Amends objects of a store by texts.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "store/amendment.hpp"

namespace sherd {

/// Amends the version `of` by texts at offsets; `alignment` as in Amendment.
inline Result<Generation> amend(Store& store, const std::string& key, ByteSource& of,
                                const std::map<std::uint64_t, std::string>& texts, std::uint64_t alignment = 0) {
  SHERD_TRY(generation, of.generation());
  SHERD_TRY(size, of.size());
  AmendmentWriter writer(std::move(generation), size, alignment);
  for (const auto& [offset, text] : texts) SHERD_TRY(writer.write(offset, as_bytes(text)));
  SHERD_TRY(amendment, writer.amendment());
  return store.amend(key, amendment);
}

/// Amends the present version, which exists.
inline Result<Generation> amend(Store& store, const std::string& key, const std::map<std::uint64_t, std::string>& texts,
                                std::uint64_t alignment = 0) {
  SHERD_TRY(source, store.open(key));
  return amend(store, key, *source, texts, alignment);
}

}  // namespace sherd
