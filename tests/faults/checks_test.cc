// What readers and writers of shards look at before they rely on it, and what would happen if they did not: a look that
// is left out misses what others do before it, as every look misses what they do right after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
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

constexpr const char* kShard = "c/0";

struct stat status_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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
  void SetUp() override { prepare(golden::find(GetParam()), "Several"); }

  [[nodiscard]] Seen both() const { return golden::after(foreign_, now()); }

  /// The shard as the other program stores it.
  [[nodiscard]] std::string foreign_bytes() const {
    const std::string folder = folder_ / "foreign";
    copy_tree(faults_.clean(), folder);
    Case of = *of_;
    of.update = sherd::Update::rewrite;
    golden::begin(of, foreign_, folder)();
    return bytes_of(folder + "/" + kShard);
  }

  void store(const std::string& bytes, Way way) const {
    const std::string path = faults_.folder() + "/" + kShard;
    const std::string to = way == Way::by_a_rename ? folder_ / "next" : path;
    std::ofstream(to, std::ios::binary) << bytes;
    if (way == Way::by_a_rename) fs::rename(to, path);
  }

  /// Whether the writer notices the change of the other program right before a call. `is_shown`: if that call looks at
  /// the name of the shard, it sees the change.
  bool notices_before(std::size_t at, Way way, bool is_shown = true) {
    copy_tree(faults_.clean(), faults_.folder());
    const auto act = golden::begin(*of_, *change_, faults_.folder());
    const std::string bytes = foreign_bytes();
    {
      const Simulation simulation;
      simulation.before(at, [&] {
        if (!is_shown) simulation.show({.named = {{"0", status_of(faults_.folder() + "/" + kShard)}}});
        store(bytes, way);
      });
      act();
    }
    return golden::see(*of_, faults_.folder()) == both();
  }

  /// How many calls of the writer look for the change of the other program.
  std::size_t looks(Way way) {
    std::size_t at = 0;
    while (at < calls_.size() && notices_before(at, way)) ++at;
    return at;
  }

  const Change foreign_{"Foreign", {{7, 3}}};
};

TEST_P(ForeignChange, IsNoticedUntilTheLastLookAtTheName) {
  const std::size_t last = looks(Way::by_a_rename) - 1;
  EXPECT_EQ(calls_.at(last).name, "fstatat");
  EXPECT_FALSE(notices_before(last, Way::by_a_rename, false));
  // What is overwritten in place may be in the version of the other program, too.
  if (of_->update == sherd::Update::in_place) return;
  const std::size_t last_in_file = looks(Way::in_the_file) - 1;
  EXPECT_EQ(calls_.at(last_in_file).name, of_->update == sherd::Update::rewrite ? "fstatat" : "fstat");
}

INSTANTIATE_TEST_SUITE_P(All, ForeignChange,
                         testing::Values("IndexAtEndRewritten", "IndexAtEndAppended", "IndexAtStartAppended",
                                         "IndexAtEndInPlace", "IndexAtStartInPlaceWithSlack"));

/// Another program gives the shard a second name, as a backup does that consists of links. It must keep the old
/// version.
class SecondName : public Checks {
 protected:
  /// After how many calls of the writer the second name is too late to be noticed. `sees_names`: looks at the file show
  /// how many names it has.
  std::size_t noticed_before(bool sees_names) {
    const std::string shard = faults_.folder() + "/" + kShard, second = folder_ / "second";
    const std::string old = bytes_of(faults_.clean() + "/" + kShard);
    for (std::size_t at = 0; at < calls_.size(); ++at) {
      copy_tree(faults_.clean(), faults_.folder());
      const auto act = golden::begin(*of_, *change_, faults_.folder());
      fs::remove(second);
      {
        const Simulation simulation;
        simulation.show({.one_name = !sees_names});
        simulation.before(at, [&] { fs::create_hard_link(shard, second); });
        act();
      }
      EXPECT_EQ(golden::see(*of_, faults_.folder()), now());
      if (bytes_of(second) != old) return at;
    }
    return calls_.size();
  }
};

TEST_P(SecondName, IsNoticedUntilTheLastLookAtTheFile) {
  prepare(golden::find(GetParam()), "Several");
  const auto writes = [](const Call& call) { return call.name.starts_with("pwrite"); };
  const auto first = std::ranges::find_if(calls_, writes);
  const auto look = std::ranges::find(std::reverse_iterator(first), calls_.rend(), "fstat", &Call::name);
  ASSERT_NE(look, calls_.rend());
  EXPECT_EQ(noticed_before(true), static_cast<std::size_t>(look.base() - calls_.begin()));
  EXPECT_EQ(noticed_before(false), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, SecondName,
                         testing::Values("IndexAtEndAppended", "IndexAtStartAppended", "IndexAtEndInPlace",
                                         "IndexAtStartInPlaceWithSlack"));

/// An index at the beginning that is written in part, with its copy at the end.
class TornIndex : public Checks {
 protected:
  /// Leaves one in `clean()`, in which all of the change is there, and returns the bytes of the whole index.
  std::string tear() {
    constexpr std::size_t kIndex = golden::kChunks * 16 + 4;
    std::optional<Tree> torn;
    const std::string whole = bytes_of(faults_.folder() + "/" + kShard).substr(0, kIndex);
    cut_power(faults_.record(), [&](const Tree& tree, std::size_t) {
      if (torn || tree.files.at(kShard)->starts_with(whole)) return;
      tree.store(folder_ / "left");
      if (golden::see(*of_, folder_ / "left") == now()) torn = tree;
    });
    torn.value().store(faults_.clean());
    old_ = now();
    return whole;
  }
};

TEST_P(TornIndex, IsNotAppendedToBecauseItsCopyMustStayAtTheEnd) {
  prepare(golden::find("IndexAtStartAppended"), "Added");
  const std::string whole = tear();
  Case next = golden::find(GetParam());
  const Change larger{"Next",
                      {{3, 2}, {4, 2}},
                      next.update == sherd::Update::in_place ? std::set<std::size_t>{3, 4} : std::set<std::size_t>{}};
  of_ = &next;
  change_ = &larger;
  for (const bool sees_index : {true, false}) {
    Judge judge(*of_, *change_, old_, folder_ / "left");
    const Recording recording = faults_.record([&](const Simulation& simulation) {
      if (!sees_index) simulation.show({.begins = {{status_of(faults_.folder() + "/" + kShard).st_ino, whole}}});
    });
    bool is_broken = false;
    cut_power(recording, [&](const Tree& tree, std::size_t at) {
      is_broken = is_broken || !judge.fault(tree, at == recording.effects.size()).empty();
    });
    EXPECT_EQ(is_broken, !sees_index);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TornIndex, testing::Values("IndexAtStartAppended", "IndexAtStartInPlaceWithSlack"));

/// Updates of one shard after the other.
class DeadBytes : public testing::TestWithParam<std::string> {
 protected:
  /// Whether an update leaves more than a share of the old bytes dead, apart from what it has replaced and appended.
  bool exceed(double share, double max_unused) {
    constexpr std::uint64_t kReplaced = 2048, kAppended = std::uint64_t{2} * 4096;
    Case of = golden::find(GetParam());
    of.max_unused = max_unused;
    const TempDir folder;
    golden::create(of, folder.path());
    Change change{"First", {}};
    for (std::size_t chunk = 0; chunk < 8; ++chunk) change.puts[chunk] = 2;
    golden::begin(of, change, folder.path())();
    std::uint64_t size = 0;
    for (std::size_t round = 0; round < 48; ++round) {
      const int value = round / 8 % 2 == 0 ? 3 : 4;
      golden::begin(of, {"Next", {{round % 8, value}}}, folder.path())();
      const sherd::CheckReport report = golden::check(of, folder.path());
      const std::uint64_t now = report.dead_bytes + report.live_bytes;
      const auto limit = static_cast<std::uint64_t>(share * static_cast<double>(size));
      if (round > 0 && report.dead_bytes > limit + (now > size ? kAppended : kReplaced)) return true;
      size = now;
    }
    return false;
  }
};

TEST_P(DeadBytes, AreLimitedByMaxUnusedAndByNothingElse) {
  EXPECT_FALSE(exceed(0.5, 0.5));
  EXPECT_TRUE(exceed(0.5, 1000));
}

INSTANTIATE_TEST_SUITE_P(All, DeadBytes,
                         testing::Values("IndexAtEndRewritten", "IndexAtEndAppended", "IndexAtStartAppended",
                                         "IndexAtEndInPlaceOrAppended", "IndexAtStartInPlaceWithSlack",
                                         "Draft2022Appended"));

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
