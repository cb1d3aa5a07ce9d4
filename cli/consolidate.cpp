// sherd consolidate: writes the metadata of all nodes of a hierarchy into the document of its top group.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"

namespace sherd::cli {

Run add_consolidate(Arguments& arguments) {
  auto url = std::make_shared<std::string>();
  arguments.argument("URL", *url, "The group");
  arguments.examples({{"sherd consolidate study.zarr",
                       "readers then need one document to open any node of study.zarr; edits by Sherd renew it"}});
  return [url](Session& session) -> Result<int> {
    SHERD_TRY(group, at(*url, open_group(*url, session.opening(session.guarded("consolidate"), true))));
    SHERD_TRY(at(*url, group.consolidate()));
    return 0;
  };
}

}  // namespace sherd::cli
