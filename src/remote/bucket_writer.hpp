// Writing an object of a bucket: by one request if it is small, else in parts that are sent as they become complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "remote/bucket_objects.hpp"
#include "remote/multipart_upload.hpp"
#include "remote/remote_source.hpp"
#include "sherd/store.hpp"
#include "store/key_locks.hpp"

namespace sherd::remote {

/// So many complete parts are sent together.
inline constexpr unsigned kPartsTogether = 4;

/// A part of an object. Parts have equal sizes, as some servers demand, up to the thousandth; then the sizes double
/// with each further thousand, so that ten thousand parts are enough for any object.
struct ObjectPart {
  unsigned number = 1;  ///< from 1
  std::uint64_t begin = 0, size = 0;
};
/// The part with the byte at `offset`. `unsupported` beyond the largest object.
[[nodiscard]] Result<ObjectPart> part_at(std::uint64_t offset, std::uint64_t part_bytes);

class BucketWriter final : public ObjectWriter {
 public:
  /// `is_single`: the object is stored by one request, however large it is, and is in memory until then.
  BucketWriter(std::shared_ptr<const BucketServer> server, std::string key, bool is_single, std::uint64_t expected_size,
               std::shared_ptr<KeyHold> hold);

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// What is a whole part, or the whole object, is copied by the server if `from` is there.
  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override;
  Result<void> commit(const Condition& condition) override;
  [[nodiscard]] Generation committed() const override { return committed_; }

 private:
  struct Filling {
    ObjectPart part;
    Scratch bytes = {};
    std::uint64_t filled = 0;
  };
  using Parts = std::vector<MultipartUpload::Part>;
  [[nodiscard]] Result<ObjectPart> part(std::uint64_t offset) const;
  Result<void> add(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<void> fill(const ObjectPart& part, std::uint64_t offset, std::span<const std::byte> bytes);
  Result<void> send(const Parts& parts);
  Result<void> send_complete(std::size_t at_least);
  Result<void> copy_now(ByteSource& from, std::uint64_t from_offset, std::uint64_t length, std::uint64_t to_offset);
  Result<void> read_and_add(ByteSource& from, std::uint64_t from_offset, std::uint64_t length, std::uint64_t to_offset);
  Result<void> settle_copy();
  Result<Generation> store(const Condition& condition);
  [[nodiscard]] Result<bool> may_be_copied(const Condition& condition);
  Result<Generation> store_copy(const Condition& condition);
  Result<Generation> store_parts(const Condition& condition);

  const std::shared_ptr<const BucketServer> server_;
  const std::string key_;
  const std::uint64_t part_bytes_;
  const std::uint64_t expected_size_;  ///< 0 if unknown
  WriterHold hold_;
  MultipartUpload upload_;
  Generation committed_;
  std::atomic<bool> has_failed_{false};
  std::shared_ptr<RemoteSource> copied_;  ///< all of this version is the object, if nothing else is written
  Buffer small_source_;                   ///< the bytes of the version that is copied from, if they are few
  std::string small_etag_;                ///< of that version
  std::mutex copy_mutex_, begin_mutex_;
  std::mutex mutex_;                     // guards what follows
  std::map<unsigned, Filling> filling_;  ///< parts that are not complete, by number
  std::vector<Filling> complete_;        ///< and not yet sent
  std::set<unsigned> sent_;
  std::uint64_t end_ = 0;  ///< of what was written so far
};

}  // namespace sherd::remote
