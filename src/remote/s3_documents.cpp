#include "remote/s3_documents.hpp"

#include <sstream>

#include "remote/xml.hpp"

namespace sherd::remote {
namespace {

std::string printed(const pugi::xml_document& xml) {
  std::ostringstream out;
  xml.save(out, "", pugi::format_raw, pugi::encoding_utf8);
  return out.str();
}

void add(pugi::xml_node& to, const char* name, const std::string& text) {
  to.append_child(name).text().set(text.c_str());
}

}  // namespace

std::string complete_document(const std::map<unsigned, std::string>& etags) {
  pugi::xml_document xml;
  pugi::xml_node root = xml.append_child("CompleteMultipartUpload");
  root.append_attribute("xmlns") = "http://s3.amazonaws.com/doc/2006-03-01/";
  for (const auto& [number, etag] : etags) {
    pugi::xml_node part = root.append_child("Part");
    add(part, "PartNumber", std::to_string(number));
    add(part, "ETag", etag);
  }
  return printed(xml);
}

std::string delete_document(std::span<const std::string> keys) {
  pugi::xml_document xml;
  pugi::xml_node root = xml.append_child("Delete");
  root.append_attribute("xmlns") = "http://s3.amazonaws.com/doc/2006-03-01/";
  for (const std::string& key : keys) {
    pugi::xml_node object = root.append_child("Object");
    add(object, "Key", key);
  }
  add(root, "Quiet", "true");
  return printed(xml);
}

std::string text_in_reply(std::string_view document, const char* element) {
  pugi::xml_document xml;
  if (!xml.load_buffer(document.data(), document.size(), kParseXml, pugi::encoding_utf8)) return {};
  return std::string(text_of(xml.document_element(), element));
}

std::optional<EraseFailure> erase_failure(std::string_view document) {
  pugi::xml_document xml;
  if (!xml.load_buffer(document.data(), document.size(), kParseXml, pugi::encoding_utf8)) return std::nullopt;
  for (const pugi::xml_node& each : xml.child("DeleteResult").children("Error")) {
    if (text_of(each, "Code") == "NoSuchKey") continue;
    return EraseFailure{std::string(text_of(each, "Key")), std::string(text_of(each, "Code")),
                        std::string(text_of(each, "Message"))};
  }
  return std::nullopt;
}

Result<UploadPage> parse_uploads(std::string_view document) {
  pugi::xml_document xml;
  const bool is_parsed = bool(xml.load_buffer(document.data(), document.size(), kParseXml, pugi::encoding_utf8));
  const pugi::xml_node root = xml.child("ListMultipartUploadsResult");
  if (!is_parsed || !root) return corrupt("the server's list is not a list of uploads");
  UploadPage page;
  for (const pugi::xml_node& each : root.children("Upload"))
    page.uploads.push_back({std::string(text_of(each, "Key")), std::string(text_of(each, "UploadId")),
                            std::string(text_of(each, "Initiated"))});
  if (text_of(root, "IsTruncated") == "true") {
    page.next_key = text_of(root, "NextKeyMarker");
    page.next_id = text_of(root, "NextUploadIdMarker");
    if (page.next_key.empty()) return corrupt("the server's list goes on, and does not say where");
  }
  return page;
}

}  // namespace sherd::remote
