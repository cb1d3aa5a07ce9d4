// The libraries that remote stores use: libcurl sends requests, and OpenSSL's libcrypto, on which libcurl depends,
// signs them. They are loaded when the first remote store is used and not linked, because libcurl depends on some
// thirty other libraries, which would delay every start of the command.
#pragma once

#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "sherd/result.hpp"

namespace sherd::remote {

#define SHERD_CURL_FUNCTIONS(f)                                                                                    \
  f(curl_global_init) f(curl_easy_init) f(curl_easy_cleanup) f(curl_easy_reset) f(curl_easy_setopt)                \
      f(curl_easy_getinfo) f(curl_easy_strerror) f(curl_multi_init) f(curl_multi_cleanup) f(curl_multi_add_handle) \
          f(curl_multi_remove_handle) f(curl_multi_socket_action) f(curl_multi_info_read) f(curl_multi_setopt)     \
              f(curl_multi_strerror) f(curl_slist_append) f(curl_slist_free_all) f(curl_getdate) f(curl_url)       \
                  f(curl_url_cleanup) f(curl_url_get) f(curl_url_set) f(curl_free)

/// The functions of libcurl, under their own names.
struct Curl {
#define SHERD_CURL_MEMBER(name) decltype(&::name) name = nullptr;
  SHERD_CURL_FUNCTIONS(SHERD_CURL_MEMBER)
#undef SHERD_CURL_MEMBER
};
/// `unsupported` if libcurl cannot be loaded. Initializes it at the first call. Thread-safe.
[[nodiscard]] Result<const Curl*> load_curl();

#define SHERD_CRYPTO_FUNCTIONS(f) f(SHA256) f(HMAC) f(EVP_sha256) f(EVP_Digest) f(EVP_md5)

/// The functions of libcrypto, under their own names.
struct Crypto {
#define SHERD_CRYPTO_MEMBER(name) decltype(&::name) name = nullptr;
  SHERD_CRYPTO_FUNCTIONS(SHERD_CRYPTO_MEMBER)
#undef SHERD_CRYPTO_MEMBER
};
/// `unsupported` if libcrypto cannot be loaded. Thread-safe.
[[nodiscard]] Result<const Crypto*> load_crypto();

}  // namespace sherd::remote
