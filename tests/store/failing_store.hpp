// A store that starts to fail: at the n-th commit, or when a given object is read or written.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "store/forwarding.hpp"

namespace sherd::tools_testing {

class FailingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::atomic<int> commits_left{1 << 30};  ///< then every commit is an error
  std::string unreadable;                  ///< the key whose reads are errors
  std::string unwritable;                  ///< the key whose commits are errors

  Result<std::shared_ptr<ByteSource>> find(const std::string& key) override {
    auto source = store_->open(key);
    if (source && *source && key == unreadable) return std::make_shared<Source>(*std::move(source));
    return source;
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    auto writer = store_->write(key, hints);
    if (!writer) return writer;
    return std::make_unique<Writer>(*std::move(writer), *this, key);
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    if (key == unwritable || commits_left-- <= 0) return io_error("no space left on device");
    return store_->amend(key, amendment);
  }

 private:
  class Source final : public ForwardingSource {
   public:
    using ForwardingSource::ForwardingSource;
    Result<void> read(std::span<const RangeRead>) override { return io_error("the disk is broken"); }
  };
  class Writer final : public ForwardingWriter {
   public:
    Writer(std::unique_ptr<ObjectWriter> writer, FailingStore& store, std::string key)
        : ForwardingWriter(std::move(writer)), store_(store), key_(std::move(key)) {}
    Result<void> commit(const Condition& condition) override {
      if (key_ == store_.unwritable || store_.commits_left-- <= 0) return io_error("no space left on device");
      return writer_->commit(condition);
    }

   private:
    FailingStore& store_;
    std::string key_;
  };
};

}  // namespace sherd::tools_testing
