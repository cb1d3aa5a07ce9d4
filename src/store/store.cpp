// Shared by all stores: whole objects, depth-first lists, and the slow but general ways to answer a batch and to copy.
// Sizes are compared with a bound before memory is allocated.
#include "sherd/store.hpp"

#include <algorithm>
#include <exception>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/read_into.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kCopyBlock = std::uint64_t{1} << 20;

/// A directory on the path of a list, and how far it has been visited. Names of prefixes end in `/` here, so that
/// sorting the names sorts the keys.
struct Level {
  struct Child {
    std::string name;
    std::uint64_t size = 0;
  };
  std::string prefix;
  std::vector<Child> children;
  std::size_t next = 0;
};

Result<Level> read_level(Store& store, std::string prefix) {
  SHERD_TRY(listing, store.list_dir(prefix));
  Level level;
  level.prefix = std::move(prefix);
  level.children.reserve(listing.objects.size() + listing.prefixes.size());
  for (auto& object : listing.objects) level.children.push_back({std::move(object.name), object.size});
  for (auto& name : listing.prefixes) level.children.push_back({std::move(name) + "/", 0});
  std::ranges::sort(level.children, {}, &Level::Child::name);
  return level;
}

}  // namespace

void ByteSource::outlive_appends(IsIntact /*is_intact*/) {}

Result<void> check_range(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  if (offset <= size && length <= size - offset) return {};
  return corrupt("a read of " + std::to_string(length) + " bytes at " + std::to_string(offset) +
                 " ends beyond the object's " + std::to_string(size));
}

Result<Extent> range_of(const ReadRequest& request, std::uint64_t size) {
  const std::uint64_t longest = request.into.empty() ? ReadRequest::kToEnd : request.into.size();
  const std::uint64_t wanted = std::min(request.length, longest);
  if (request.from_end) {
    const std::uint64_t length = std::min(wanted, size);
    return Extent{size - length, length};
  }
  if (request.of && request.length != ReadRequest::kToEnd) {
    SHERD_TRY(check_range(request.offset, wanted, size));
    return Extent{request.offset, wanted};
  }
  const std::uint64_t offset = std::min(request.offset, size);
  return Extent{offset, std::min(wanted, size - offset)};
}

Result<ReadReply> reply_from(std::shared_ptr<ByteSource> source, const ReadRequest& request) {
  ReadReply reply{.source = std::move(source)};
  if (reply.source == nullptr) return reply;
  SHERD_TRY(size, reply.source->size());
  SHERD_TRY(range, range_of(request, size).in_key(reply.source->name()));
  const auto [offset, length] = range;
  reply.offset = offset;
  if (request.into.empty()) {
    if (const auto view = reply.source->view()) {
      reply.bytes = view->subspan(offset, length);
      reply.owner = reply.source;
      return reply;
    }
  }
  std::span<std::byte> into = request.into.first(request.into.empty() ? 0 : length);
  if (request.into.empty() && length > 0) {
    auto buffer = std::make_shared<Scratch>();
    SHERD_TRY((*buffer)->resize(length).in_key(reply.source->name()));
    into = (*buffer)->span();
    reply.owner = std::move(buffer);
  }
  SHERD_TRY(read_into(*reply.source, offset, into));
  reply.bytes = into;
  return reply;
}

Result<void> reply_to_each(ReadQueue& queue, const std::function<Result<ReadReply>(const ReadRequest&)>& answer) {
  for (std::size_t number = 0; const auto request = queue.next(true); ++number) {
    if (number > 0) SHERD_TRY(check_interrupted());
    SHERD_TRY(queue.reply(number, answer(*request)));
  }
  return {};
}

Result<ReadReply> read_one(Store& store, const ReadRequest& request) {
  Result<ReadReply> answered = ReadReply{};
  SHERD_TRY(store.read_all({&request, 1}, [&](std::size_t, Result<ReadReply> reply) -> Result<void> {
    answered = std::move(reply);
    return {};
  }));
  return answered;
}

Result<void> reply_from_found(ReadQueue& queue,
                              const std::function<Result<std::shared_ptr<ByteSource>>(const std::string& key)>& find) {
  return reply_to_each(queue, [&](const ReadRequest& request) -> Result<ReadReply> {
    if (request.of) return reply_from(request.of, request);
    SHERD_TRY(source, find(request.key));
    return reply_from(std::move(source), request);
  });
}

namespace {

class ReadAll final : public ReadQueue {
 public:
  ReadAll(std::span<const ReadRequest> requests, const OnReply& reply) : requests_(requests), reply_(reply) {}

  std::optional<ReadRequest> next(bool) override {
    return next_ < requests_.size() ? std::optional(requests_[next_++]) : std::nullopt;
  }
  Result<void> reply(std::size_t number, Result<ReadReply> reply) override { return reply_(number, std::move(reply)); }

 private:
  std::span<const ReadRequest> requests_;
  const OnReply& reply_;
  std::size_t next_ = 0;
};

Error cannot_write(const Store& store) { return unsupported("the store " + store.url() + " cannot be written"); }

}  // namespace

Result<void> Store::read_all(std::span<const ReadRequest> requests, const OnReply& reply) {
  ReadAll all(requests, reply);
  return read(all);
}

Result<std::shared_ptr<ByteSource>> Store::open(const std::string& key) {
  SHERD_TRY(reply, read_one(*this, {.key = key, .length = 0}));
  return std::move(reply.source);
}

Result<void> ObjectWriter::link(const std::string& key) {
  return unsupported("an object cannot have two names in this store; that needs a file system with hard links")
      .in_key(key);
}

Result<void> ObjectWriter::copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                                std::uint64_t to_offset) {
  if (const auto bytes = from.view()) {
    if (from_offset > bytes->size() || length > bytes->size() - from_offset) {
      return corrupt("a copy ends beyond the object's " + std::to_string(bytes->size()) + " bytes").in_key(from.name());
    }
    return write(to_offset, bytes->subspan(from_offset, length));
  }
  if (!checked_add(from_offset, length) || !checked_add(to_offset, length)) {
    return invalid_argument("a copy ends beyond 2^64 bytes");
  }
  Buffer block;
  SHERD_TRY(block.resize(static_cast<std::size_t>(std::min(length, kCopyBlock))));
  for (std::uint64_t done = 0; done < length;) {
    const auto bytes =
        block.span().first(static_cast<std::size_t>(std::min<std::uint64_t>(length - done, block.size())));
    SHERD_TRY(read_into(from, from_offset + done, bytes));
    SHERD_TRY(write(to_offset + done, bytes));
    done += bytes.size();
  }
  return {};
}

namespace {

Error beyond_limit(const std::string& key, std::uint64_t size, std::uint64_t max_bytes) {
  return unsupported("the object has " + std::to_string(size) + " bytes, more than the limit of " +
                     std::to_string(max_bytes))
      .in_key(key);
}

// One request, without another one for the size.
Result<std::optional<std::string>> get_at_once(Store& store, const std::string& key, std::uint64_t max_bytes) {
  SHERD_TRY(reply, read_one(store, {.key = key, .length = limit_plus(max_bytes, 1)}));
  if (!reply.source) return std::optional<std::string>();
  SHERD_TRY(size, reply.source->size());
  if (size > max_bytes) return beyond_limit(key, size, max_bytes);
  return std::optional(std::string(reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size()));
}

}  // namespace

Result<std::optional<std::string>> Store::get(const std::string& key, std::uint64_t max_bytes) {
  if (traits().parallel_requests > 1) return get_at_once(*this, key, max_bytes);
  SHERD_TRY(source, open(key));
  if (!source) return std::optional<std::string>();
  SHERD_TRY(size, source->size());
  if (size > max_bytes) return beyond_limit(key, size, max_bytes);
  std::string text;
  try {
    text.resize(static_cast<std::size_t>(size));
  } catch (const std::exception&) {
    return unavailable("no memory for an object of " + std::to_string(size) + " bytes").in_key(key);
  }
  SHERD_TRY(read_into(*source, 0, std::as_writable_bytes(std::span(text))));
  return std::optional<std::string>(std::move(text));
}

Result<void> Store::set(const std::string& key, std::span<const std::byte> bytes, const Condition& condition) {
  SHERD_TRY(writer, write(key, {.size = bytes.size(), .is_conditional = condition.kind == Condition::Kind::matches}));
  SHERD_TRY(writer->write(0, bytes));
  return writer->commit(condition);
}

Result<void> Store::set(const std::string& key, std::string_view text, const Condition& condition) {
  return set(key, as_bytes(text), condition);
}

Result<void> Store::wait_for_writers(const std::string& prefix) { return check_prefix(prefix); }

Result<void> Store::finish() { return {}; }

Result<std::optional<ParentStore>> Store::parent() const { return std::optional<ParentStore>(); }

Result<std::unique_ptr<ObjectWriter>> Store::write(const std::string& key, const WriteHints&) {
  return cannot_write(*this).in_key(key);
}

Result<std::unique_ptr<StoreLock>> Store::lock(const std::string& key) {
  SHERD_TRY(check_key(key));
  return std::make_unique<StoreLock>();
}

Result<Erased> Store::erase(const std::string& key, const Condition&) { return cannot_write(*this).in_key(key); }

Result<void> Store::erase_all(std::span<const std::string> keys) {
  for (const std::string& key : keys) {
    SHERD_TRY(check_interrupted());
    SHERD_TRY(erase(key));
  }
  return {};
}

Result<Listing> Store::list_dir(const std::string& prefix) {
  Listing listing;
  SHERD_TRY(visit(prefix, ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
    if (entry.is_prefix)
      listing.prefixes.emplace_back(entry.name);
    else
      listing.objects.push_back({std::string(entry.name), entry.size});
    return true;
  }));
  std::ranges::sort(listing.objects, {}, &Listing::Object::name);
  std::ranges::sort(listing.prefixes);
  return listing;
}

Result<void> Store::erase_prefix(const std::string& prefix) {
  std::vector<std::string> keys;
  const auto erase_page = [&]() -> Result<void> { return erase_all(std::exchange(keys, {})); };
  SHERD_TRY(visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    keys.push_back(prefix + std::string(entry.name));
    if (keys.size() == kListPage) SHERD_TRY(erase_page());
    return true;
  }));
  return erase_page();
}

Result<bool> Store::list(const std::string& prefix,
                         const std::function<bool(const std::string&, std::uint64_t)>& visit) {
  if (traits().sorted_lists)
    return this->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
      return visit(prefix + std::string(entry.name), entry.size);
    });
  std::vector<Level> levels;
  SHERD_TRY(first, read_level(*this, prefix));
  levels.push_back(std::move(first));
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.children.size()) {
      levels.pop_back();
      continue;
    }
    const auto& child = level.children[level.next++];
    std::string key = level.prefix + child.name;
    if (key.ends_with('/')) {
      SHERD_TRY(below, read_level(*this, std::move(key)));
      levels.push_back(std::move(below));
    } else if (!visit(key, child.size)) {
      return false;
    }
  }
  return true;
}

}  // namespace sherd
