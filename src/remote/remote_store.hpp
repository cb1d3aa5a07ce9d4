// The store of a server, whatever its kind: requests of a queue become transfers, as many at a time as the connection
// allows, and large ranges are divided into several.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "remote/connection.hpp"
#include "remote/remote_source.hpp"
#include "remote/service.hpp"
#include "sherd/store.hpp"
#include "store/capabilities.hpp"

namespace sherd::remote {

/// A store that is only read.
class RemoteStore : public Store, public QueriedStore {
 public:
  explicit RemoteStore(std::shared_ptr<const Server> server) : server_(std::move(server)) {}

  [[nodiscard]] const std::string& url() const noexcept override { return server_->service->url(); }
  [[nodiscard]] bool has_query() const noexcept override { return server_->service->has_query(); }
  [[nodiscard]] StoreTraits traits() const noexcept override;
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override;
  Result<void> read(ReadQueue& queue) override;
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;

 protected:
  const std::shared_ptr<const Server> server_;

 private:
  Result<ListPage> page(const std::string& prefix, ListDepth depth, const std::string& from);
};

[[nodiscard]] std::shared_ptr<Store> remote_store(std::shared_ptr<Service> service, const Connection& connection);

}  // namespace sherd::remote
