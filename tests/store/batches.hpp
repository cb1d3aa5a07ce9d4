// A store that reads in batches: a base for stores of tests that look at what is requested together.
#pragma once

#include <span>
#include <vector>

#include "base/try.hpp"
#include "store/forwarding.hpp"

namespace sherd {

class BatchStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  /// A batch is all that the queue has at a time.
  Result<void> read(ReadQueue& queue) final {
    for (std::size_t first = 0;;) {
      std::vector<ReadRequest> batch;
      while (auto request = queue.next(batch.empty())) batch.push_back(*std::move(request));
      if (batch.empty()) return {};
      SHERD_TRY(read_batch(
          batch, [&](std::size_t i, Result<ReadReply> reply) { return queue.reply(first + i, std::move(reply)); }));
      first += batch.size();
    }
  }

 protected:
  /// The default finds the objects one after the other.
  virtual Result<void> read_batch(std::span<const ReadRequest> batch, const OnReply& reply) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      SHERD_TRY(reply(i, [&]() -> Result<ReadReply> {
        if (batch[i].of) return reply_from(batch[i].of, batch[i]);
        SHERD_TRY(source, find(batch[i].key));
        return reply_from(std::move(source), batch[i]);
      }()));
    }
    return {};
  }
};

}  // namespace sherd
