// SPDX-License-Identifier: Apache-2.0
//
// Certificates of a test's own, made on the spot.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace holdfast::test {

struct FreeKey {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
};

// A key with its certificate, and the files they are in.
struct Identity {
  std::unique_ptr<EVP_PKEY, FreeKey> key;
  std::unique_ptr<X509, FreeCertificate> certificate;
  std::string key_file;
  std::string certificate_file;
};

// An authority that signs itself. Files are written into `folder`.
Identity make_authority(const std::string& folder, const std::string& name);

struct Subject {
  std::string name;               // of the files, and in the certificate
  std::string alternatives;       // "DNS:redis.example,IP:127.0.0.1"
  long valid_for_seconds = 3600;  // negative: it has expired
};
Identity make_identity(const std::string& folder, const Identity& authority,
                       const Subject& subject);

}  // namespace holdfast::test
