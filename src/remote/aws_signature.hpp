// Signature version 4 of AWS ("AWS Signature Version 4 for API requests"), for S3 and STS.
//
// The path is signed as it is in the URL: encoded once, nothing is normalized. The query is signed in the order of its
// encoded keys and values, and a key without a value as `key=`. All headers of the request are signed, except for those
// that a proxy or the transport may change; white space in their values is collapsed. What is signed must be sent
// unchanged (CURLOPT_PATH_AS_IS), to the host of the URL as it is written there. Headers that the transport adds itself
// are not signed and may be anything.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "remote/http.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// For what and when a request is signed.
struct SigningScope {
  std::string_view region;   ///< such as us-east-1
  std::string_view service;  ///< s3 or sts
  std::chrono::system_clock::time_point time;
};

/// In place of the hash of a body that is not signed; for S3 over TLS only.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
/// The hash of a request without a body.
inline constexpr std::string_view kEmptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// SHA-256 in hexadecimal digits of lower case. `unsupported` if libcrypto cannot be loaded.
[[nodiscard]] Result<std::string> sha256_hex(std::string_view bytes);

/// Adds x-amz-date, x-amz-security-token (if there is a session token), x-amz-content-sha256 (S3) and Authorization,
/// in place of earlier ones: a request that is sent again is signed again. `payload_hash` is sha256_hex() of the body,
/// or kUnsignedPayload. A service other than S3 encodes paths differently, except for `/`. `unsupported` if libcrypto
/// cannot be loaded.
[[nodiscard]] Result<void> sign(HttpRequest& request, const Credentials& credentials, const SigningScope& scope,
                                std::string_view payload_hash);

/// The key of an object as the path of a URL: every byte but letters, digits and `-._~/` becomes %XX.
[[nodiscard]] std::string encode_key(std::string_view key);
/// A key or a value of a query: every byte but letters, digits and `-._~` becomes %XX.
[[nodiscard]] std::string encode_query(std::string_view text);

}  // namespace sherd::remote
