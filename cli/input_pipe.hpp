// Input that can only be read sequentially.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/files.hpp"
#include "sherd/options.hpp"

namespace sherd::cli {

/// Reads standard input, a named pipe or the like as a file, and allows peeking at the first bytes.
class InputPipe final : public FileBytes {
 public:
  static std::unique_ptr<InputPipe> standard_input(const Config& config);
  /// Blocks until another process writes into it.
  static Result<std::unique_ptr<InputPipe>> open(const std::string& path, const Config& config);
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;
  ~InputPipe() override;
  [[nodiscard]] bool random_access() const noexcept override { return false; }
  [[nodiscard]] std::uint64_t size_bound() const noexcept override { return ~std::uint64_t{0}; }
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> into) override;
  Result<void> check_end() override;
  /// The next bytes without consuming them; fewer than `count` only at the end.
  Result<std::string_view> peek(std::size_t count);
  /// Reads up to the end.
  Result<std::size_t> read_some(std::span<std::byte> into);
  /// Waits for `unit` bytes, and reads as many more units as are there already. Fewer than `unit` only at the end.
  Result<std::size_t> read_units(std::span<std::byte> into, std::size_t unit);

 private:
  InputPipe(int descriptor, const Config& config) : descriptor_(descriptor), interrupted_(config.interrupted) {}
  Result<std::size_t> take(std::span<std::byte> into);

  int descriptor_;
  std::function<bool()> interrupted_;
  std::string ahead_;
};

}  // namespace sherd::cli
