// The stores around a store: those in which its root is a directory.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sherd/store.hpp"

namespace sherd {

/// Calls visit(outer store, path from there to the store's root) for the stores around a store (Store::parent()),
/// innermost first, until it returns true.
using VisitAbove = std::function<Result<bool>(const std::shared_ptr<Store>& outer, const std::string& path)>;
Result<void> for_each_above(const Store& store, const VisitAbove& visit);

}  // namespace sherd
