// What is visible is decided under one mutex. Members are written outside of it, in a session, which begins with the
// first change and ends with finish().
#include "store/zip_contents.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/buffer.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "sherd/json.hpp"
#include "store/condition.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/read_into.hpp"
#include "store/reply.hpp"
#include "store/zip_encode.hpp"
#include "store/zip_first.hpp"
#include "store/zip_source.hpp"

namespace sherd {
namespace {

/// A member that is not in the archive yet.
class ZipSpooledSource final : public ByteSource {
 public:
  ZipSpooledSource(std::string key, std::shared_ptr<const ZipSpooled> member)
      : key_(std::move(key)), member_(std::move(member)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return key_; }
  Result<std::uint64_t> size() override { return member_->size; }
  Result<Generation> generation() override { return member_->generation; }
  Result<void> read(std::span<const RangeRead> ranges) override {
    for (const auto& [offset, into] : ranges) {
      SHERD_TRY(check_range(offset, into.size(), member_->size).in_key(key_));
      SHERD_TRY(member_->session().read(member_->data() + offset, into).in_key(key_));
    }
    return {};
  }

 private:
  const std::string key_;
  const std::shared_ptr<const ZipSpooled> member_;
};

/// Whether a comment describes the order of the members, as that of OME-NGFF does: a change does not keep it.
bool describes_order(const std::string& comment) {
  const auto json = Json::parse(comment);
  return json && json->is_object() && json->find("ome") != nullptr;
}

/// Why an archive with a member that cannot be read is not changed.
Error unchangeable(const Error& error) {
  if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::unsupported) return error;
  return Error(error.code(), error.message() +
                                 "; an archive with such a member is not changed: copy what can be read to a new one "
                                 "(sherd copy)")
      .in_key(error.key());
}

}  // namespace

/// Sources may outlive the store, but its lock does not.
ZipContents::~ZipContents() {
  if (session_) session_->drop();
}

const ZipMember* ZipContents::member(std::string_view key) const noexcept {
  return archive_ ? archive_->directory().find(key) : nullptr;
}

bool ZipContents::exists(const std::string& key) const noexcept {
  const auto changed = changes_.find(key);
  return changed != changes_.end() ? changed->second != nullptr : member(key) != nullptr;
}

Generation ZipContents::generation(std::string_view key) const {
  const auto changed = changes_.find(key);
  if (changed != changes_.end()) return changed->second != nullptr ? changed->second->generation : Generation();
  const ZipMember* const stored = member(key);
  return stored != nullptr ? archive_->generation(*stored) : Generation();
}

Result<void> ZipContents::check_now(const std::string& key, const Condition& condition) const {
  return check_condition(condition, exists(key), [&] { return generation(key); }).in_key(key);
}

Result<void> ZipContents::check(const std::string& key, const Condition& condition) const {
  const std::shared_lock guard(mutex_);
  return check_now(key, condition);
}

Result<std::shared_ptr<ByteSource>> ZipContents::find(const std::string& key) const {
  SHERD_TRY(check_key(key));
  std::shared_ptr<ZipArchive> archive;
  {
    const std::shared_lock guard(mutex_);
    if (const auto changed = changes_.find(key); changed != changes_.end()) {
      if (changed->second == nullptr) return std::shared_ptr<ByteSource>();
      return std::make_shared<ZipSpooledSource>(key, changed->second);
    }
    archive = archive_;
  }
  return archive ? open_zip_member(archive, key) : std::shared_ptr<ByteSource>();
}

std::optional<std::pair<std::string_view, std::uint64_t>> ZipContents::lower_bound(std::string_view from) const {
  auto changed = changes_.lower_bound(from);
  const auto members = archive_ ? archive_->directory().members() : std::span<const ZipMember>();
  for (std::size_t at = archive_ ? archive_->directory().lower_bound(from) : 0;;) {
    const bool has_member = at < members.size();
    if (!has_member && changed == changes_.end()) return std::nullopt;
    const std::string_view key = has_member ? archive_->directory().key(members[at]) : std::string_view();
    if (changed == changes_.end() || (has_member && key < changed->first)) return std::pair(key, members[at].size);
    if (has_member && key == changed->first) ++at;
    if (changed->second != nullptr) return std::pair(std::string_view(changed->first), changed->second->size);
    ++changed;
  }
}

std::vector<ZipContents::Listed> ZipContents::next_page(const std::string& prefix, ListDepth depth, std::string& from,
                                                        bool& ended) const {
  std::vector<Listed> page;
  const std::shared_lock guard(mutex_);
  for (;;) {
    const auto found = lower_bound(from);
    ended = !found || !found->first.starts_with(prefix);
    if (ended || page.size() == kListPage) return page;
    const auto [key, size] = *found;
    const std::size_t slash = depth == ListDepth::all ? key.npos : key.find('/', prefix.size());
    if (slash == key.npos) {
      page.push_back({.name = std::string(key.substr(prefix.size())), .size = size, .generation = generation(key)});
      from = std::string(key) + '\0';  // the next possible key
    } else {
      page.push_back({.name = std::string(key.substr(prefix.size(), slash - prefix.size())), .is_prefix = true});
      // '0' follows '/', so this is the first key after all keys with this prefix.
      from = std::string(key.substr(0, slash)) + "0";
    }
  }
}

Result<ZipContents::Hold> ZipContents::begin() {
  for (;;) {
    Hold hold{std::shared_lock(sessions_), session_};
    SHERD_TRY(outcome_);
    if (hold.session && hold.session->is_of_this_process()) return hold;
    hold.lock.unlock();
    const std::unique_lock exclusive(sessions_);
    leave_to_parent();
    if (!session_) SHERD_TRY(begin_session());
  }
}

/// A child of fork() is another process, and only the parent finishes what the parent has begun.
void ZipContents::leave_to_parent() {
  if (!session_ || session_->is_of_this_process()) return;
  session_->drop();
  session_.reset();
  const std::unique_lock guard(mutex_);
  changes_.clear();
}

bool ZipContents::is_current() const {
  const std::shared_lock sessions(sessions_);
  if (!outcome_) return false;
  if (session_) return session_->is_of_this_process();
  const auto present = outer_->open(key_);
  const std::shared_lock guard(mutex_);
  if (!present || (*present == nullptr) != (archive_ == nullptr)) return false;
  if (*present == nullptr) return true;
  const auto now = (*present)->generation(), shown = archive_->source()->generation();
  return now && shown && *now == *shown;
}

/// Another process may have changed the archive since it was opened. Now that it is locked, its present version counts.
Result<void> ZipContents::begin_session() {
  SHERD_TRY(session, ZipSession::begin(place_->tree, place_->key));
  SHERD_TRY(present, ZipArchive::open(*outer_, key_, limits_));
  if (present && present->end().shift != 0)
    return unsupported("there are " + std::to_string(present->end().shift) +
                       " bytes before the zip archive, such as a program, which a change would lose; copy the archive")
        .in_key(key_);
  if (const auto readable = present ? check_zip_members(*present) : Result<void>(); !readable)
    return in_store(unchangeable(readable.error()), url_below(outer_->url(), key_));
  const std::unique_lock guard(mutex_);
  archive_ = std::move(present);
  session_ = std::move(session);
  if (is_first_) session_->reserve_front(limit_plus(room_, first_bytes()));
  return {};
}

/// The room that the members of the old version need that are first, and some to grow: a group lists a new member.
std::uint64_t ZipContents::first_bytes() const {
  if (archive_ == nullptr) return 0;
  std::uint64_t bytes = ZipSession::kMinRoom / 2;
  for (const ZipMember& member : archive_->directory().members()) {
    const std::string_view key = archive_->directory().key(member);
    if (is_first_(key) && member.size <= limits_.metadata_bytes)
      bytes = limit_plus(bytes, zip_header_bytes(key, member.size) + member.size);
  }
  return bytes;
}

Result<void> ZipContents::accept(const std::string& key, std::shared_ptr<const ZipSpooled> member,
                                 const Condition& condition) {
  const std::unique_lock guard(mutex_);
  SHERD_TRY(check_now(key, condition));
  member.swap(changes_[key]);  // the previous one is freed after the mutex
  return {};
}

Result<Erased> ZipContents::erase(const std::string& key, const Condition& condition) {
  SHERD_TRY(check(key, condition));
  {
    const std::shared_lock guard(mutex_);
    if (!exists(key)) return Erased::nothing;
  }
  SHERD_TRY(hold, begin());
  const std::unique_lock guard(mutex_);
  SHERD_TRY(check_now(key, condition));
  if (!exists(key)) return Erased::nothing;
  if (member(key) != nullptr)
    changes_[key] = nullptr;
  else
    changes_.erase(key);
  return Erased::object;
}

Result<void> ZipContents::erase_prefix(const std::string& prefix) {
  std::string from = prefix;
  for (bool ended = false; !ended;) {
    for (const Listed& each : next_page(prefix, ListDepth::all, from, ended)) SHERD_TRY(erase(prefix + each.name, {}));
  }
  return {};
}

std::shared_ptr<ZipArchive> ZipContents::archive() const {
  const std::shared_lock guard(mutex_);
  return archive_;
}

std::string ZipContents::comment() const {
  const std::shared_lock guard(mutex_);
  if (comment_) return *comment_;
  if (archive_ == nullptr) return {};
  const std::string& comment = archive_->directory().comment();
  return !changes_.empty() && describes_order(comment) ? std::string() : comment;
}

void ZipContents::set_first(KeyTest is_first) {
  const std::unique_lock guard(mutex_);
  is_first_ = std::move(is_first);
}

void ZipContents::expect_first(std::uint64_t bytes, std::uint64_t count) {
  const std::unique_lock guard(mutex_);
  room_ = std::max(ZipSession::kMinRoom, limit_plus(bytes, count * zip_header_bytes("", 0)));
}

Result<void> ZipContents::set_comment(std::string comment) {
  if (comment.size() > 0xffff) return invalid_argument("the comment of a zip archive has at most 65535 bytes");
  if (comment.find("PK\5\6") != std::string::npos)
    return invalid_argument("the comment of a zip archive cannot contain an end record");
  SHERD_TRY(hold, begin());
  const std::unique_lock guard(mutex_);
  comment_ = std::move(comment);
  return {};
}

/// Documents are written after what they describe. They are small, and moved to the front now. What cannot be read
/// stays where it is.
Result<void> ZipContents::place_first(ZipSession& session) {
  std::uint64_t room = session.open_front();
  if (room == 0) return {};
  std::vector<Listed> first;
  std::string from;
  for (bool ended = false; !ended;)
    for (Listed& each : next_page("", ListDepth::all, from, ended))
      if (is_first_(each.name)) first.push_back(std::move(each));
  std::ranges::sort(first, {}, [](const Listed& each) { return zip_order(each.name); });
  std::erase_if(first, [&](const Listed& each) {
    const std::uint64_t bytes = zip_header_bytes(each.name, each.size) + each.size;
    const bool fits = bytes <= room;
    if (fits) room -= bytes;
    return !fits;
  });
  Buffer bytes;
  for (const Listed& each : first) {
    const auto source = find(each.name);
    if (!source || !read_into(**source, {0, each.size}, bytes)) continue;
    SHERD_TRY(moved, session.add(each.name, bytes.span(), &each == &first.back() ? room : 0).in_key(each.name));
    const std::unique_lock guard(mutex_);
    moved.swap(changes_[each.name]);
  }
  return {};
}

Result<void> ZipContents::finish() {
  const std::unique_lock exclusive(sessions_);
  leave_to_parent();
  SHERD_TRY(outcome_);
  if (!session_) return {};
  const bool is_changed = !changes_.empty() || comment_;
  Result<void> finished = is_changed ? place_first(*session_) : Result<void>();
  if (is_changed && finished)
    finished = finish_zip(*session_, archive_.get(), {changes_, comment(), is_first_, limits_.metadata_bytes});
  const bool is_conflict = !finished && finished.error().code() == ErrorCode::conflict;
  if (!finished && !is_conflict && !session_->writer().ended()) {  // the disk was full, say
    if (auto cut = session_->cut(); !cut) outcome_ = std::move(cut);
    return finished;
  }
  outcome_ = std::move(finished);
  std::exchange(session_, nullptr)->drop();
  // A retry would fail, too.
  if (is_conflict) std::move(outcome_.error()).lasting();
  SHERD_TRY(outcome_);
  if (!is_changed) return {};
  auto reopened = ZipArchive::open(*outer_, key_, limits_);
  if (!reopened) return outcome_ = std::move(reopened).error();
  const std::unique_lock guard(mutex_);
  archive_ = *std::move(reopened);
  changes_.clear();
  comment_.reset();
  is_first_ = {};
  room_ = ZipSession::kMinRoom;
  return {};
}

}  // namespace sherd
