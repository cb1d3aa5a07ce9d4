// The data of an Error: one allocation, made only on failure, with the message and the location. Locations are
// collected from the inside out: each layer adds what only it knows (key, slot, member), and text() assembles them in
// the order in which readers need them. If there is no memory for that, the error is `unavailable: out of memory`
// without a location, which needs none, so that a thread out of memory can still say so.
#include "sherd/result.hpp"

#include <new>

namespace sherd {

struct Error::Data {
  ErrorCode code;
  std::string message;
  std::string key = {};
  std::string member = {};
  std::optional<std::uint64_t> slot = {};
  bool is_lasting = false;
  bool is_denied = false;

  /// Without data, those of an error for which there is no memory. The message is short enough to need none.
  static const Data& of(const std::unique_ptr<Data>& data) noexcept {
    static const Data out_of_memory{ErrorCode::unavailable, "out of memory"};
    return data ? *data : out_of_memory;
  }
};

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::io:
      return "io";
    case ErrorCode::unavailable:
      return "unavailable";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string message) : data_(new(std::nothrow) Data{code, std::move(message)}) {}
Error::Error(const Error& other) {
  try {
    if (other.data_) data_.reset(new Data(*other.data_));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the copy is without data
  }
}
Error& Error::operator=(const Error& other) {
  if (this != &other) *this = Error(other);
  return *this;
}
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

ErrorCode Error::code() const noexcept { return Data::of(data_).code; }
const std::string& Error::message() const noexcept { return Data::of(data_).message; }
const std::string& Error::key() const noexcept { return Data::of(data_).key; }
std::optional<std::uint64_t> Error::slot() const noexcept { return Data::of(data_).slot; }
const std::string& Error::member() const noexcept { return Data::of(data_).member; }
bool Error::is_lasting() const noexcept { return Data::of(data_).is_lasting; }
bool Error::is_denied() const noexcept { return Data::of(data_).is_denied; }

std::string Error::text() const {
  std::string where;
  const auto add = [&where](const std::string& part) {
    if (!where.empty()) where += ' ';
    where += part;
  };
  if (!key().empty()) add("'" + key() + "'");
  if (slot()) add("slot " + std::to_string(*slot()));
  if (!member().empty()) add(member());
  return where.empty() ? message() : where + ": " + message();
}

Error&& Error::in(std::string_view where) && {
  if (data_ && !where.empty()) data_->message.insert(0, std::string(where) + ": ");
  return std::move(*this);
}

Error&& Error::in_key(std::string_view key) && {
  if (data_ && data_->key.empty()) data_->key = key;
  return std::move(*this);
}

Error&& Error::in_slot(std::uint64_t slot) && {
  if (data_ && !data_->slot) data_->slot = slot;
  return std::move(*this);
}

Error&& Error::in_member(std::string_view member) && {
  if (!data_ || member.empty()) return std::move(*this);
  std::string& inner = data_->member;
  const bool joined = inner.empty() || inner.front() == '[' || inner.front() == '.';
  inner.insert(0, std::string(member) + (joined ? "" : "."));
  return std::move(*this);
}

Error&& Error::lasting() && {
  if (data_) data_->is_lasting = true;
  return std::move(*this);
}
Error&& Error::denied() && {
  if (data_) data_->is_denied = true;
  return std::move(*this);
}

Exception::Exception(Error error) : error_(std::move(error)), text_(error_.text()) {}
const char* Exception::what() const noexcept { return text_.c_str(); }

void throw_error(Error error) { throw Exception(std::move(error)); }

}  // namespace sherd
