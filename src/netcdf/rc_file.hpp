// The files in which users of netCDF set options: .ncrc, .daprc and .dodsrc, in HOME and then in the current directory.
//
// A line is `KEY=VALUE` or `[URL]KEY=VALUE`, which applies to URLs with that host and port and below that path; `#`
// begins a comment. The later line wins, but one with a URL wins over one without. Only the keys of AWS (`AWS.…`) are
// kept. NCRCENV_RC names the only file, NCRCENV_HOME replaces HOME, and with NCRCENV_IGNORE there is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/aws_config.hpp"
#include "sherd/result.hpp"
#include "store/store_url.hpp"

namespace sherd::netcdf {

class RcFile {
 public:
  /// Adds the lines of a text.
  void add(std::string_view text);
  /// The value of a key, in any case, for a URL; nullopt if it is not set or empty.
  [[nodiscard]] std::optional<std::string> find(std::string_view key, const StoreUrl& url) const;

 private:
  struct Entry {
    std::string authority, path;  ///< empty: any URL
    std::string key, value;       ///< the key in lower case
  };
  std::vector<Entry> entries_;
};

/// Reads the files that exist. `unsupported` for one of more than 1 MiB.
[[nodiscard]] Result<RcFile> read_rc_files(const remote::Environment& environment);

}  // namespace sherd::netcdf
