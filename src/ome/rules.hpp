// Shared by the rules of images and plates: the list of violations.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ome/members.hpp"
#include "ome/ome.hpp"

namespace sherd {

/// Collects violations in the members of one group.
class OmeFindings {
 public:
  OmeFindings(std::string prefix, bool is_old) : prefix_(std::move(prefix)), is_old_(is_old) {}

  void error(const std::string& member, std::string message) {
    found_.push_back({true, prefix_ + member, std::move(message)});
  }
  void warning(const std::string& member, std::string message) {
    found_.push_back({false, prefix_ + member, std::move(message)});
  }
  [[nodiscard]] bool is_old() const noexcept { return is_old_; }
  [[nodiscard]] std::vector<OmeFinding> take() { return std::move(found_); }

 private:
  std::string prefix_;
  bool is_old_;
  std::vector<OmeFinding> found_;
};

void check_plate(const Json& plate, OmeFindings& to);
void check_well(const Json& well, OmeFindings& to);

}  // namespace sherd
