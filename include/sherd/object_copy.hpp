// Copies between stores of all objects, as they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

struct ObjectCopyOptions {
  /// Keeps objects of the destination that have the bytes of the source, and replaces others of the same key.
  bool resume = false;
  /// Replaces objects of the same key. Other objects of the destination stay.
  bool overwrite = false;
  Config config = {};  ///< memory_budget bounds the whole copy
};
struct ObjectCopyReport {
  std::uint64_t objects = 0, bytes = 0;  ///< written
  std::uint64_t skipped = 0;             ///< objects that were there already
};
/// Copies every object of a store to the same key of another one, several at a time, metadata documents after all other
/// objects. Each is read back, and its size and CRC-32C compared with those of the source: `corrupt` if they differ.
/// `conflict` if the destination is not empty, unless resumed or overwritten, if another process copies into it (where
/// there are locks, after it has waited for that), or if an object of the source is erased meanwhile. `unsupported` if
/// the source cannot list.
SHERD_API Result<ObjectCopyReport> copy_objects(std::shared_ptr<Store> source, std::shared_ptr<Store> destination,
                                                const ObjectCopyOptions& options = {});
/// Copies every object between the stores of two names, and finishes the destination.
SHERD_API Result<ObjectCopyReport> copy_objects(std::string_view source, std::string_view destination,
                                                const ObjectCopyOptions& options = {});

}  // namespace sherd
