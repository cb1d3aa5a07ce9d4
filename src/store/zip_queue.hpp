// Translates requests for members of a zip archive into requests for the archive.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "sherd/store.hpp"
#include "store/zip_source.hpp"

namespace sherd {

/// A queue for the archive's store. Each request leads to one of the archive, or to two at the same time if a member's
/// local header has not been read and is far from the range; requests follow replies only where a header has another
/// size than expected. Requests that need no bytes of the archive are answered at once.
class ZipQueue final : public ReadQueue {
 public:
  /// Opens an object, or returns nullptr.
  using Find = std::function<Result<std::shared_ptr<ByteSource>>(const std::string& key)>;
  ZipQueue(ReadQueue& queue, Find find, std::uint64_t coalesce_gap)
      : queue_(queue), find_(std::move(find)), coalesce_gap_(coalesce_gap) {}

  std::optional<ReadRequest> next(bool is_last) override;
  Result<void> reply(std::size_t number, Result<ReadReply> reply) override;
  /// The failure that ended next(), if any.
  [[nodiscard]] const Result<void>& outcome() const noexcept { return outcome_; }

 private:
  /// A request of the inner queue that is not yet answered.
  struct Job;
  /// What a request for the archive is for: the local header, the data, or both together.
  enum class Part : std::uint8_t { header, data, both };
  struct Sent {
    std::shared_ptr<Job> job;
    Part part = Part::both;
  };

  Result<void> begin(std::size_t number, const ReadRequest& request);
  void ask(const std::shared_ptr<Job>& job);
  void ask_data(const std::shared_ptr<Job>& job, std::uint64_t data);
  void send(const std::shared_ptr<Job>& job, Part part, ReadRequest request);
  Result<void> receive(const std::shared_ptr<Job>& job, Part part, const ReadReply& reply);
  Result<void> arrived(const std::shared_ptr<Job>& job);
  Result<void> finish(Job& job, const ReadReply& data);

  ReadQueue& queue_;
  const Find find_;
  const std::uint64_t coalesce_gap_;
  std::size_t asked_ = 0, sent_count_ = 0;
  std::deque<std::pair<Sent, ReadRequest>> ready_;
  std::unordered_map<std::size_t, Sent> sent_;
  Result<void> outcome_;
};

}  // namespace sherd
