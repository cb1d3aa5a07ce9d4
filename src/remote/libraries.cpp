#include "remote/libraries.hpp"

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace sherd::remote {
namespace {

constexpr const char* kCurl = "libcurl.so.4";
constexpr const char* kCrypto = "libcrypto.so.3";

template <class Functions>
struct Loaded {
  Functions functions;
  std::string fault;
};

/// Never unloaded: other threads may still be in the library when the process exits.
template <class Functions, class FindAll>
Loaded<Functions> load(const char* file, const FindAll& find_all) {
  Loaded<Functions> loaded;
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    loaded.fault = reason != nullptr ? reason : file;
    return loaded;
  }
  find_all(loaded.functions, [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) loaded.fault = std::string("it has no function ") + name;
  });
  return loaded;
}

Loaded<Curl> curl_once() {
  auto loaded = load<Curl>(kCurl, [](Curl& functions, const auto& find) {
#define SHERD_CURL_FIND(name) find(#name, functions.name);
    SHERD_CURL_FUNCTIONS(SHERD_CURL_FIND)
#undef SHERD_CURL_FIND
  });
  if (loaded.fault.empty() && loaded.functions.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    loaded.fault = "it cannot be initialized";
  return loaded;
}

Loaded<Crypto> crypto_once() {
  return load<Crypto>(kCrypto, [](Crypto& functions, const auto& find) {
#define SHERD_CRYPTO_FIND(name) find(#name, functions.name);
    SHERD_CRYPTO_FUNCTIONS(SHERD_CRYPTO_FIND)
#undef SHERD_CRYPTO_FIND
  });
}

}  // namespace

Result<const Curl*> load_curl() {
  static const Loaded<Curl> loaded = curl_once();
  if (loaded.fault.empty()) return &loaded.functions;
  return unsupported("URLs of servers need libcurl, which cannot be loaded (" + loaded.fault + "); install libcurl4");
}

Result<const Crypto*> load_crypto() {
  static const Loaded<Crypto> loaded = crypto_once();
  if (loaded.fault.empty()) return &loaded.functions;
  return unsupported("signed requests need OpenSSL's libcrypto, which cannot be loaded (" + loaded.fault +
                     "); install libssl3");
}

}  // namespace sherd::remote
