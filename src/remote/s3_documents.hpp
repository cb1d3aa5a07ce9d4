// The XML documents of requests that change objects. Lists of objects are in list_objects.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/result.hpp"

namespace sherd::remote {

/// The body that ends an upload: the ETag of each part, by its number.
[[nodiscard]] std::string complete_document(const std::map<unsigned, std::string>& etags);
/// The body that erases objects. Keys are as they are in the bucket.
[[nodiscard]] std::string delete_document(std::span<const std::string> keys);

/// The text of an element of a reply; empty if the reply does not have it, or is no XML. `element`: below the root.
[[nodiscard]] std::string text_in_reply(std::string_view document, const char* element);

/// What a reply to delete_document() says of an object that was not erased; nullopt if all were.
struct EraseFailure {
  std::string key, code, message;
};
[[nodiscard]] std::optional<EraseFailure> erase_failure(std::string_view document);

/// Uploads that have begun and not ended.
struct UploadPage {
  struct Upload {
    std::string key, id, initiated;
  };
  std::vector<Upload> uploads;
  std::string next_key, next_id;  ///< where the next page begins; empty: there is none
};
/// `corrupt` for anything else.
[[nodiscard]] Result<UploadPage> parse_uploads(std::string_view document);

}  // namespace sherd::remote
