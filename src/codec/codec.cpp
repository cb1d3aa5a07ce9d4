// Finds the entry of a codec's name in the table that was passed down, and the error of one that only decodes.
#include "codec/codec.hpp"

#include <algorithm>

namespace sherd {

const CodecEntry* find_codec(CodecTable table, std::string_view name) noexcept {
  for (const CodecEntry* entry : table) {
    if (entry->name == name || std::find(entry->aliases.begin(), entry->aliases.end(), name) != entry->aliases.end())
      return entry;
  }
  return nullptr;
}

Error only_decodes(std::string_view name) {
  return unsupported("chunks of '" + std::string(name) +
                     "' can be read but not written; choose other codecs, for an existing array in a copy of it");
}

}  // namespace sherd
