// One version of an object on a server, and the validators by which replies are known to be of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/buffer.hpp"
#include "remote/connection.hpp"
#include "remote/service.hpp"
#include "sherd/store.hpp"

namespace sherd::remote {

/// What a reply says of the version that it is from. Texts are empty if it does not say it.
struct Version {
  std::string etag, modified;
  std::uint64_t size = 0;
  bool is_listed = false;  ///< a list has shown it: its ETag and size are compared

  /// Whether a reply with validators like these is of the same version. Two replies without any are not known to
  /// differ.
  [[nodiscard]] bool is_like(const Version& other) const noexcept {
    return etag == other.etag && size == other.size && (is_listed || modified == other.modified);
  }
  /// Empty without a validator: such an object is never cached across calls.
  [[nodiscard]] Generation generation() const;
};

/// The parts of a remote store that its sources need too.
struct Server {
  std::shared_ptr<Service> service;
  Connection connection;
};

class RemoteSource final : public ByteSource {
 public:
  /// `whole`: all bytes, if the server has no ranges of the object; otherwise nullptr.
  RemoteSource(std::shared_ptr<const Server> server, std::string key, Version version,
               std::shared_ptr<const Buffer> whole)
      : server_(std::move(server)), key_(std::move(key)), version_(std::move(version)), whole_(std::move(whole)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return key_; }
  Result<std::uint64_t> size() override { return version_.size; }
  Result<Generation> generation() override { return version_.generation(); }
  Result<void> read(std::span<const RangeRead> ranges) override;
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override {
    return whole_ ? std::optional(whole_->span()) : std::nullopt;
  }

  [[nodiscard]] const Version& version() const noexcept { return version_; }
  [[nodiscard]] const Server& server() const noexcept { return *server_; }

 private:
  const std::shared_ptr<const Server> server_;
  const std::string key_;
  const Version version_;
  const std::shared_ptr<const Buffer> whole_;
};

}  // namespace sherd::remote
