// The data of an Error: one allocation, made only on failure, with the message and the location. Locations are
// collected from the inside out: each layer adds what only it knows (key, slot, member), and text() assembles them in
// the order in which readers need them.
#include "sherd/result.hpp"

namespace sherd {

struct Error::Data {
  ErrorCode code;
  std::string message;
  std::string key = {};
  std::string member = {};
  std::optional<std::uint64_t> slot = {};
  bool is_lasting = false;
  bool is_denied = false;
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

Error::Error(ErrorCode code, std::string message) : data_(new Data{code, std::move(message)}) {}
Error::Error(const Error& other) : data_(new Data(*other.data_)) {}
Error& Error::operator=(const Error& other) {
  if (this != &other) data_.reset(new Data(*other.data_));
  return *this;
}
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

ErrorCode Error::code() const noexcept { return data_->code; }
const std::string& Error::message() const noexcept { return data_->message; }
const std::string& Error::key() const noexcept { return data_->key; }
std::optional<std::uint64_t> Error::slot() const noexcept { return data_->slot; }
const std::string& Error::member() const noexcept { return data_->member; }
bool Error::is_lasting() const noexcept { return data_->is_lasting; }
bool Error::is_denied() const noexcept { return data_->is_denied; }

std::string Error::text() const {
  std::string where;
  const auto add = [&where](const std::string& part) {
    if (!where.empty()) where += ' ';
    where += part;
  };
  if (!data_->key.empty()) add("'" + data_->key + "'");
  if (data_->slot) add("slot " + std::to_string(*data_->slot));
  if (!data_->member.empty()) add(data_->member);
  return where.empty() ? data_->message : where + ": " + data_->message;
}

Error&& Error::in(std::string_view where) && {
  if (!where.empty()) data_->message.insert(0, std::string(where) + ": ");
  return std::move(*this);
}

Error&& Error::in_key(std::string_view key) && {
  if (data_->key.empty()) data_->key = key;
  return std::move(*this);
}

Error&& Error::in_slot(std::uint64_t slot) && {
  if (!data_->slot) data_->slot = slot;
  return std::move(*this);
}

Error&& Error::in_member(std::string_view member) && {
  if (member.empty()) return std::move(*this);
  std::string& inner = data_->member;
  const bool joined = inner.empty() || inner.front() == '[' || inner.front() == '.';
  inner.insert(0, std::string(member) + (joined ? "" : "."));
  return std::move(*this);
}

Error&& Error::lasting() && {
  data_->is_lasting = true;
  return std::move(*this);
}
Error&& Error::denied() && {
  data_->is_denied = true;
  return std::move(*this);
}

Exception::Exception(Error error) : error_(std::move(error)), text_(error_.text()) {}
const char* Exception::what() const noexcept { return text_.c_str(); }

void throw_error(Error error) { throw Exception(std::move(error)); }

}  // namespace sherd
