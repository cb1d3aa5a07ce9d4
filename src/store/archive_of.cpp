#include "store/archive_of.hpp"

#include "store/forwarding.hpp"

namespace sherd {

ArchiveStore* archive_of(Store& store) {
  if (auto* const archive = dynamic_cast<ArchiveStore*>(&store)) return archive;
  const auto* const wrapper = dynamic_cast<const ForwardingStore*>(&store);
  const bool shows_all = wrapper != nullptr && wrapper->url() == wrapper->beneath().url();
  return shows_all ? archive_of(wrapper->beneath()) : nullptr;
}

bool is_in_archive(Store& store) {
  const auto* const wrapper = dynamic_cast<const ForwardingStore*>(&store);
  return wrapper != nullptr ? is_in_archive(wrapper->beneath()) : archive_of(store) != nullptr;
}

}  // namespace sherd
