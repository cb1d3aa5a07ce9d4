// A transfer of a part of an object, or of all of it, into memory. A body that is cut is resumed where it ended, under
// the same version. What servers do with a range differs, so every reply is compared with what was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/buffer.hpp"
#include "remote/remote_source.hpp"
#include "remote/service.hpp"

namespace sherd::remote {

/// Which part of an object is read.
struct Part {
  enum class Kind : std::uint8_t {
    whole,   ///< from the beginning, at most `length` bytes; may be decoded
    suffix,  ///< the last `length` bytes
    range,   ///< `length` bytes at `offset`, or as many as there are
    head,    ///< nothing, only the version
  } kind = Kind::whole;
  std::uint64_t offset = 0;
  std::uint64_t length = ReadRequest::kToEnd;
};

class RangeTransfer : public Transfer {
 public:
  /// `version`: the one to read; then the part is a range inside it. `into`: where the bytes go; if empty, they go to
  /// memory of the transfer.
  RangeTransfer(const Server& server, const std::string& key, Part part, std::optional<Version> version,
                std::span<std::byte> into)
      : server_(server),
        key_(key),
        part_(part),
        is_pinned_(version.has_value()),
        version_(std::move(version)),
        into_(into) {}

  [[nodiscard]] bool has_ended() const noexcept { return outcome_.has_value(); }
  /// Whether the object exists, or the failure. After the end.
  [[nodiscard]] Result<bool>& outcome() noexcept { return *outcome_; }
  [[nodiscard]] const Version& version() const noexcept { return *version_; }
  /// The offset of the first byte in the object, and the bytes.
  [[nodiscard]] std::uint64_t offset() const noexcept { return first_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  /// The memory of the transfer that bytes() are in; null if they are elsewhere.
  [[nodiscard]] const std::shared_ptr<std::byte>& block() const noexcept { return block_; }
  /// All of the object, if has_whole().
  [[nodiscard]] Buffer& buffer() noexcept { return buffer_; }
  /// Whether the buffer has all of the object, because the server has no ranges of it.
  [[nodiscard]] bool has_whole() const noexcept { return has_whole_; }

 protected:
  Result<Attempt> attempt() override;
  Result<Wants> accept(const HttpHead& head) override;
  Result<bool> receive(std::span<const std::byte> bytes) override;
  Verdict judge(const HttpReply& reply) override;
  Verdict complete() override;
  void finish(Result<bool> exists) override { outcome_ = std::move(exists).in_key(key_); }

 private:
  [[nodiscard]] bool differs(Version version);
  Result<Wants> not_in_parts();
  Result<Wants> accept_part(const HttpHead& head);
  Result<Wants> accept_whole(const HttpHead& head);
  Result<Wants> begin(std::uint64_t first, std::uint64_t length);
  [[nodiscard]] std::uint64_t unsized_limit() const noexcept;
  Result<bool> receive_unsized(std::span<const std::byte> bytes);
  void take_part();
  void start_over() noexcept;
  void release_block() noexcept;
  Verdict changed();
  Verdict judge_no_range(const HttpReply& reply);

  const Server& server_;
  const std::string& key_;
  const Part part_;
  const bool is_pinned_;
  std::optional<Version> version_;  ///< of the first reply, unless given
  std::span<std::byte> into_;
  std::shared_ptr<std::byte> block_;  ///< what into_ is, unless the caller gave it
  Buffer buffer_;
  bool is_sized_ = false;       ///< first_ and wanted_ are known
  std::uint64_t first_ = 0;     ///< offset of the part in the object
  std::uint64_t wanted_ = 0;    ///< length of the part
  std::uint64_t received_ = 0;  ///< of it or, if it is not sized, of the object
  std::uint64_t skipped_ = 0;   ///< where the part begins in the buffer
  bool has_ranges_ = true;      ///< the server answers ranges with parts
  bool has_whole_ = false;
  bool asks_range_ = false, asks_version_ = false, has_changed_ = false;  // in this attempt
  std::string url_;                                                       ///< of this attempt
  std::string location_;                                                  ///< where a redirect leads
  unsigned redirects_ = 0;
  std::optional<Result<bool>> outcome_;
};

}  // namespace sherd::remote
