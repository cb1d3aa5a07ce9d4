// The store of a bucket that is written to. Objects are replaced as a whole, at once. There are no locks between
// processes: changes of parts are made on the condition that the object is still the version that was read.
#pragma once

#include <memory>

#include "remote/bucket_objects.hpp"
#include "sherd/store.hpp"

namespace sherd::remote {

/// `config`: how long threads of this process wait for each other.
[[nodiscard]] std::shared_ptr<Store> bucket_store(const BucketServer& server, const Config& config);

}  // namespace sherd::remote
