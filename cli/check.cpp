// sherd check: prints every fault of a hierarchy, and every repair, in a table; the exit code is 1 if faults remain.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {
namespace {

std::string number_text(const std::optional<std::uint64_t>& number) { return number ? std::to_string(*number) : "-"; }

std::string fault_table(const std::vector<Fault>& faults) {
  std::vector<std::vector<std::string>> rows{{"SEVERITY", "CODE", "KEY", "SLOT", "OFFSET", "MESSAGE"}};
  for (const Fault& fault : faults)
    rows.push_back({fault.severity == Fault::Severity::error ? "error" : "warning", printable(fault.code),
                    printable(fault.key), number_text(fault.slot), number_text(fault.offset),
                    printable(fault.message)});
  return print_table(rows);
}

std::string repair_table(const std::vector<Repair>& repaired) {
  std::vector<std::vector<std::string>> rows{{"REPAIRED", "KEY", "BACKUP", "MESSAGE"}};
  for (const Repair& repair : repaired)
    rows.push_back({printable(repair.action), printable(repair.key),
                    repair.backup.empty() ? "-" : printable(repair.backup), printable(repair.message)});
  return print_table(rows);
}

std::string summary_line(const CheckReport& report) {
  std::size_t errors = 0;
  for (const Fault& fault : report.faults) errors += fault.severity == Fault::Severity::error ? 1 : 0;
  const std::size_t warnings = report.faults.size() - errors;
  std::string text = errors == 0 ? "ok" : print_count(errors, "fault");
  if (warnings != 0) text += ", " + print_count(warnings, "warning");
  if (!report.repaired.empty()) text += ", " + print_count(report.repaired.size(), "repair");
  text += ": " + print_count(report.documents, "document") + ", " + print_count(report.shards, "shard") + ", " +
          print_count(report.chunks, "chunk") + "; " + print_bytes(report.live_bytes) + " live";
  if (report.slack_bytes != 0) text += ", " + print_bytes(report.slack_bytes) + " slack";
  if (report.dead_bytes != 0) text += ", " + print_bytes(report.dead_bytes) + " dead";
  return text + "\n";
}

struct Check {
  std::string url, sharding;
  bool data = false, repair = false, drop_broken = false, no_backup = false;

  Result<int> run(Session& session) const {
    if (!repair && (drop_broken || no_backup))
      return invalid_argument(std::string(drop_broken ? "--drop-broken" : "--no-backup") +
                              " can only be used with --repair");
    CheckOptions options{.format = session.format(), .data = data, .config = session.watched("check")};
    if (repair) options.repair = RepairOptions{.drop_broken = drop_broken, .backup = !no_backup};
    // Objects are listed while others are checked, so the total so far would say little.
    if (const auto show = options.config.progress)
      options.config.progress = [show](const Progress& progress) { show({progress.done, 0}); };
    if (!sharding.empty()) {
      SHERD_TRY(parameters, in_option(parse_json_argument(sharding), "--sharding"));
      options.sharding = std::move(parameters);
    }
    SHERD_TRY(report, at(url, check(url, options)));
    if (repair) SHERD_TRY(session.finish());
    if (session.json()) {
      SHERD_TRY(session.out().print(report.to_json()));
    } else {
      session.end_progress(true);
      if (!report.repaired.empty()) SHERD_TRY(session.out().write(repair_table(report.repaired) + "\n"));
      if (!report.faults.empty()) SHERD_TRY(session.out().write(fault_table(report.faults)));
      SHERD_TRY(session.out().write(summary_line(report)));
    }
    return report.ok() ? 0 : 1;
  }
};

}  // namespace

Run add_check(Arguments& arguments) {
  auto check = std::make_shared<Check>();
  arguments.argument("URL", check->url, "An array or a group, including everything below it");
  arguments.flag("--data", check->data, "Decode every chunk too");
  arguments.text("--sharding", "JSON|@FILE", check->sharding,
                 "URL has shards of values by id; their parameters, needed if no info document describes them");
  arguments.flag("--repair", check->repair,
                 "Repair torn indexes and missing second names, and remove what killed writers have left");
  arguments.flag("--drop-broken", check->drop_broken,
                 "Also empty slots, and erase objects, that cannot be read: they read as the fill value then");
  arguments.flag("--no-backup", check->no_backup, "Do not keep changed objects as KEY.sherd-backup");
  arguments.examples({{"sherd check study.zarr", "metadata documents, keys and shard indices"},
                      {"sherd check study.zarr --data && echo sound", "every chunk as well"},
                      {"sherd check study.zarr --repair", "restore indexes; keeps the old objects beside the new ones"},
                      {"sherd check ids --sharding @sharding.json", "what `sherd kv build ids` has built"}});
  return [check](Session& session) { return check->run(session); };
}

}  // namespace sherd::cli
