// Compares what NCZarr's groups record about their members with the nodes that are found: lists, and the references in
// members' metadata.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "check/findings.hpp"
#include "netcdf/member_notes.hpp"
#include "node/format.hpp"
#include "node/node_location.hpp"

namespace sherd {

class MemberLists {
 public:
  /// The format must outlive it.
  explicit MemberLists(const Format& format) : format_(format) {}

  /// Records the list of a group, if it keeps one. Its members are found later.
  void begin(const std::string& path, const Json& group);
  /// A node that is stored at `path`; nullptr if its document is damaged, which is a separate fault.
  void met(const std::string& path, const NodeDocument* node);
  /// The members of a group are not known: none is missing.
  void forget(const std::string& path);
  /// Adds the findings to the report, after all nodes.
  void end(CheckReport& report);

 private:
  struct List {
    explicit List(std::string key) : findings(std::move(key)) {}

    netcdf::DimensionsByName dimensions;  ///< that members can have
    std::map<std::string, NodeType> unmet;
    Findings findings;
  };

  const Format& format_;
  std::map<std::string, std::unique_ptr<List>> lists_;  ///< by the paths of groups
  std::map<std::string, Json> groups_;                  ///< the metadata of these groups
  std::set<std::string> left_out_;                      ///< paths of nodes that the lists around them leave out
  std::deque<Findings> faults_;                         ///< of members
};

}  // namespace sherd
