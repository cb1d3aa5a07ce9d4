// A request of a ReadQueue as transfers: one or, if its length is known and large, several at the same time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "remote/range_transfer.hpp"
#include "remote/remote_source.hpp"
#include "sherd/store.hpp"

namespace sherd::remote {

class ReadJob {
 public:
  ReadJob(std::shared_ptr<const Server> server, std::size_t number, ReadRequest request);

  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// The transfers. None if nothing is to be read.
  Result<std::vector<Transfer*>> begin();
  [[nodiscard]] bool has_ended() const noexcept;
  /// The reply, once all transfers have ended.
  Result<ReadReply> reply();

 private:
  Result<std::vector<Transfer*>> begin_range(const RemoteSource& source);

  const std::shared_ptr<const Server> server_;
  const std::size_t number_;
  const ReadRequest request_;
  const std::string key_;
  std::shared_ptr<std::byte> block_;  ///< of several parts
  std::span<std::byte> into_;
  std::optional<ReadReply> held_;  ///< of a source that has its bytes in memory
  std::vector<std::unique_ptr<RangeTransfer>> parts_;
};

}  // namespace sherd::remote
