// Parsed by pugixml, which reads no document type and expands no entity but those of XML itself.
#include "remote/list_objects.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "remote/aws_reply.hpp"
#include "remote/xml.hpp"

namespace sherd::remote {
namespace {

constexpr std::size_t kShownBytes = 200;

/// What to do about errors whose own text does not say it.
constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
    {"SignatureDoesNotMatch", "the secret key does not belong to the access key, or a proxy has changed the request"},
    {"InvalidAccessKeyId", "the endpoint does not know the access key: check both"},
    {"RequestTimeTooSkewed", "the clock of this machine is wrong"},
    {"ExpiredToken", "get new credentials"},
    {"InvalidToken", "get new credentials"},
    {"TokenRefreshRequired", "get new credentials"},
    {"AuthorizationHeaderMalformed", "the storage option region names the region of the bucket"},
    {"PermanentRedirect", "the storage options region and endpoint say where the bucket is"},
    {"IllegalLocationConstraintException", "the storage option region names the region of the bucket"},
    {"EntityTooLarge", "the storage option part_bytes makes the parts of objects smaller"},
    {"QuotaExceeded", "the bucket or its owner has no room left"},
    {"SlowDown",
     "the storage option parallel_requests has fewer requests under way, and attempts repeats them more often"},
};

}  // namespace

Result<ListPage> parse_list_objects(std::string_view document) {
  pugi::xml_document xml;
  const pugi::xml_parse_result parsed =
      xml.load_buffer(document.data(), document.size(), kParseXml, pugi::encoding_utf8);
  const pugi::xml_node root = xml.child("ListBucketResult");
  if (!parsed || !root) return corrupt("the server's list is not a list of objects");
  ListPage page;
  for (const pugi::xml_node& each : root.children("Contents")) {
    ListPage::Object object{.key = std::string(text_of(each, "Key"))};
    const auto size = parse_number<std::uint64_t>(text_of(each, "Size"));
    if (object.key.empty() || !size) return corrupt("the server's list has an object without key or size");
    object.size = *size;
    object.generation.token = text_of(each, "ETag");
    object.modified = parse_timestamp(text_of(each, "LastModified"));
    page.objects.push_back(std::move(object));
  }
  for (const pugi::xml_node& each : root.children("CommonPrefixes"))
    page.prefixes.emplace_back(text_of(each, "Prefix"));
  if (text_of(root, "IsTruncated") == "true") {
    page.next = text_of(root, "NextContinuationToken");
    if (page.next.empty()) return corrupt("the server's list goes on, and does not say where");
  }
  return page;
}

S3Error parse_s3_error(std::string_view document) {
  pugi::xml_document xml;
  if (!xml.load_buffer(document.data(), document.size(), kParseXml, pugi::encoding_utf8)) return {};
  const pugi::xml_node root = xml.child("Error");
  return {.code = std::string(text_of(root, "Code")),
          .message = std::string(text_of(root, "Message")),
          .region = std::string(text_of(root, "Region")),
          .endpoint = std::string(text_of(root, "Endpoint"))};
}

std::string describe(const S3Error& error) {
  std::string text = error.code + (error.message.empty() ? "" : ": " + error.message.substr(0, kShownBytes));
  const auto found = std::ranges::find(kAdvice, error.code, &std::pair<std::string_view, std::string_view>::first);
  return found != std::end(kAdvice) ? text + "; " + std::string(found->second) : text;
}

}  // namespace sherd::remote
