// Lists and errors of S3's protocol, which other object stores speak too: XML documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "remote/service.hpp"

namespace sherd::remote {

/// A reply to ListObjectsV2. `corrupt` for anything else.
[[nodiscard]] Result<ListPage> parse_list_objects(std::string_view document);

/// An error document. Members that it does not have are empty.
struct S3Error {
  std::string code, message, region, endpoint;
};
[[nodiscard]] S3Error parse_s3_error(std::string_view document);
/// Its code, what it says, and what a user can do about it.
[[nodiscard]] std::string describe(const S3Error& error);

}  // namespace sherd::remote
