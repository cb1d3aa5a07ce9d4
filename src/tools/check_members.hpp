// What groups say of their members (MemberNotes), compared with the nodes as they are met: lists, and what the metadata
// of members refer to.
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

  /// Notes the list of a group, if it keeps one. Its members are met later.
  void begin(const std::string& path, const Json& group);
  /// A node that is stored at `path`; nullptr for one whose document is damaged, which is a fault of its own.
  void met(const std::string& path, const NodeDocument* node);
  /// Adds what is found to the report, after all nodes.
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
