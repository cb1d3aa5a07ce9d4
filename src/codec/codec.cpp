// Finds the entry of a codec's name in the table that was passed down.
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

}  // namespace sherd
