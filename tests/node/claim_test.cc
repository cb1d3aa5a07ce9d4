// Claims to places of objects that are no node until they are complete: copies of objects, and builds.
#include "node/claim.hpp"

#include <gtest/gtest.h>

#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"

namespace sherd {
namespace claim_test {

class ClaimedObjects : public testing::Test {
 protected:
  using Existing = Claim::Existing;

  [[nodiscard]] Result<std::optional<Claim>> take(Existing existing, std::string note = {}) const {
    return Claim::take_for_objects(place_, std::move(note), existing);
  }
  [[nodiscard]] std::string note() const { return claim_of(place_).value()->note; }

  std::shared_ptr<Store> memory_ = memory_store();
  NodeLocation place_{.store = std::make_shared<LocklessStore>(memory_, false), .path = "a", .tables = {}};
};

TEST_F(ClaimedObjects, AreClaimedByOneProcess) {
  auto claim = take(Existing::is_conflict, "mine").value();
  ASSERT_TRUE(claim);
  EXPECT_FALSE(claim->continues_objects());
  const auto second = take(Existing::is_conflict);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::conflict);
  EXPECT_EQ(second.error().key(), "a/.sherd-new-00000000/claim");
  EXPECT_EQ(note(), "mine");
  claim->end().value();
  EXPECT_TRUE(take(Existing::is_conflict));
}

TEST_F(ClaimedObjects, KeepTheirNoteWhenTheirClaimIsTakenOver) {
  auto left = take(Existing::is_conflict, std::string(ClaimText::kAllObjects)).value();
  auto next = take(Existing::is_taken_over, "other").value();
  EXPECT_TRUE(next->continues_objects());
  EXPECT_EQ(note(), ClaimText::kAllObjects);
  const auto ended = left->confirm();
  ASSERT_FALSE(ended) << "the process that had it must notice";
  EXPECT_EQ(ended.error().code(), ErrorCode::conflict);
  next->end().value();
  EXPECT_FALSE(claim_of(place_).value());
}

TEST_F(ClaimedObjects, AreNotThoseOfANodeThatIsBeingMade) {
  memory_->set(claim_key(place_), R"({"path": "a", "format": "zarr3", "note": "copy"})").value();
  const auto taken = take(Existing::is_taken_over);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), ErrorCode::conflict);
  EXPECT_EQ(note(), "copy");
}

TEST_F(ClaimedObjects, NeedNoClaimWhereThereAreLocks) {
  place_.store = memory_;
  EXPECT_FALSE(take(Existing::is_conflict).value());
  EXPECT_FALSE(claim_of(place_).value());
}

}  // namespace claim_test
}  // namespace sherd
