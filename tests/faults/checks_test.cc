// What readers and writers of shards look at before they rely on it, and what would happen if they did not: a look that
// is left out misses what others do before it, as every look misses what they do right after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "tests/faults/disk.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/golden.hpp"
#include "tests/faults/judge.hpp"

namespace faults {
namespace checks_test {

using golden::Case;
using golden::Change;
using golden::Seen;

/// A change of a case, after those before it.
class Checks : public testing::TestWithParam<std::string> {
 protected:
  void prepare(const Case& of, const std::string& change) {
    of_ = &of;
    golden::create(of, faults_.clean());
    for (const Change& each : of.changes) {
      change_ = &each;
      if (each.name == change) break;
      golden::begin(of, each, faults_.clean())();
      old_ = golden::after(each, old_);
    }
    ASSERT_EQ(faults_.run(), std::nullopt);
    calls_ = faults_.calls();
  }

  [[nodiscard]] Seen now() const { return golden::after(*change_, old_); }

  Faults faults_{[this](const std::string& folder) { return golden::begin(*of_, *change_, folder); }};
  TempDir folder_;
  const Case* of_ = nullptr;
  const Change* change_ = nullptr;
  Seen old_{};
  std::vector<Call> calls_;
};

TEST_F(Checks, OfTheFileSystemKeepAppendsFromBeingTorn) {
  prepare(golden::find("IndexAtEndAppended"), "Several");
  for (const bool tears : {false, true}) {
    Judge judge(*of_, *change_, old_, folder_ / "left");
    bool is_broken = false;
    Recording recording = faults_.record();
    recording.disk.set({.tears_direct_writes = tears});
    cut_power(recording, [&](const Tree& tree, std::size_t at) {
      is_broken = is_broken || !judge.fault(tree, at == recording.effects.size()).empty();
    });
    EXPECT_EQ(is_broken, tears);
  }
}

TEST_F(Checks, OfTheChecksumKeepReadersFromAPartOfAnIndex) {
  prepare(golden::find("IndexAtStartAppended"), "Added");
  constexpr std::size_t kIndex = golden::kChunks * 16;
  std::size_t torn = 0, wrong = 0;
  cut_power(faults_.record(), [&](Tree tree, std::size_t) {
    std::string bytes = *tree.files.at("c/0");
    const std::uint32_t sum = sherd::crc32c(std::as_bytes(std::span(bytes)).first(kIndex));
    if (sherd::load_little<std::uint32_t>(reinterpret_cast<const std::byte*>(&bytes[kIndex])) == sum) return;
    ++torn;
    sherd::store_little(reinterpret_cast<std::byte*>(&bytes[kIndex]), sum);  // as if it were not compared
    tree.files["c/0"] = std::make_shared<const std::string>(bytes);
    tree.store(folder_ / "left");
    const Seen seen = golden::see(*of_, folder_ / "left");
    if (seen != old_ && seen != now()) ++wrong;
  });
  EXPECT_GT(torn, 0U);
  EXPECT_GT(wrong, 0U);
}

/// Another program, which takes no locks, stores another version of the shard.
enum class Way : std::uint8_t { by_a_rename, in_the_file };

class ForeignChange : public Checks {
 protected:
  static constexpr const char* kShard = "c/0";

  void SetUp() override { prepare(golden::find(GetParam()), "Several"); }

  [[nodiscard]] Seen both() const { return golden::after(foreign_, now()); }

  /// The shard as the other program stores it.
  [[nodiscard]] std::string foreign_bytes() const {
    const std::string folder = folder_ / "foreign";
    copy_tree(faults_.clean(), folder);
    Case of = *of_;
    of.update = sherd::Update::rewrite;
    golden::begin(of, foreign_, folder)();
    std::ifstream file(folder + "/" + kShard, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void store(const std::string& bytes, Way way) const {
    const std::string path = faults_.folder() + "/" + kShard;
    const std::string to = way == Way::by_a_rename ? folder_ / "next" : path;
    std::ofstream(to, std::ios::binary) << bytes;
    if (way == Way::by_a_rename) fs::rename(to, path);
  }

  /// The last call of the writer that notices the change of the other program.
  std::string last_look(Way way) {
    const std::string bytes = foreign_bytes();
    for (std::size_t at = 0; at < calls_.size(); ++at) {
      copy_tree(faults_.clean(), faults_.folder());
      const auto act = golden::begin(*of_, *change_, faults_.folder());
      {
        const Simulation simulation;
        simulation.before(at, [&] { store(bytes, way); });
        act();
      }
      if (golden::see(*of_, faults_.folder()) != both()) return at > 0 ? calls_[at - 1].name : "none";
    }
    return "the last one";
  }

  const Change foreign_{"Foreign", {{7, 3}}};
};

TEST_P(ForeignChange, IsNoticedUntilTheLastLookAtTheName) {
  EXPECT_EQ(last_look(Way::by_a_rename), "fstatat");
  // What is overwritten in place may be in the version of the other program, too.
  if (of_->update == sherd::Update::in_place) return;
  EXPECT_EQ(last_look(Way::in_the_file), of_->update == sherd::Update::rewrite ? "fstatat" : "fstat");
}

INSTANTIATE_TEST_SUITE_P(All, ForeignChange,
                         testing::Values("IndexAtEndRewritten", "IndexAtEndAppended", "IndexAtStartAppended",
                                         "IndexAtEndInPlace", "IndexAtStartInPlaceWithSlack"));

/// A reader, while the shard changes before one of its calls.
class Reader : public Checks {};

TEST_P(Reader, FindsOldOrNewWhateverTheMoment) {
  prepare(golden::find(GetParam()), "Several");
  std::size_t count = 1;
  for (std::size_t at = 0; at < count; ++at) {
    SCOPED_TRACE(at);
    copy_tree(faults_.clean(), faults_.folder());
    const auto act = golden::begin(*of_, *change_, faults_.folder());
    Seen seen{};
    {
      const Simulation simulation;
      simulation.before(at, act);
      seen = golden::see(*of_, faults_.folder());
      count = simulation.calls().size();
    }
    for (std::size_t chunk = 0; chunk < seen.size(); ++chunk)
      EXPECT_TRUE(seen[chunk] == old_[chunk] || seen[chunk] == now()[chunk]) << chunk << ": " << seen[chunk];
    if (of_->kind != golden::Kind::ids) {
      EXPECT_TRUE(seen == old_ || seen == now()) << text_of(seen);  // which are read by one call
    }
  }
  EXPECT_GT(count, 10U);
}

INSTANTIATE_TEST_SUITE_P(All, Reader,
                         testing::Values("IndexAtEndRewritten", "IndexAtEndAppended", "IndexAtStartAppended",
                                         "IndexAtEndInPlace", "IndexAtStartInPlaceWithSlack", "Draft2022Appended",
                                         "IdsAppended"));

}  // namespace checks_test
}  // namespace faults
