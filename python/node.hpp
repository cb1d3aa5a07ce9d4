// Shared by arrays and groups in Python: how their location is named and how they are pickled.
#pragma once

#include <nanobind/nanobind.h>

#include "python/access.hpp"
#include "python/bindings.hpp"
#include "python/config.hpp"
#include "sherd/group.hpp"

namespace sherd::python {

/// The store that a path, a URL, an os.PathLike or a Store names.
[[nodiscard]] std::shared_ptr<Store> store_from(nb::handle value, const Config& config);
/// The stores of a copy. Each gets the storage options that it has.
[[nodiscard]] std::pair<std::shared_ptr<Store>, std::shared_ptr<Store>> stores_of_copy(nb::handle source,
                                                                                       nb::handle destination,
                                                                                       const Config& config);
/// The store that store_from() finds, for a handle with this config. `config` gets the storage options of a Store, with
/// which the handle is pickled.
[[nodiscard]] std::shared_ptr<Store> store_for_handle(nb::handle value, Config& config);
/// Finishes the store that a handle without one names.
void finish_at(const std::string& url, const Config& config);
/// The Store or MemoryStore of a node.
[[nodiscard]] nb::object store_to(std::shared_ptr<Store> store, const Config& config);
/// Whether it is a Store, whose root is the root of a hierarchy; a path or URL may lead into a hierarchy.
[[nodiscard]] bool is_store(nb::handle value);
/// The path or URL that a `store` argument is; nullopt for a Store.
[[nodiscard]] std::optional<std::string> name_from(nb::handle value);
/// CreateOptions from the dict made by sherd._options.
[[nodiscard]] CreateOptions create_options(const nb::dict& options, Config config);
[[nodiscard]] nb::object node_to(Node node);

/// The URL of a store in a pickle. A query is replaced with `?...`; whoever loads the pickle gives it as an option.
[[nodiscard]] std::string url_in_pickle(const Store& store);

/// (function, arguments) for pickle. InvalidArgument if the store is in memory.
template <class Handle>
nb::tuple reduce(const Handle& node) {
  const std::string& url = node.store()->url();
  if (url.starts_with("memory:"))
    throw Exception(invalid_argument(
        "a node in a memory store cannot be pickled, because other processes cannot see it; use a directory"));
  const nb::object reopen = nb::module_::import_("sherd._nodes").attr("reopen");
  return nb::make_tuple(
      reopen, nb::make_tuple(url_in_pickle(*node.store()).c_str(), node.path().c_str(), !node.read_only(),
                             nb::str(node.format().data(), node.format().size()), config_to(node.config(), url)));
}

}  // namespace sherd::python
