// SPDX-License-Identifier: Apache-2.0
#include "certificates.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <stdexcept>

namespace holdfast::test {

namespace {

void check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  check(extension != nullptr, "extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::unique_ptr<X509, FreeCertificate> blank(EVP_PKEY* key, const std::string& name, long seconds) {
  static long serial = 0;
  std::unique_ptr<X509, FreeCertificate> certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  constexpr long a_day = 86400;
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -a_day);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

void sign(Identity& identity, X509* issuer, EVP_PKEY* with) {
  X509_set_issuer_name(identity.certificate.get(), X509_get_subject_name(issuer));
  check(X509_sign(identity.certificate.get(), with, EVP_sha256()) > 0, "sign");
}

void write_files(Identity& identity, const std::string& folder, const std::string& name) {
  identity.key_file = folder + "/" + name + ".key";
  identity.certificate_file = folder + "/" + name + ".crt";
  std::FILE* const key = std::fopen(identity.key_file.c_str(), "w");
  check(key && PEM_write_PrivateKey(key, identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr),
        "write key");
  std::fclose(key);
  std::FILE* const certificate = std::fopen(identity.certificate_file.c_str(), "w");
  check(certificate && PEM_write_X509(certificate, identity.certificate.get()),
        "write certificate");
  std::fclose(certificate);
}

}  // namespace

Identity make_authority(const std::string& folder, const std::string& name) {
  Identity authority;
  authority.key.reset(EVP_EC_gen("P-256"));
  check(authority.key != nullptr, "key");
  authority.certificate = blank(authority.key.get(), name, 3600);
  add_extension(authority.certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  sign(authority, authority.certificate.get(), authority.key.get());
  write_files(authority, folder, name);
  return authority;
}

Identity make_identity(const std::string& folder, const Identity& authority,
                       const Subject& subject) {
  Identity identity;
  identity.key.reset(EVP_EC_gen("P-256"));
  check(identity.key != nullptr, "key");
  identity.certificate = blank(identity.key.get(), subject.name, subject.valid_for_seconds);
  if (!subject.alternatives.empty()) {
    add_extension(identity.certificate.get(), NID_subject_alt_name, subject.alternatives);
  }
  sign(identity, authority.certificate.get(), authority.key.get());
  write_files(identity, folder, subject.name);
  return identity;
}

}  // namespace holdfast::test
