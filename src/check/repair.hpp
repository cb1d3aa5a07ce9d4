// Repairs one object of an array: an index that cannot be read, and slots whose chunks cannot be read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/object.hpp"
#include "check/rewrite.hpp"

namespace sherd {

/// Keeps a copy of the version that is held, if `wanted`, under the first name of backup_of() that is free, and then
/// calls `change`. Returns the key of the copy, empty if there is none; if `change` refuses, the copy is removed again.
Result<std::string> with_backup(const HeldObject& held, bool wanted, const std::function<Result<void>()>& change);

/// Empties broken slots, and erases an object that is broken as a whole.
Result<Repair> drop_broken(const HeldObject& held, const std::set<SlotPath>& broken, bool backup);

/// Copies a good second index over one that is torn at the beginning of a shard, or cuts a shard with its index at the
/// end after the last index in it that is sound. `unsupported` says why neither is possible.
Result<Repair> repair_index(const HeldObject& held, const ObjectCheck& check, bool backup);

/// Checks objects of an array and, if there are options, repairs what is wrong with them.
class ObjectRepair {
 public:
  /// `store` has the objects, which for chunks with ids are shards. References must outlive this.
  ObjectRepair(const Array::State& state, Store& store, const ObjectCheck& check,
               const std::optional<RepairOptions>& options)
      : state_(state), store_(store), check_(check), options_(options) {}

  /// The findings that remain, with what was done before. A warning `not_repaired` says why nothing more was done.
  Result<std::unique_ptr<Findings>> run(const Shape& cell, const std::string& key,
                                        std::shared_ptr<ByteSource> listed) const;

 private:
  Result<Repair> repaired(const Shape& cell, const std::string& key, const Findings& found) const;
  Result<Repair> attempt(const HeldObject& held, const Findings& found) const;

  const Array::State& state_;
  Store& store_;
  const ObjectCheck& check_;
  const std::optional<RepairOptions>& options_;
};

/// What became of an attempt to repair: nullopt, and a warning in `found`, if it is not possible. Returns an error only
/// if the check cannot continue.
Result<std::optional<Repair>> noted(Result<Repair> repaired, Findings& found);

}  // namespace sherd
