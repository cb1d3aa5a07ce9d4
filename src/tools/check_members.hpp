// Compares what groups record about their members (MemberNotes) with the nodes that are found: lists, and the
// references in members' metadata.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "array/format.hpp"
#include "tools/check.hpp"

namespace sherd {

class MemberLists {
 public:
  /// References must outlive it.
  MemberLists(const Tables& tables, const Format& format) : tables_(tables), format_(format) {}

  /// Records the list of a group, if it keeps one. Its members are found later.
  void begin(const std::string& path, const Json& group);
  /// A node that is stored at `path`; nullptr if its document is damaged, which is a separate fault.
  void met(const std::string& path, const NodeDocument* node);
  /// Adds the findings to the report, after all nodes.
  void end(CheckReport& report);

 private:
  struct List {
    explicit List(std::string key) : findings(std::move(key)) {}

    const MemberNotes* notes = nullptr;
    MemberNotes::Faults faults_of;
    std::map<std::string, NodeType> unmet;
    Findings findings;
  };

  const Tables& tables_;
  const Format& format_;
  std::map<std::string, std::unique_ptr<List>> lists_;  ///< by the paths of groups
  std::map<std::string, Json> groups_;                  ///< the metadata of these groups
  std::deque<Findings> faults_;                         ///< of members
};

}  // namespace sherd
