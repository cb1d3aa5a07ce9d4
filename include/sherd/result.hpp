// The result of a call: a value, or an Error with its kind, its cause and its location.
// Absence is std::optional. A Result reports a bad request, bad data, or a failure of the system. Bugs in Sherd itself
// are assertions.
// Nothing here throws except value(), which throws Exception, for callers who prefer exceptions.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "sherd/export.hpp"

namespace sherd {

/// The kinds of failure. Decide on retries by the code, never by the text.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  ///< the request itself is wrong
  corrupt,           ///< stored bytes contradict their format
  unsupported,       ///< valid, but not supported here, or beyond a limit
  not_found,         ///< the named object does not exist
  conflict,          ///< the object exists already, or another writer was first
  io,                ///< the operating system or a server failed
  unavailable,       ///< a resource ran out, or the call was interrupted
};

/// The code's name as used in JSON reports, such as "invalid_argument".
SHERD_API std::string_view to_string(ErrorCode code) noexcept;

/// One failure: its code, a message, and the location if known. One pointer wide; copyable.
class SHERD_API Error {
 public:
  Error(ErrorCode code, std::string message);
  Error(const Error& other);
  Error& operator=(const Error& other);
  Error(Error&&) noexcept;
  Error& operator=(Error&&) noexcept;
  ~Error();

  [[nodiscard]] ErrorCode code() const noexcept;
  /// The message without key, slot and member.
  [[nodiscard]] const std::string& message() const noexcept;
  /// The store key, or empty if unknown.
  [[nodiscard]] const std::string& key() const noexcept;
  /// The slot inside the shard, if known.
  [[nodiscard]] std::optional<std::uint64_t> slot() const noexcept;
  /// The member of a metadata document, such as "codecs[0].configuration.level", or empty.
  [[nodiscard]] const std::string& member() const noexcept;
  /// For a `conflict`: whether a retry would fail too, because no concurrent writer caused it.
  [[nodiscard]] bool is_lasting() const noexcept;
  /// Whether a server or the system does not allow the access. What is denied may not exist either.
  [[nodiscard]] bool is_denied() const noexcept;
  /// Everything in one line: `'vol/c/0/1' slot 7: gzip: truncated stream at byte 118`.
  [[nodiscard]] std::string text() const;

  /// Prefixes the message with `location` and a colon.
  Error&& in(std::string_view location) &&;
  /// Sets the key, slot or member. What an inner layer has set is kept (a member is a path: the outer part is put
  /// before the inner one).
  Error&& in_key(std::string_view key) &&;
  Error&& in_slot(std::uint64_t slot) &&;
  Error&& in_member(std::string_view member) &&;
  /// Marks a `conflict` that a retry would meet again.
  Error&& lasting() &&;
  /// Marks an access that is not allowed.
  Error&& denied() &&;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

inline Error invalid_argument(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }
inline Error corrupt(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }
inline Error unsupported(std::string message) { return {ErrorCode::unsupported, std::move(message)}; }
inline Error not_found(std::string message) { return {ErrorCode::not_found, std::move(message)}; }
inline Error conflict(std::string message) { return {ErrorCode::conflict, std::move(message)}; }
inline Error io_error(std::string message) { return {ErrorCode::io, std::move(message)}; }
inline Error unavailable(std::string message) { return {ErrorCode::unavailable, std::move(message)}; }

/// The exception that value() throws.
class SHERD_API Exception : public std::exception {
 public:
  explicit Exception(Error error);
  [[nodiscard]] const char* what() const noexcept override;
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
  std::string text_;
};

/// Throws Exception(error); out of line, so that value() stays small.
[[noreturn]] SHERD_API void throw_error(Error error);

template <class T>
class Result;

template <class T>
inline constexpr bool kIsResult = false;
template <class T>
inline constexpr bool kIsResult<Result<T>> = true;

/// A T or an Error: the subset of std::expected that Sherd uses. A Result<bool> does not convert to bool, because `done
/// || visit()` would treat an error as true and lose it: use has_value().
template <class T>
class [[nodiscard]] Result {
  using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

 public:
  using value_type = T;

  Result()
    requires std::is_void_v<T>
  = default;
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)
  template <class U = Stored>
    requires(!std::is_void_v<T> && std::is_constructible_v<Stored, U &&> &&  // and not from a Result or an Error
             !kIsResult<std::remove_cvref_t<U>> && !std::is_same_v<std::remove_cvref_t<U>, Error>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept
    requires(!std::is_same_v<T, bool>)
  {
    return has_value();
  }

  /// The value; throws Exception if there is an error.
  Stored& value() & { return check(), *std::get_if<0>(&state_); }
  const Stored& value() const& { return check(), *std::get_if<0>(&state_); }
  Stored&& value() && { return check(), std::move(*std::get_if<0>(&state_)); }

  /// The value; has_value() must hold.
  Stored& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const Stored& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  Stored&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  Stored* operator->() noexcept { return std::get_if<0>(&state_); }
  const Stored* operator->() const noexcept { return std::get_if<0>(&state_); }

  /// The error; has_value() must not hold.
  Error& error() & noexcept { return *std::get_if<1>(&state_); }
  const Error& error() const& noexcept { return *std::get_if<1>(&state_); }
  Error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  /// Adds a location to the error. `location` is called only on failure; its result must convert to std::string_view.
  template <class F>
  Result&& in(F&& location) && {
    if (!has_value()) std::move(error()).in(std::forward<F>(location)());
    return std::move(*this);
  }
  Result&& in_key(std::string_view key) && {
    if (!has_value()) std::move(error()).in_key(key);
    return std::move(*this);
  }
  Result&& in_slot(std::uint64_t slot) && {
    if (!has_value()) std::move(error()).in_slot(slot);
    return std::move(*this);
  }
  Result&& in_member(std::string_view member) && {
    if (!has_value()) std::move(error()).in_member(member);
    return std::move(*this);
  }

 private:
  void check() const {
    if (!has_value()) throw_error(*std::get_if<1>(&state_));
  }
  std::variant<Stored, Error> state_;
};

}  // namespace sherd
