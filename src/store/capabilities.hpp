// What only some stores can do: interfaces that a store may also implement.
#pragma once

#include <optional>
#include <string>

#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd {

class ExchangingStore {
 public:
  virtual ~ExchangingStore() = default;
  /// False for wrappers of stores that cannot.
  [[nodiscard]] virtual bool can_exchange() const noexcept = 0;
  /// Exchanges everything below `from` with everything below `to` in one step: readers find one or the other at `to`.
  /// Both end in `/`; `to` may also be empty, which means the whole store without `from`: then the caller must hold the
  /// lock of the first segment of `from`. Other writers below either may begin meanwhile: each stores into the
  /// directory whose lock it holds, at whichever of the two it then is. Returns false, having changed nothing, if this
  /// is not possible here, or if either does not exist.
  virtual Result<bool> exchange(const std::string& from, const std::string& to) = 0;
};

/// Of stores that can say in advance what Store::move_at_once() would do.
class MovingStore {
 public:
  virtual ~MovingStore() = default;
  /// False if move_at_once() would return false even if nothing existed at `to`. `from` exists.
  [[nodiscard]] virtual Result<bool> may_move_at_once(const std::string& from, const std::string& to) = 0;
};

/// Of stores whose parent() may be none on request.
class StandaloneStore {
 public:
  virtual ~StandaloneStore() = default;
  /// What parent() would be without the request; nullopt if there was none.
  [[nodiscard]] virtual Result<std::optional<ParentStore>> hidden_parent() const = 0;
};

/// Of stores whose objects may have two names (ObjectWriter::link()).
class LinkingStore {
 public:
  virtual ~LinkingStore() = default;
  /// Whether a writer has stored a version under the name `first`, but not yet under `second`: it is about to, or was
  /// killed, and the next writer does it.
  virtual Result<bool> is_link_pending(const std::string& first, const std::string& second) = 0;
};

}  // namespace sherd
