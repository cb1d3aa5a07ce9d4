// What the tests of file formats share: the pattern that tests/data/files/make_files.py wrote, reading a whole file,
// damaging one, and a folder that goes away.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "io/files.hpp"
#include "tests/test_data.hpp"

namespace sherd::files_testing {

inline std::string data(const std::string& name) { return test_data("files/" + name); }

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sherd-files-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::filesystem::path path_;
};

inline std::string load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void save(const std::string& path, std::string_view bytes) {
  // A new file each time: some file systems flush one that is truncated and written again.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline Result<std::unique_ptr<ArrayFileReader>> open_file(const std::string& path, const ImportOptions& options = {}) {
  auto format = find_file_format(options.from, path);
  if (!format) return std::move(format).error();
  return (*format)->open(path, options);
}

/// All elements in file order, read in parts of `part` elements.
inline Result<std::vector<std::byte>> read_all(ArrayFileReader& reader, std::uint64_t part = ~std::uint64_t{0}) {
  const FileArray& array = reader.array();
  const std::uint64_t count = element_count(array.shape).value();
  std::vector<std::byte> bytes(count * array.dtype.size());
  for (std::uint64_t first = 0; first < count; first += std::min(part, count - first)) {
    const std::uint64_t some = std::min(part, count - first);
    auto got = reader.read(first, std::span(bytes).subspan(first * array.dtype.size(), some * array.dtype.size()));
    if (!got) return std::move(got).error();
  }
  if (auto ended = reader.finish(); !ended) return std::move(ended).error();
  return bytes;
}

/// Element i of the pattern.
inline std::uint64_t pattern(std::uint64_t i) { return (i * 37 + 11) % 251; }

template <class T>
std::vector<T> pattern_of(std::uint64_t count, T factor = T(1)) {
  std::vector<T> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<T>(pattern(i)) * factor);
  return values;
}

template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The file holds the pattern, whether it is read at once, in odd parts or element by element, and again from the
/// start.
template <class T>
void expect_pattern(ArrayFileReader& reader, T factor = T(1)) {
  const auto expected = pattern_of<T>(element_count(reader.array().shape).value(), factor);
  for (const std::uint64_t part : {~std::uint64_t{0}, std::uint64_t{11}, std::uint64_t{1}}) {
    auto bytes = read_all(reader, part);
    ASSERT_TRUE(bytes) << bytes.error().text();
    EXPECT_EQ(values_of<T>(*bytes), expected) << "in parts of " << part;
  }
}

inline ::testing::AssertionResult fails(const Error& error, ErrorCode code, std::string_view part) {
  if (error.code() == code && error.text().find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << to_string(error.code()) << ": " << error.text();
}
template <class T>
::testing::AssertionResult fails(const Result<T>& result, ErrorCode code, std::string_view part) {
  if (result) return ::testing::AssertionFailure() << "it succeeded";
  return fails(result.error(), code, part);
}

/// Opening or reading the file fails; the error names it.
inline ::testing::AssertionResult refuses(const std::string& path, ErrorCode code, std::string_view part,
                                          const ImportOptions& options = {}) {
  auto reader = open_file(path, options);
  Error error = reader ? invalid_argument("") : reader.error();
  if (reader) {
    auto bytes = read_all(**reader);
    if (bytes) return ::testing::AssertionFailure() << "it was read";
    error = bytes.error();
  }
  if (error.text().find(path) == std::string::npos)
    return ::testing::AssertionFailure() << "no path in: " << error.text();
  return fails(error, code, part);
}

/// Every cut of the file is refused, or read as the whole file is; nothing else.
inline void expect_cuts_refused(const std::string& name) {
  const Folder folder;
  const std::string whole = load(data(name));
  auto reader = open_file(data(name)).value();
  const auto expected = read_all(*reader).value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string path = folder / std::filesystem::path(name).filename().string();
    save(path, std::string_view(whole).substr(0, size));
    auto cut = open_file(path);
    if (!cut) continue;
    auto bytes = read_all(**cut);
    if (!bytes) continue;
    EXPECT_TRUE(*bytes == expected) << name << " cut to " << size;
  }
}

/// Every single byte of the first 700 set to each of two values gives a value or an error; a sanitizer watches.
inline void expect_damage_survived(const std::string& name) {
  const Folder folder;
  const std::string whole = load(data(name));
  const std::string path = folder / std::filesystem::path(name).filename().string();
  ImportOptions options;
  options.create.config.limits.chunk_bytes = 1 << 20;
  for (std::size_t i = 0; i < std::min<std::size_t>(whole.size(), 700); ++i)
    for (const char value : {'\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = value;
      save(path, damaged);
      auto reader = open_file(path, options);
      if (!reader) continue;
      const auto bytes = array_bytes((*reader)->array().shape, (*reader)->array().dtype);
      ASSERT_TRUE(bytes);
      if (*bytes < (1 << 20)) (void)read_all(**reader);
    }
}

}  // namespace sherd::files_testing
